"""Devices as parts of GPUs: whole ones, shares and MIG instances in one measure."""

from dataclasses import replace

import pytest

from gpuyard.hardware.inventory import MigStrategy, Sharing, SharingMode
from gpuyard.placing import parts
from gpuyard.placing.cluster import Node, Placement
from gpuyard.policies.workload import Shape
from tests.gpuyard.builders import GPU_RESOURCE, gpus, node, split


def free(found: Node) -> tuple[int, ...]:
    assert found.occupancy is not None
    return parts.free(found.occupancy)


def owning(found: Node, *places: int) -> Node:
    assert found.inventory is not None
    devices = found.inventory.devices()
    held = {GPU_RESOURCE: tuple(devices[i].id for i in places)}
    return found.taking(Placement("p", found.name, {"c": held}, {"cpu": 2000, "memory": 3 * 2**20}))


def test_a_whole_gpu_is_a_thousand_and_a_share_an_equal_part() -> None:
    shared = node("n", gpus(2), sharing=Sharing(SharingMode.TIME_SLICING, replicas=3))
    assert free(owning(node("n", gpus(3)), 1)) == (1000, 0, 1000)
    assert free(owning(shared, 0)) == (667, 1000), (
        "what is left over can go to a pod that says how much it needs"
    )


def test_an_instance_counts_by_its_memory_slices_and_what_lies_outside_all_is_not_free() -> None:
    cut = node("n", [split(gpu, "1g.5gb", "3g.20gb") for gpu in gpus(1)], mig_strategy=MigStrategy.MIXED)
    assert free(cut) == (125 + 500,)
    assert free(owning(cut, 0)) in {(500,), (125,)}


def test_of_instances_on_demand_each_slice_counts_once_where_one_could_be_made() -> None:
    whole = node("n", gpus(2), mig_strategy=MigStrategy.DYNAMIC)
    assert free(whole) == (1000, 1000)
    assert whole.inventory is not None
    places = {(d.gpu, d.profile, d.start): i for i, d in enumerate(whole.inventory.devices())}
    cut = owning(whole, places[0, "4g.20gb", 0], places[0, "1g.5gb", 4], places[0, "1g.5gb", 6])
    assert free(cut) == (125, 1000)
    assert free(owning(whole, places[0, "1g.5gb", 0])) == (875, 1000)


def test_pods_on_a_node_are_told_by_what_they_own_and_what_they_booked() -> None:
    held = owning(node("n", gpus(4)), 0, 1)
    found = set(parts.shapes(held, {"p": held.used, "plain": {"cpu": 500}}).values())
    assert found == {Shape(2000, 1000, 2, memory=3), Shape(500, 0, 0)}


@pytest.mark.parametrize("strategy", MigStrategy)
@pytest.mark.parametrize("replicas", [1, 3])
def test_the_kinds_of_a_nodes_pods_are_those_of_their_shapes(strategy: MigStrategy, replicas: int) -> None:
    sharing = Sharing(SharingMode.TIME_SLICING, replicas) if replicas > 1 else Sharing()
    cut = node(
        "n", [split(gpu, "1g.5gb", "3g.20gb") for gpu in gpus(4)], sharing=sharing, mig_strategy=strategy
    )
    assert cut.inventory is not None
    ids = [device.id for device in cut.inventory.devices()]
    for owners in ({}, {ids[0]: "a"}, {ids[0]: "a", ids[1]: "b", ids[-1]: "b"}):
        held = replace(cut, owners=owners)
        kinds = {shape.tag for shape in parts.shapes(held, {}).values()}
        assert parts.tags(held) == sum(kinds)


def test_a_share_of_an_instance_is_an_equal_part_of_its_slices() -> None:
    sharing = Sharing(SharingMode.TIME_SLICING, instances=(("nvidia.com/mig-1g.5gb", 5),))
    having = [split(gpu, "1g.5gb", "3g.20gb") for gpu in gpus(1)]
    cut = node("n", having, sharing=sharing, mig_strategy=MigStrategy.MIXED)
    assert free(cut) == (5 * 25 + 500,)
    assert cut.inventory is not None
    share = next(i for i, device in enumerate(cut.inventory.devices()) if device.replica is not None)
    assert free(owning(cut, share)) == (4 * 25 + 500,)
