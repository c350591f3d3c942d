"""What the operator writes, counted: one status for a change, few writes for a member, events at transitions."""

import pytest

from gpuyard.groups.plans import Unplaceable
from tests.gang_operator.deciding.test_preemption import full
from tests.gang_operator.world import World, group_path, pod_path

SIZE = 6


def statuses(world: World) -> list[str]:
    """The reason in each status of the group that was written since the last call."""
    told = [write.body for write in world.api.writes if write.path == f"{group_path()}/status"]
    world.api.writes.clear()
    found = [body["status"].get("conditions", []) for body in told if isinstance(body, dict)]
    return [next((c["reason"] for c in each if c["type"] == "Scheduled"), "") for each in found]


def test_each_change_is_one_status(world: World) -> None:
    """G59."""
    world.group(minMember=SIZE)
    world.advance(0.2)
    names = [f"pod-{number}" for number in range(SIZE)]
    assert statuses(world) == ["GangWaiting"]
    for name in names[:-1]:
        world.pod(name)
        world.advance(0.2)
        assert statuses(world) == ["GangWaiting"]
        world.api.patch(pod_path(name), {"metadata": {"annotations": {"note": "x"}}})
        world.advance(0.2)
        assert statuses(world) == [], "nothing that it says has changed"
    world.pod(names[-1])
    world.advance(0.2)
    assert statuses(world) == ["GangStarting", "GangScheduled"]
    for phase in ("Running", "Succeeded"):
        world.phase(names[0], phase)
        world.advance(0.2)
        assert statuses(world) == ["GangScheduled"]
        for name in names[1:]:
            world.phase(name, phase)
        world.advance(0.2)
        assert statuses(world) == ["GangScheduled"], "what comes together is told together"


def test_a_member_costs_two_writes_beside_its_binding(world: World) -> None:
    """G45, G59: and a group a few, however large it is."""
    counts = []
    for size in (10, 40):
        world.group(f"g{size}", minMember=size)
        for number in range(size):
            world.pod(f"g{size}-{number}", group=f"g{size}")
        world.settle()
        counts.append(len(world.api.writes))
        world.api.writes.clear()
    assert len(world.bound()) == 50
    assert counts[1] - counts[0] == 2 * 30
    assert counts[0] <= 2 * 10 + 6


def test_a_gang_of_eight_that_has_room_costs_three_writes_a_member_at_most_with_its_one_event(
    world: World,
) -> None:
    """Its pods come one by one, as a client creates them."""
    world.group(minMember=8)
    for number in range(8):
        world.advance(0.02)
        world.pod(f"pod-{number}")
    world.advance(5)
    for number in range(8):
        world.phase(f"pod-{number}", "Running")
    world.advance(5)
    assert world.status()["running"] == 8
    assert [event["reason"] for event in world.api.list("/api/v1/events")] == ["GangScheduled"]
    assert len(world.api.writes) <= 3 * 8


def test_every_group_is_told_why_it_waits_at_once_and_each_costs_the_same_however_many_wait() -> None:
    """Within 5 s of the clock, which moves only where somebody waits for something."""
    looks = []
    for count in (10, 40):
        world = World()
        world.answer = lambda _: Unplaceable("g0-0", ())
        for number in range(count):
            world.group(f"g{number}", minMember=2)
            for member in range(2):
                world.pod(f"g{number}-{member}", group=f"g{number}")
        world.advance(5)
        reasons = {world.condition(name=f"g{number}")["reason"] for number in range(count)}
        assert reasons == {"GangUnplaceable"}
        looks.append((world.operator.tally.reconciles, len(world.questions), len(world.api.writes)))
    assert all(many <= 4 * few for few, many in zip(*looks, strict=True)), looks


@pytest.mark.parametrize("stubborn", ["a", "b"])
def test_who_goes_for_others_is_told_once_however_often_it_was_asked(stubborn: str) -> None:
    world = full()
    world.api.fails = lambda write: write.path == f"{pod_path(stubborn)}/eviction"
    world.advance(3)
    world.api.fails = lambda _: False
    world.advance(2)
    assert world.bound().keys() == {"u0", "u1"}
    told = [(e["involvedObject"]["name"], e["reason"], e["count"]) for e in world.api.list("/api/v1/events")]
    assert sorted(each for each in told if "Preempt" in each[1]) == [
        ("a", "Preempted", 1),
        ("b", "Preempted", 1),
        ("urgent", "GangPreempting", 1),
    ]


@pytest.fixture
def world() -> World:
    found = World()
    found.node("node-1", gpus=50)
    return found
