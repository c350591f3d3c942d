"""A part that dies during a write learns nothing of the answer; the write is done all the same."""

from gpuyard.writes import Write
from gpuyard_cluster.apiserver.direct import DirectApi, feed
from gpuyard_cluster.apiserver.server import APIServer
from gpuyard_cluster.clock import Steps
from gpuyard_cluster.scopes import Scope
from gpuyard_cluster.wiring.mortal import MortalApi, Part
from tests.stepping import settle

CONFIGS = "/api/v1/namespaces/default/configmaps"


def create(name: str) -> Write:
    return Write("POST", CONFIGS, {"metadata": {"name": name}})


class Log(list[str]):
    """Writes down what an observer is told."""

    def replace(self, resource: str, objects: object) -> None:
        self.append(f"replace {resource}")

    def observe(self, resource: str, event: str, obj: dict[str, object]) -> None:
        self.append(event)


def test_a_living_part_has_its_answers_and_watchers_are_told_of_writes() -> None:
    clock, told = Steps(), list[tuple[str, Write]]()
    api = MortalApi(
        "me", DirectApi(APIServer(clock.now), "me"), Scope(clock), [lambda *what: told.append(what)]
    )
    assert clock.complete(api.send(create("a"))).status == 201
    assert clock.complete(api.read(f"{CONFIGS}/a")).ok
    assert told == [("me", create("a"))]


def test_a_part_that_is_killed_after_its_write_does_nothing_more() -> None:
    clock, log = Steps(), list[str]()
    server, scope = APIServer(clock.now), Scope(clock)
    api = MortalApi("me", DirectApi(server, "me"), scope, [lambda _part, _write: scope.end()])

    async def work() -> None:
        log.append("sends")
        await api.send(create("a"))
        log.append("goes on")

    scope.spawn(work(), "work")
    settle(clock)
    assert log == ["sends"]
    assert clock.complete(DirectApi(server, "me").read(f"{CONFIGS}/a")).ok


def test_a_part_that_ended_is_told_nothing_more() -> None:
    clock, log = Steps(), Log()
    server, scope = APIServer(clock.now), Scope(clock)
    told = feed(server, log, {"configmaps": "/api/v1/configmaps"}, lambda _name, call: call())
    part = Part(log, scope, told)
    clock.complete(DirectApi(server, "me").send(create("a")))
    part.end()
    clock.complete(DirectApi(server, "me").send(create("b")))
    assert log == ["replace configmaps", "ADDED"]
    assert not scope.alive()
