"""The table of devices, and what held ones rule out."""

from gpuyard import vocabulary
from gpuyard.hardware.gpus import Instance
from gpuyard.hardware.inventory import Inventory, MigStrategy, Sharing, SharingMode
from gpuyard_device_plugin.devices.devices import DeviceTable, Occupied
from tests.device_plugin.fakes import gpus

MIG = gpus(2, mig_enabled=True, instances=(Instance("3g.20gb", 0, 4, "MIG-a"),))[:1]


def test_resources_are_those_of_which_there_is_a_device() -> None:
    mixed = DeviceTable.of(Inventory((*MIG, gpus(2)[1]), mig_strategy=MigStrategy.MIXED))
    assert mixed.resources == (vocabulary.GPU, "nvidia.com/mig-3g.20gb")
    assert DeviceTable.of(Inventory()).resources == ()


def test_devices_are_found_in_the_order_of_the_table() -> None:
    table = DeviceTable.of(Inventory(gpus(3)))
    first, _, third = table.by_id
    assert [device.gpu for device in table.find(vocabulary.GPU, [third, "GPU-x", first])] == [0, 2]
    assert table.find("nvidia.com/mig-3g.20gb", [first]) == []


def test_a_share_rules_out_itself_only() -> None:
    table = DeviceTable.of(Inventory(gpus(1), Sharing(SharingMode.TIME_SLICING, 2)))
    first, second = table.by_id.values()
    occupied = Occupied(table, [first.id, "GPU-x"])
    assert (occupied.rules_out(first), occupied.rules_out(second)) == (True, False)
    assert occupied.shares(table) == {(0, 0): 1}


def test_a_device_of_its_own_rules_out_all_that_it_overlaps() -> None:
    table = DeviceTable.of(Inventory(MIG))
    instance = next(iter(Inventory(MIG, mig_strategy=MigStrategy.MIXED).devices()))
    (whole,) = table.by_id
    assert Occupied(table, [whole]).rules_out(instance)
    assert not Occupied(table, []).rules_out(instance)
