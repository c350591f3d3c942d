"""Why a gang has no room is told anew when the cause is another one under the same reason: now and then."""

import pytest

from gpuyard.groups.plans import PlanAnswer, PlanRequest, Unplaceable
from gpuyard.verdicts import Reason, Rejection
from gpuyard_operator.deciding.asking import RETRY_SECONDS
from gpuyard_operator.deciding.reconcile import REFRESH_SECONDS
from tests.gang_operator.world import World, group_path, node_path, pod_path

EVENTS = "/api/v1/namespaces/default/events"


@pytest.fixture
def world() -> World:
    found = World()
    found.node("node-1", gpus=2)
    found.group(minMember=2)
    for name in "ab":
        found.pod(name, gpus=2)
    found.advance(3)
    return found


def statuses(world: World) -> int:
    return sum(write.path == f"{group_path()}/status" for write in world.api.writes)


def test_another_cause_under_the_same_reason_is_told_and_is_no_event(world: World) -> None:
    assert "node-1: InsufficientGPUs" in world.condition()["message"]
    told = len(world.api.list(EVENTS))
    taint = {"key": "repair", "effect": "NoSchedule"}
    world.api.patch(node_path("node-1"), {"spec": {"taints": [taint]}})
    world.advance(RETRY_SECONDS)
    found = world.condition()
    assert (found["reason"], "node-1: TaintNotTolerated" in found["message"]) == ("GangUnplaceable", True)
    assert world.condition("Unschedulable")["message"] == found["message"]
    assert len(world.api.list(EVENTS)) == told


def test_numbers_that_change_all_the_time_are_told_now_and_then_and_at_last(world: World) -> None:
    asked = iter(range(10_000))
    last = ""

    def answer(_: PlanRequest) -> PlanAnswer:
        nonlocal last
        last = f"needs 2 GPUs, {next(asked)} free"
        return Unplaceable("b", (Rejection("node-1", Reason.INSUFFICIENT_GPUS, last),))

    world.answer = answer
    world.node("node-2", gpus=8)
    seconds = 20
    for number in range(seconds):
        world.pod(f"short-{number}", group="")
        world.bind(f"short-{number}", "node-2")
        world.advance(0.5)
        world.delete(pod_path(f"short-{number}"))
        world.advance(0.5)
    assert next(asked) >= seconds / 2, "it was refused again and again"
    assert statuses(world) <= seconds / REFRESH_SECONDS + 4
    world.advance(REFRESH_SECONDS)
    assert last in world.condition()["message"]
