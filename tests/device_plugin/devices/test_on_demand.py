"""Instances that come and go: never two in one place, and in the end just those that somebody holds."""

from itertools import combinations

from hypothesis import given, settings
from hypothesis import strategies as st

from gpuyard.hardware.inventory import Inventory, MigStrategy
from gpuyard_device_plugin.devices.devices import DeviceTable
from gpuyard_device_plugin.devices.on_demand import TEAR_DOWN_SECONDS, Instances
from tests.device_plugin.fakes import gpus

WELL = DeviceTable.of(Inventory(gpus(2), mig_strategy=MigStrategy.DYNAMIC))
ILL = DeviceTable.of(Inventory((*gpus(1, healthy=False), gpus(2)[1]), mig_strategy=MigStrategy.DYNAMIC))
PLACES = {(d.gpu, d.profile, d.start): d.id for d in WELL.by_id.values() if d.size}
LARGE, SMALL, BESIDE = PLACES[0, "4g.20gb", 0], PLACES[0, "1g.5gb", 1], PLACES[0, "1g.5gb", 6]
WHOLE = WELL.inventory.gpus[0].uuid


def overlapping(ids: frozenset[str]) -> list[tuple[str, str]]:
    devices = [WELL.by_id[found] for found in sorted(ids)]
    return [(one.id, other.id) for one, other in combinations(devices, 2) if one.overlaps(other)]


def shown(instances: Instances) -> set[str]:
    return {found.uuid for gpu in instances.shown(WELL.inventory).gpus for found in gpu.instances}


@settings(max_examples=50, deadline=None)
@given(
    st.lists(
        st.tuples(st.sets(st.sampled_from(sorted(WELL.by_id)), max_size=4), st.floats(0, 1.5), st.booleans()),
        max_size=12,
    )
)
def test_no_two_instances_overlap_and_none_is_left_over(
    events: list[tuple[set[str], float, bool]],
) -> None:
    """Whatever is held, even what cannot be: somebody may have been given a device twice."""
    instances, now = Instances(), 0.0
    for held, passed, is_sick in events:
        now += passed
        instances = instances.following(ILL if is_sick else WELL, held, now)
        assert overlapping(instances.there | instances.going.keys()) == []
        assert instances.there <= held
        assert shown(instances) == instances.there | instances.going.keys()
    for _ in range(2):
        now += TEAR_DOWN_SECONDS
        instances = instances.following(WELL, (), now)
    assert instances == Instances()


def test_whoever_gets_the_same_place_gets_a_new_instance() -> None:
    leaving = Instances().following(WELL, [SMALL], 0.0).following(WELL, [], 1.0)
    again = leaving.following(WELL, [SMALL], 1.5)
    assert again.in_the_way(WELL, [SMALL])
    assert not again.following(WELL, [SMALL], 2.0).in_the_way(WELL, [SMALL])


def test_what_a_former_life_made_is_kept_for_its_holder_and_torn_down_for_nobody() -> None:
    before = Instances().following(WELL, [LARGE, BESIDE], 0.0).shown(WELL.inventory)
    adopted = Instances().adopting(before)
    assert shown(adopted) == {LARGE, BESIDE}
    following = adopted.following(WELL, [BESIDE], 1.0)
    assert (following.there, set(following.going)) == ({BESIDE}, {LARGE})
    assert Instances().adopting(None) == Instances()
    fixed = Inventory(before.gpus, mig_strategy=MigStrategy.MIXED)
    assert Instances().adopting(fixed) == Instances()


def test_nothing_is_left_when_the_strategy_changes() -> None:
    fixed = DeviceTable.of(Inventory(gpus(2), mig_strategy=MigStrategy.MIXED))
    held = Instances().following(WELL, [SMALL], 0.0)
    assert held.following(fixed, [SMALL], 1.0) == Instances()
    assert held.shown(fixed.inventory) == fixed.inventory
