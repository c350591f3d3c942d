"""The preferred ids: the plan's, else the best that is really free."""

from collections.abc import Sequence

from gpuyard import vocabulary
from gpuyard.hardware.gpus import Instance
from gpuyard.hardware.inventory import Inventory, MigStrategy, Sharing, SharingMode
from gpuyard_device_plugin.allocating.choice import Offer, prefer
from gpuyard_device_plugin.devices.devices import DeviceTable, Occupied
from tests.device_plugin.fakes import gpus

EIGHT = DeviceTable.of(Inventory(gpus(8)))
SHARES = DeviceTable.of(Inventory(gpus(2), Sharing(SharingMode.TIME_SLICING, 3)))
SPLIT = DeviceTable.of(
    Inventory(
        gpus(2, mig_enabled=True, instances=tuple(Instance("1g.5gb", i, 1, f"MIG-{i}") for i in (2, 0, 1)))[
            :1
        ],
        mig_strategy=MigStrategy.MIXED,
    )
)


def ids(table: DeviceTable, *indexes: int) -> list[str]:
    return [list(table.by_id)[index] for index in indexes]


def chosen(
    table: DeviceTable,
    size: int,
    *,
    held: Sequence[int] = (),
    must: Sequence[int] = (),
    plan: Sequence[int] = (),
    elsewhere: Sequence[int] = (),
) -> list[int]:
    """Positions in the table of what is preferred when everything is on offer, in reverse order."""
    offer = Offer(table.resources[0], tuple(reversed(list(table.by_id))), tuple(ids(table, *must)), size)
    occupied = Occupied(table, ids(table, *held))
    found = prefer(table, occupied, offer, ids(table, *plan), ids(table, *elsewhere))
    return sorted(list(table.by_id).index(device) for device in found)


def test_the_plan_is_followed_to_the_letter() -> None:
    assert chosen(EIGHT, 2, plan=[1, 6]) == [1, 6]


def test_without_a_plan_the_best_set_wins() -> None:
    assert chosen(EIGHT, 4) == [0, 1, 2, 3]
    assert chosen(EIGHT, 4, held=[1]) == [4, 5, 6, 7]


def test_what_others_hold_is_left_out_although_it_is_on_offer() -> None:
    assert chosen(EIGHT, 1, held=[0]) == [1]
    assert chosen(EIGHT, 1, held=range(8)) == []


def test_what_others_are_to_get_is_taken_last() -> None:
    assert chosen(EIGHT, 1, elsewhere=[0, 1]) == [2]
    assert chosen(EIGHT, 8, elsewhere=[0, 1]) == list(range(8))


def test_what_the_kubelet_insists_on_comes_first() -> None:
    assert chosen(EIGHT, 2, must=[7], held=[7]) == [4, 7]
    assert chosen(EIGHT, 2, must=[7], plan=[0, 3]) == [0, 7]


def test_a_sick_device_is_not_preferred() -> None:
    table = DeviceTable.of(Inventory((gpus(2, healthy=False)[0], gpus(2)[1])))
    assert chosen(table, 1) == [1]


def test_shares_come_from_the_least_used_gpu() -> None:
    assert chosen(SHARES, 1) == [0]
    assert chosen(SHARES, 1, held=[0]) == [3]
    assert chosen(SHARES, 3) == [0, 1, 3]
    assert chosen(SHARES, 1, held=[0, 1, 3, 4, 5]) == [2]


def test_instead_of_a_planned_share_that_is_gone_another_of_its_gpu_is_taken() -> None:
    assert chosen(SHARES, 1, held=[0], plan=[0]) == [1]
    assert chosen(SHARES, 1, held=[0], plan=[0], elsewhere=[1]) == [2]
    assert chosen(SHARES, 2, held=[0], plan=[0, 3]) == chosen(SHARES, 2, held=[0], plan=[3, 0]) == [1, 3]
    assert chosen(SHARES, 1, held=[0, 1, 2], plan=[0]) == [3]


def test_mig_devices_come_from_the_lowest_start() -> None:
    assert [device.start for device in SPLIT.by_id.values()] == [0, 1, 2]
    assert SPLIT.resources == (vocabulary.mig_resource("1g.5gb"),)
    assert chosen(SPLIT, 2, held=[0]) == [1, 2]
    assert chosen(SPLIT, 1) == [0]


def test_instances_on_demand_leave_the_largest_holes_and_do_not_overlap() -> None:
    table = DeviceTable.of(Inventory(gpus(2), mig_strategy=MigStrategy.DYNAMIC))
    places = {(d.gpu, d.profile, d.start): d.id for d in table.by_id.values()}

    def preferred(profile: str, size: int, *held: tuple[int, str, int]) -> list[tuple[int, int]]:
        resource = vocabulary.mig_resource(profile)
        offer = Offer(resource, tuple(d.id for d in table.of_resource(resource)), (), size)
        occupied = Occupied(table, [places[place] for place in held])
        found = [table.by_id[device] for device in prefer(table, occupied, offer, (), ())]
        return [(device.gpu, device.start) for device in found]

    assert preferred("1g.5gb", 1) == [(0, 6)]
    assert preferred("1g.5gb", 1, (1, "1g.5gb", 6)) == [(1, 4)]
    assert preferred("4g.20gb", 1, (0, "1g.5gb", 6)) == [(0, 0)]
    assert preferred("1g.5gb+me", 3) == [(0, 6), (1, 6)]
    assert preferred("3g.20gb", 4, (0, "1g.5gb", 0)) == [(0, 4), (1, 0), (1, 4)]
