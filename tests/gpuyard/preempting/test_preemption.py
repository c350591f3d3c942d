"""Who has to go: never more than needed, never for nothing, the least important first."""

from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuyard.hardware.inventory import MigStrategy
from gpuyard.placing.cluster import Node, Placement
from gpuyard.placing.placement import judge
from gpuyard.pods.fit import PodFit
from gpuyard.preempting.capacity import Capacity
from gpuyard.preempting.preemption import Preemptor, Question, cheapest, choose
from gpuyard.preempting.stakes import Candidate, Gang, Stakes, Victims
from gpuyard.vocabulary import TOPOLOGY
from gpuyard.writes import JSON
from tests.gpuyard.builders import GPU_RESOURCE, ONE_G, gpus, node, pod, request, split

HIGH = 100
TWO_G = "nvidia.com/mig-2g.10gb"


def running(uid: str, on: Node, *devices: int, priority: int = 0, **more: object) -> Candidate:
    """`devices` are numbers in the inventory."""
    assert on.inventory is not None
    found = [on.inventory.devices()[i] for i in devices]
    booked = {"cpu": 1000, "pods": 1} | {device.resource: 0 for device in found}
    for device in found:
        booked[device.resource] += 1
    held = {"c": {"": tuple(device.id for device in found)}}
    return Candidate(priority, Placement(uid, on.name, held, booked), **more)  # type: ignore[arg-type]


def full(on: Node, *pods: Candidate) -> Node:
    for found in pods:
        on = on.taking(found.placement)
    return on


def victims(
    asking: JSON,
    on: Node,
    *pods: Candidate,
    stakes: Stakes = Stakes(),  # noqa: B008 -- frozen
    priority: int = HIGH,
) -> Victims | None:
    wanted, found = request(asking), PodFit.of(asking)
    preemptor = Preemptor(priority, found.requests, lambda n: isinstance(judge(found, wanted, n), Placement))
    return choose(preemptor, full(on, *pods), pods, stakes)


def wants(count: int, **limits: str) -> JSON:
    return pod(limits={GPU_RESOURCE: str(count), **limits})


FOUR = node("node-1", gpus(4))


def test_the_victim_of_the_highest_priority_is_named_first() -> None:
    pods = [running("a", FOUR, 0, 1), running("b", FOUR, 2, 3, priority=5)]
    assert victims(wants(4), FOUR, *pods) == Victims(("b", "a"), 0)


def test_a_preemptorthat_holds_no_device_goes_only_for_what_it_books() -> None:
    small = node("node-1", gpus(1), capacity={"cpu": "2"})
    pods = [running("idle", small), running("gpu", small, 0, priority=5)]
    assert victims(wants(1), small, *pods) == Victims(("gpu",), 0)
    assert victims(wants(1, cpu="2"), small, *pods) == Victims(("gpu", "idle"), 0)


def test_victims_free_a_hole_for_a_mig_instance_and_not_just_so_many_slices() -> None:
    mig = node("node-1", [split(gpus(1)[0], "1g.5gb", "1g.5gb", "2g.10gb")])
    assert mig.inventory is not None
    twos = [i for i, device in enumerate(mig.inventory.devices()) if device.resource == TWO_G]
    ones = [i for i, device in enumerate(mig.inventory.devices()) if device.resource == ONE_G]
    pods = [
        running("one", mig, ones[0]),
        running("other", mig, ones[1]),
        running("two", mig, *twos, priority=5),
    ]
    assert victims(pod(limits={TWO_G: "1"}), mig, *pods) == Victims(("two",), 0)


def test_victims_free_devices_that_lie_together_where_that_was_required() -> None:
    halves = node("node-1", gpus(4, halves=True))
    pods = [
        running(uid, halves, i, priority=p)
        for i, (uid, p) in enumerate(zip("abcd", (0, 9, 1, 2), strict=True))
    ]
    asking = wants(2)
    asking["metadata"]["annotations"] = {TOPOLOGY: "same-numa"}
    assert victims(asking, halves, *pods) == Victims(("d", "c"), 0), (
        "a has the lowest priority, but b lies beside it"
    )


def test_a_budget_that_holds_is_kept_to_even_at_the_cost_of_a_higher_priority() -> None:
    covered = running("covered", FOUR, 0, 1, budgets=frozenset({"default/keep"}))
    pods = [covered, running("free", FOUR, 2, 3, priority=5)]
    assert victims(wants(2), FOUR, *pods) == Victims(("free",), 0)
    assert victims(wants(2), FOUR, *pods, stakes=Stakes(allowed={"default/keep": 1})) == Victims(
        ("covered",), 0
    )
    assert victims(wants(4), FOUR, *pods) == Victims(("free", "covered"), 1)


