"""What people are told of the room that is left is true, or was so a little ago; it costs few plans and writes."""

import re

import pytest

from gpuyard.groups.plans import PlanAnswer, PlanRequest, Unplaceable
from gpuyard.verdicts import Reason, Rejection
from gpuyard_operator.cache import PATHS
from gpuyard_operator.deciding.asking import RETRY_SECONDS
from gpuyard_operator.deciding.reconcile import REFRESH_SECONDS
from gpuyard_operator.outdated import A_SECOND
from tests.gang_operator.world import World

SECONDS, NEEDED = 40, 100


@pytest.mark.parametrize("gangs", [1, 10, 200])
def test_each_gang_that_waits_says_what_was_free_a_little_ago_and_the_extender_is_asked_seldom(
    gangs: int,
) -> None:
    world, free = World(preempts=False), [0]

    def answer(request: PlanRequest) -> PlanAnswer:
        says = f"needs {NEEDED} GPUs, {free[-1]} free"
        return Unplaceable(f"{request.group}-0", (Rejection("node-1", Reason.INSUFFICIENT_GPUS, says),))

    world.answer = answer
    world.node("node-1", gpus=SECONDS)
    for number in range(SECONDS):
        world.pod(f"busy-{number}", group="")
        world.bind(f"busy-{number}", "node-1")
    for number in range(gangs):
        world.group(f"g{number}", minMember=1)
        world.pod(f"g{number}-0", NEEDED, f"g{number}")
    world.advance(REFRESH_SECONDS)
    world.api.writes.clear()
    world.questions.clear()
    longest = min(REFRESH_SECONDS + gangs / A_SECOND, RETRY_SECONDS) + 1
    for number in range(SECONDS):
        free.append(number + 1)
        world.phase(f"busy-{number}", "Succeeded")
        world.advance(1)
        assert min(told(world)) >= number + 1 - longest
    statuses = sum(write.path.endswith("/status") for write in world.api.writes)
    each = gangs * (SECONDS / REFRESH_SECONDS + 1)
    assert len(world.questions) <= min(each, A_SECOND * SECONDS + gangs * (SECONDS / RETRY_SECONDS + 1))
    assert statuses <= len(world.questions)


def told(world: World) -> list[int]:
    """What each group says is free."""
    groups = world.api.list(PATHS["podgroups"])
    said = [c["message"] for g in groups for c in g["status"]["conditions"] if c["type"] == "Scheduled"]
    return [int(re.findall(r"(\d+) free", message)[0]) for message in said]
