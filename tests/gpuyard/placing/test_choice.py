from gpuyard.hardware.inventory import Device, Inventory, MigStrategy, Sharing, SharingMode
from gpuyard.placing.choice import choose
from gpuyard.placing.cluster import Node, Placement
from tests.gpuyard.builders import GPU_RESOURCE, ONE_G, SHARED, gpus, node, split


def shared(count: int = 2, replicas: int = 3) -> Node:
    return node(having=gpus(count), sharing=Sharing(SharingMode.TIME_SLICING, replicas, renamed=True))


def taking(found: Node, resource: str, *devices: Device) -> Node:
    ids = tuple(device.id for device in devices)
    return found.taking(Placement("other", found.name, {"c": {resource: ids}}, {}))


def chosen(
    found: Node, resource: str, count: int, must: tuple[Device, ...] = ()
) -> list[tuple[int, int, int | None]]:
    assert found.inventory is not None
    devices = choose(found.inventory, found.free(resource), must, found.owned(), count)
    return [(device.gpu, device.start, device.replica) for device in devices]


def test_whole_gpus_go_together_by_topology() -> None:
    halves = node(having=gpus(8, halves=True))
    assert [gpu for gpu, _, _ in chosen(halves, GPU_RESOURCE, 4)] == [0, 1, 2, 3]
    sixth = halves.devices(GPU_RESOURCE)[5]
    assert [gpu for gpu, _, _ in chosen(halves, GPU_RESOURCE, 2, (sixth,))] == [4, 5]


def test_a_share_comes_from_the_fullest_gpu_that_has_one() -> None:
    found = shared()
    used = taking(found, SHARED, found.devices(SHARED)[3])
    assert chosen(used, SHARED, 1) == [(1, 0, 1)]
    full = taking(used, SHARED, *found.devices(SHARED)[4:])
    assert chosen(full, SHARED, 1) == [(0, 0, 0)]


def test_several_shares_come_from_distinct_gpus_as_long_as_there_are_any() -> None:
    assert chosen(shared(), SHARED, 2) == [(0, 0, 0), (1, 0, 0)]
    uneven = taking(shared(), SHARED, shared().devices(SHARED)[0])
    assert chosen(uneven, SHARED, 2) == [(0, 0, 1), (1, 0, 0)]
    assert chosen(shared(), SHARED, 3) == [(0, 0, 0), (0, 0, 1), (1, 0, 0)]


def test_an_instance_comes_from_the_gpu_that_is_split_up_already() -> None:
    found = node(having=[split(gpu, *["1g.5gb"] * 3) for gpu in gpus(2)])
    second = [device for device in found.devices(ONE_G) if device.gpu == 1]
    assert [gpu for gpu, _, _ in chosen(taking(found, ONE_G, second[0]), ONE_G, 1)] == [1]


def test_an_instance_lies_where_the_largest_hole_stays() -> None:
    found = node(having=[split(gpus(1)[0], *["1g.5gb"] * 7)])
    assert chosen(found, ONE_G, 1) == [(0, 6, None)]
    assert chosen(found, ONE_G, 3) == [(0, 4, None), (0, 5, None), (0, 6, None)]


def test_instances_that_stand_for_gpus_are_chosen_as_instances() -> None:
    found = node(having=[split(gpus(1)[0], *["1g.5gb"] * 7)], mig_strategy=MigStrategy.SINGLE)
    assert chosen(found, GPU_RESOURCE, 1) == [(0, 6, None)]


def test_there_are_fewer_when_they_run_out() -> None:
    assert len(chosen(node(having=gpus(2)), GPU_RESOURCE, 3)) == 2
    assert len(chosen(shared(1, 2), SHARED, 3)) == 2


def test_thousands_of_shares_are_dealt_out_evenly_and_each_once() -> None:
    shared = Inventory(gpus(4), Sharing(SharingMode.TIME_SLICING, 2000, renamed=True))
    chosen = choose(shared, shared.devices(), (), (), 6000)
    assert len({device.id for device in chosen}) == 6000
    assert [sum(device.gpu == index for device in chosen) for index in range(4)] == [1500] * 4