def test_a_budget_lets_only_so_many_go() -> None:
    keep = frozenset({"default/keep"})
    pods = [running(uid, FOUR, i, budgets=keep) for i, uid in enumerate("abc")] + [
        running("d", FOUR, 3, priority=5)
    ]
    found = victims(wants(2), FOUR, *pods, stakes=Stakes(allowed={"default/keep": 1}))
    assert found == Victims(("d", "a"), 0)


def test_a_gang_that_breaks_costs_all_its_members() -> None:
    stakes = Stakes(gangs={"default/ring": Gang(bound=4, needed=4)})
    pods = [running("member", FOUR, 0, 1, group="default/ring"), running("a", FOUR, 2), running("b", FOUR, 3)]
    assert victims(wants(2), FOUR, *pods, stakes=stakes) == Victims(("a", "b"), 0)
    spare = Stakes(gangs={"default/ring": Gang(bound=5, needed=4)})
    assert victims(wants(2), FOUR, *pods, stakes=spare) == Victims(("member",), 0)


@settings(deadline=None, max_examples=60)
@given(
    held=st.lists(st.integers(0, 2), min_size=1, max_size=5),
    priorities=st.lists(st.integers(0, 3), min_size=5, max_size=5),
    count=st.integers(1, 6),
    halves=st.booleans(),
)
def test_no_cheaper_set_would_do_and_no_victim_can_be_spared(
    held: list[int], priorities: list[int], count: int, *, halves: bool
) -> None:
    on = node("node-1", gpus(6, halves=True))
    pods, free = [], list(range(6))
    for i, number in enumerate(held):
        taken, free = free[:number], free[number:]
        pods.append(running(f"p{i}", on, *taken, priority=priorities[i]))
    asking = wants(count)
    if halves:
        asking["metadata"]["annotations"] = {TOPOLOGY: "same-numa"}

    def fits(gone: tuple[Candidate, ...]) -> bool:
        staying = full(on, *(found for found in pods if found not in gone))
        return isinstance(judge(PodFit.of(asking), request(asking), staying), Placement)

    able = [found for found in pods if found.priority < 2]
    sets = [gone for size in range(len(able) + 1) for gone in combinations(able, size) if fits(gone)]
    found = victims(asking, on, *pods, priority=2)
    if not sets or () in sets:
        assert found is None
        return
    best = min(
        (max(v.priority for v in gone), len(gone), sorted((v.priority for v in gone), reverse=True))
        for gone in sets
    )
    assert found is not None
    chosen = tuple(v for v in pods if v.placement.uid in found.uids)
    assert fits(chosen)
    assert not any(fits(less) for less in combinations(chosen, len(chosen) - 1))
    assert (
        max(v.priority for v in chosen),
        len(chosen),
        sorted((v.priority for v in chosen), reverse=True),
    ) == best


def test_of_instances_on_demand_those_go_that_leave_a_hole_at_the_least_cost() -> None:
    """Two small instances cover both places of the large one: it is enough to take either away."""
    on = node("node-1", gpus(1), mig_strategy=MigStrategy.DYNAMIC)
    assert on.inventory is not None
    places = {(d.profile, d.start): i for i, d in enumerate(on.inventory.devices())}
    first = running("first", on, places["1g.5gb", 1], priority=1)
    second = running("second", on, places["1g.5gb", 5])
    large = pod(limits={"nvidia.com/mig-3g.20gb": "1"})
    assert victims(large, on, first, second) == Victims(("second",), 0)
    assert victims(wants(1), on, first, second) == Victims(("first", "second"), 0)
    assert victims(large, on, second) is None


@pytest.mark.parametrize("enough", [1, 2, 40, 70, 127, 128])
@pytest.mark.parametrize("tries", [10, 11, 12, 13, 14, 15, 16, 20, 40])
@pytest.mark.parametrize("misleading", [False, True])
def test_what_was_shown_to_be_enough_is_an_answer_however_few_tries_are_left(
    tries: int, enough: int, *, misleading: bool
) -> None:
    """Where it is said well whom nobody can do without, it is they alone; else others may go with them."""
    units = [(running(f"p{i:03}", FOUR, priority=i % 5),) for i in range(128)]
    asked = Question(
        HIGH,
        needed=lambda gone: gone[: 1 if misleading else enough] if len(gone) >= enough else None,
        capacity=Capacity(()),
        tries=tries,
    )
    found = cheapest(asked, units, Stakes())
    assert found is not None
    assert len(found.uids) >= enough
    assert misleading or len(found.uids) == enough
