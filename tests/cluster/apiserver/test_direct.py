import asyncio
from collections.abc import Callable, Iterable

import pytest

from gpuyard.writes import JSON, PatchType, Write
from gpuyard_cluster.apiserver.direct import DirectApi, Feed, feed
from gpuyard_cluster.clock import Steps
from gpuyard_cluster.logs import LogLine
from tests.cluster.apiserver.calling import (
    DEFINITIONS,
    LEASES,
    PODS,
    WIDGETS,
    Caller,
    definition,
    lease,
    pod,
    widget,
)

LEASES_EVERYWHERE = "/apis/coordination.k8s.io/v1/leases"


class Notebook:
    """An observer that writes down what it is told."""

    def __init__(self) -> None:
        self.told: list[str] = []
        self.objects: list[JSON] = []

    def replace(self, resource: str, objects: Iterable[JSON]) -> None:
        found = list(objects)
        self.objects += found
        self.told.append(f"{resource}: {' '.join(obj['metadata']['name'] for obj in found)}".strip())

    def observe(self, resource: str, event: str, obj: JSON) -> None:
        self.objects.append(obj)
        self.told.append(f"{event} {obj['metadata']['name']}")


class World:
    """A server, an observer, and events that wait until they are told to arrive."""

    def __init__(self, **resources: str) -> None:
        self.api, self.notebook = Caller(), Notebook()
        self.waiting: list[tuple[str, Callable[[], None]]] = []
        self.resources = resources

    def feed(self) -> Feed:
        return feed(self.api.server, self.notebook, self.resources, lambda *item: self.waiting.append(item))

    def arrive(self) -> list[str]:
        while self.waiting:
            self.waiting.pop(0)[1]()
        told, self.notebook.told = self.notebook.told, []
        return told


@pytest.fixture
def world() -> World:
    made = World(leases=LEASES_EVERYWHERE)
    made.api.make(LEASES, lease("old"))
    return made


def test_an_observer_gets_a_list_and_then_each_change_when_it_is_delivered(world: World) -> None:
    world.feed()
    world.api.make(LEASES, lease("a"))
    world.api.patch(f"{LEASES}/a", {"spec": {"holderIdentity": "x"}})
    world.api.delete(f"{LEASES}/a")
    assert world.notebook.told == []
    assert [name for name, _ in world.waiting][:2] == ["leases listed", "leases ADDED a"]
    assert world.arrive() == ["leases: old", "ADDED a", "MODIFIED a", "DELETED a"]
    assert all(obj["kind"] == "Lease" for obj in world.notebook.objects)


def test_a_path_may_select_some_of_its_objects() -> None:
    world = World(leases=f"{LEASES_EVERYWHERE}?fieldSelector=metadata.name=mine")
    world.feed()
    for name in ("mine", "other"):
        world.api.make(LEASES, lease(name))
    assert world.arrive() == ["leases:", "ADDED mine"]


def test_what_is_on_its_way_is_dropped_when_the_feed_stops_or_starts_anew(world: World) -> None:
    feed = world.feed()
    world.api.make(LEASES, lease("a"))
    feed.start()
    assert world.arrive() == ["leases: a old"]
    world.api.make(LEASES, lease("b"))
    feed.stop()
    world.api.make(LEASES, lease("c"))
    assert world.arrive() == []


def test_observers_may_keep_and_change_what_they_get(world: World) -> None:
    world.feed()
    world.arrive()
    world.notebook.objects[0]["spec"]["holderIdentity"] = "changed"
    assert world.api.get(f"{LEASES}/old").body["spec"] == {}


def test_resources_can_be_added_and_can_go(world: World) -> None:
    world.api.server.when_served(world.feed().add)
    world.api.make(DEFINITIONS, definition())
    world.api.make(WIDGETS, widget("w"))
    world.api.delete(f"{DEFINITIONS}/widgets.example.com")
    assert world.arrive() == [
        "leases: old",
        "widgets.example.com:",
        "ADDED w",
        "DELETED w",
        "widgets.example.com:",
    ]


def test_two_groups_may_have_the_same_plural_and_one_of_them_may_go(world: World) -> None:
    world.api.server.when_served(world.feed().add)
    other = definition()
    other["metadata"]["name"], other["spec"]["group"] = "widgets.example.org", "example.org"
    world.api.make(DEFINITIONS, definition())
    world.api.make(DEFINITIONS, other)
    assert world.api.delete(f"{DEFINITIONS}/widgets.example.com").status == 200
    world.api.make(WIDGETS.replace(".com", ".org"), widget("w") | {"apiVersion": "example.org/v1"})
    assert world.arrive()[-2:] == ["widgets.example.com:", "ADDED w"]


def test_a_watch_that_was_ended_goes_on_with_a_new_list(world: World) -> None:
    world.feed()
    world.api.server.close()
    world.api.make(LEASES, lease("a"))
    assert world.arrive() == ["leases: old", "leases: old", "ADDED a"]


def test_a_path_that_is_not_served_is_an_error_that_names_it() -> None:
    with pytest.raises(ValueError, match="cannot list things at /apis/nobody/v1/things: 404 page not found"):
        World(things="/apis/nobody/v1/things").feed()


def test_calls_are_answered_on_the_spot() -> None:
    caller, clock = Caller(logs=lambda _pod, _container, _previous: (LogLine(0, "hello"),)), Steps()
    api = DirectApi(caller.server, "tester")
    made = clock.complete(api.send(Write("POST", PODS, pod("a"))))
    assert (made.status, made.body["metadata"]["managedFields"][0]["manager"]) == (201, "tester")
    change = Write("PATCH", f"{PODS}/a", {"metadata": {"labels": {"x": "y"}}}, PatchType.MERGE)
    assert clock.complete(api.send(change)).body["metadata"]["labels"] == {"x": "y"}
    assert clock.complete(api.read(PODS, labelSelector="x=y")).body["items"]
    assert clock.complete(api.read(f"{PODS}/a/log")).body == {"message": "hello\n"}
    missing = clock.complete(api.read(f"{PODS}/none"))
    assert (missing.ok, missing.reason) == (False, 'pods "none" not found')


def test_the_same_works_on_asyncio(world: World) -> None:
    async def run() -> None:
        loop = asyncio.get_running_loop()

        def deliver(_name: str, call: Callable[[], None]) -> None:
            loop.call_soon(call)

        feed(world.api.server, world.notebook, world.resources, deliver)
        await DirectApi(world.api.server).send(Write("POST", LEASES, lease("a")))
        await asyncio.sleep(0)

    asyncio.run(run())
    assert world.notebook.told == ["leases: old", "ADDED a"]
