"""Allocate's refusals, word for word."""

from gpuyard import vocabulary
from gpuyard.hardware.gpus import Instance
from gpuyard.hardware.inventory import Inventory, MigStrategy, Sharing, SharingMode
from gpuyard_device_plugin.allocating.allocations import Allotment, RefusalReason, check
from gpuyard_device_plugin.allocating.pod_devices import PodDevices
from gpuyard_device_plugin.devices.devices import DeviceTable
from tests.device_plugin.allocating.test_pod_devices import claim, state
from tests.device_plugin.fakes import gpus, pod

GPU = vocabulary.GPU
TWO = DeviceTable.of(Inventory(gpus(2)))
FIRST, SECOND = TWO.by_id


def shares(mode: SharingMode = SharingMode.TIME_SLICING, replicas: int = 4) -> DeviceTable:
    return DeviceTable.of(Inventory(gpus(2), Sharing(mode, replicas)))


def test_an_id_of_another_resource_is_unknown() -> None:
    refusal = check(TWO, PodDevices(), Allotment("nvidia.com/mig-1g.5gb", (FIRST,)))
    assert refusal is not None
    assert refusal.reason is RefusalReason.UNKNOWN


def test_more_than_one_share_is_refused_only_where_that_is_configured() -> None:
    table = shares()
    pair = tuple(table.by_id)[:2]
    refusal = check(table, PodDevices(), Allotment(GPU, pair, single_share=True))
    assert refusal is not None
    assert refusal.text.endswith("maximum request size for shared resources is 1; found 2")
    assert check(table, PodDevices(), Allotment(GPU, pair)) is None
    assert check(TWO, PodDevices(), Allotment(GPU, (FIRST, SECOND), single_share=True)) is None


def test_what_another_pod_holds_is_refused_whoever_asks() -> None:
    held = state(pod("a"), pod("b")).with_given(claim("a"), [FIRST])
    for asking in (claim("b"), None):
        refusal = check(TWO, held, Allotment(GPU, (SECOND, FIRST), asking))
        assert refusal is not None
        assert (refusal.reason, refusal.holder) == (RefusalReason.TAKEN, claim("a"))
    assert check(TWO, held, Allotment(GPU, (SECOND,), claim("b"))) is None


def test_one_pod_may_pass_on_an_init_containers_device_and_nothing_else() -> None:
    found = state(pod("a", {"x": 1, "y": 1}, init={"load": 1})).with_given(claim("a", "load"), [FIRST])
    assert check(TWO, found, Allotment(GPU, (FIRST,), claim("a", "x"))) is None
    found = found.with_given(claim("a", "x"), [FIRST])
    assert check(TWO, found, Allotment(GPU, (FIRST,), claim("a", "x"))) is None
    refusal = check(TWO, found, Allotment(GPU, (FIRST,), claim("a", "y")))
    assert refusal is not None
    assert refusal.holder == claim("a", "x")


def test_overlap_counts_and_not_only_the_id() -> None:
    whole = DeviceTable.of(Inventory(gpus(1)))
    split = gpus(1, mig_enabled=True, instances=(Instance("1g.5gb", 3, 1, "MIG-a"),))
    instance = next(iter(Inventory(split, mig_strategy=MigStrategy.MIXED).devices()))
    both = DeviceTable(whole.inventory, {**whole.by_id, instance.id: instance})
    held = state(pod("a")).with_given(claim("a"), tuple(whole.by_id))
    refusal = check(both, held, Allotment(instance.resource, (instance.id,), claim("b")))
    assert refusal is not None
    assert refusal.reason is RefusalReason.TAKEN
