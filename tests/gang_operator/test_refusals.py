"""A refusal stands until something comes that could make it another answer: of many who wait for room few ask."""

from tests.gang_operator.test_unschedulable import end, full, gang, partitions, running, urgently
from tests.gang_operator.world import World, node_path


def test_gangs_for_whom_counts_fit_and_shapes_do_not_ask_about_as_often_as_there_are_gangs() -> None:
    """Each time all asked, for there was room by count on a node that is of no use to any of them."""
    world = urgently(World(preempts=False))
    full(world, gpus=5)
    world.node("other", 5)
    free = world._free
    world._free = lambda: {**free(), "other": 0}  # type: ignore[method-assign]
    shapes = {f"g{number}": members for number, members in enumerate(partitions(5, 5))}
    for name, members in shapes.items():
        gang(world, name, members)
        world.advance(1)
    before = "node-1"
    world.questions.clear()
    for _ in shapes:
        end(world, before)
        world.advance(1)
        [before] = running(world)
    assert len(world.questions) <= 2 * len(shapes)


def test_the_node_of_a_place_that_was_lost_is_room_for_others_as_soon_as_it_is_given_up() -> None:
    world = World(preempts=False)
    world.node("node-1", 2)
    world.binds_refused.add("first")
    world.group("first-group", minMember=1)
    world.pod("first", 2, "first-group")
    world.advance(3)
    world.group("second-group", minMember=1)
    world.pod("second", 2, "second-group", tolerations=[{"operator": "Exists"}])
    world.advance(3)
    assert world.bound() == {}
    world.api.patch(node_path("node-1"), {"spec": {"taints": [{"key": "repair", "effect": "NoSchedule"}]}})
    world.advance(1)
    assert world.bound() == {"second": "node-1"}
