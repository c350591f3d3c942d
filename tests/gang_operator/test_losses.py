"""Commits that cannot come true, or not in order: places that are lost, hands from outside, evictions refused."""

import pytest

from gpuyard import annotations, vocabulary
from gpuyard.groups.plans import PlanAnswer, Planned, PlanRequest
from gpuyard.groups.reservations import Reservation, Seat
from gpuyard.writes import JSON, Write
from gpuyard_operator.cache import PATHS
from tests.gang_operator.world import World, pod_path

LATER = 60.0
"""As long as the extender gives places."""


@pytest.fixture
def world() -> World:
    """Two nodes, whose first devices are planned for `a` and `b` the first time, their second ones later."""
    found = World()
    asked: list[PlanRequest] = []

    def answer(request: PlanRequest) -> PlanAnswer:
        asked.append(request)
        device = min(len(asked), 2)
        names = {pod["metadata"]["uid"]: pod["metadata"]["name"] for pod in found.api.list(PATHS["pods"])}
        seats = [
            Seat(uid, names[uid], f"node-{n}", {"main": {vocabulary.GPU: (f"node-{n}-{device}",)}})
            for n, uid in enumerate(request.members, start=1)
        ]
        until = found.clock.now() + LATER
        return Planned(Reservation(request.namespace, request.group, request.needed, until, tuple(seats)))

    found.answer = answer
    return found


def held_up(world: World) -> None:
    """A gang whose places are reserved, while nobody binds its members."""
    for name in ("node-1", "node-2"):
        world.node(name, gpus=2)
    world.group(minMember=2)
    world.binds_refused.update("ab")
    for name in "ab":
        world.pod(name)
    world.settle()
    assert places(world) == {"node-1-1", "node-2-1"}


def places(world: World) -> set[str]:
    found = world.places()
    return {one for seat in found.seats for one in annotations.ids(seat.allocation)} if found else set()


def foreign(world: World, device: str, node: str = "node-1", told: bool = True) -> None:
    """A pod of nobody's gang gets a device: as the kubelet says, or as was planned for it."""
    world.pod("foreign", group="")
    world.bind("foreign", node)
    status = {"allocatedResourcesStatus": [{"name": vocabulary.GPU, "resources": [{"resourceID": device}]}]}
    container = {"name": "main", "image": "i", "imageID": "", "ready": True, "restartCount": 0, **status}
    plan = annotations.write_allocation({"main": {vocabulary.GPU: (device,)}})
    if told:
        world.api.patch(f"{pod_path('foreign')}/status", {"status": {"containerStatuses": [container]}})
    else:
        world.api.patch(pod_path("foreign"), {"metadata": {"annotations": {vocabulary.ALLOCATION: plan}}})


@pytest.mark.parametrize("told", [True, False], ids=["by the kubelet", "by a plan"])
def test_a_gang_is_planned_anew_at_once_when_a_reserved_device_goes_to_another_pod(
    world: World, told: bool
) -> None:
    held_up(world)
    world.advance(5)
    foreign(world, "node-1-1", told=told)
    world.settle()
    assert places(world) == {"node-1-2", "node-2-2"}


def test_a_pod_that_gets_another_device_of_the_node_disturbs_nobody(world: World) -> None:
    held_up(world)
    foreign(world, "node-1-2")
    world.advance(5)
    assert places(world) == {"node-1-1", "node-2-1"}


def test_a_gang_is_planned_anew_when_the_node_of_a_place_is_deleted(world: World) -> None:
    held_up(world)
    world.advance(5)
    world.delete("/api/v1/nodes/node-2")
    world.settle()
    assert len(world.questions) == 2


def test_an_extender_that_plans_what_is_taken_is_not_asked_without_end(world: World) -> None:
    held_up(world)
    world.delete("/api/v1/nodes/node-2")
    world.advance(30)
    assert 5 < len(world.questions) <= 8


def test_a_node_that_is_back_is_as_good_as_any(world: World) -> None:
    held_up(world)
    world.delete("/api/v1/nodes/node-2")
    world.settle()
    world.node("node-2", gpus=2)
    world.advance(5)
    assert places(world) == {"node-1-2", "node-2-2"}
    assert len(world.questions) == 2


def test_after_a_restart_the_lost_place_is_noticed_too(world: World) -> None:
    held_up(world)
    world.operator.stop()
    foreign(world, "node-1-1")
    world.restart()
    world.advance(1)
    assert places(world) == {"node-1-2", "node-2-2"}


def test_a_member_bound_by_hand_beside_reserved_places_does_not_stand_alone(world: World) -> None:
    held_up(world)
    world.pod("c")
    world.bind_by_hand("c", "node-1")
    world.advance(4.9)
    assert world.bound() == {}


def test_a_member_bound_by_hand_counts_when_the_others_follow(world: World) -> None:
    held_up(world)
    world.pod("c")
    world.bind_by_hand("c", "node-1")
    world.binds_refused.discard("a")
    world.advance(10)
    assert set(world.bound()) == {"a", "c"}
    assert world.condition()["status"] == "True"


def budget(world: World) -> None:
    """Of all pods none may be disrupted."""
    path = "/apis/policy/v1/namespaces/default/poddisruptionbudgets"
    body: JSON = {"metadata": {"name": "all"}, "spec": {"selector": {}, "maxUnavailable": 0}}
    world.api.create(path, body)
    status = {"disruptionsAllowed": 0, "currentHealthy": 1, "desiredHealthy": 1, "expectedPods": 1}
    world.api.patch(f"{path}/all/status", {"status": {**status, "observedGeneration": 1}})


def half_bound(world: World) -> None:
    held_up(world)
    world.binds_refused.discard("a")
    world.settle()
    pod = world.at(pod_path("a"))
    assert pod is not None
    conditions = [*pod["status"]["conditions"], {"type": "Ready", "status": "True"}]
    world.api.patch(f"{pod_path('a')}/status", {"status": {"phase": "Running", "conditions": conditions}})
    world.settle()
    assert set(world.bound()) == {"a"}


def test_a_disruption_budget_does_not_keep_a_gang_half_bound(world: World) -> None:
    budget(world)
    half_bound(world)
    world.advance(4.9)
    assert world.bound() == {}
    done = [(write.method, write.path) for write in world.api.writes]
    evicted = done.index(("POST", f"{pod_path('a')}/eviction"))
    assert done[evicted + 1 : evicted + 3] == [
        ("PATCH", f"{pod_path('a')}/status"),
        ("DELETE", pod_path("a")),
    ]


def test_what_is_deleted_in_spite_of_a_budget_is_marked_as_no_failure_of_the_pod(world: World) -> None:
    seen: list[JSON] = []

    def look(write: Write) -> bool:
        pod = world.at(pod_path("a"))
        seen.extend([pod] if write.method == "DELETE" and write.path == pod_path("a") and pod else [])
        return False

    world.api.fails = look
    budget(world)
    half_bound(world)
    world.advance(4.9)
    marks = {c["type"]: c["status"] for pod in seen for c in pod["status"]["conditions"]}
    assert marks["DisruptionTarget"] == "True"


def test_a_budget_that_allows_it_sees_an_eviction_alone(world: World) -> None:
    half_bound(world)
    world.advance(4.9)
    assert world.bound() == {}
    assert ("DELETE", pod_path("a")) not in [(write.method, write.path) for write in world.api.writes]
