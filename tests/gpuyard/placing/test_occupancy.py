"""Nodes that are alike share one value, and those that are not do not."""

import dataclasses

from gpuyard.hardware.inventory import Sharing, SharingMode
from gpuyard.placing.cluster import Node, Placement
from tests.gpuyard.builders import GPU_RESOURCE, gpus, node, sick, split


def owning(found: Node, *numbers: int) -> Node:
    assert found.inventory is not None
    ids = tuple(found.inventory.devices()[number].id for number in numbers)
    return found.taking(Placement("pod", found.name, {"c": {GPU_RESOURCE: ids}}, {}))


def test_names_and_ids_do_not_tell_nodes_apart() -> None:
    one, other = node("a", gpus(4, node="a")), node("b", gpus(4, node="b"))
    assert one.occupancy is other.occupancy
    assert owning(one, 1, 3).occupancy is owning(other, 3, 1).occupancy


def test_owners_topology_health_and_layout_tell_nodes_apart() -> None:
    plain = node("a", gpus(4, node="a"))
    others = [
        owning(plain, 0),
        owning(plain, 1),
        node("a", gpus(4, node="a", halves=True)),
        node("a", gpus(4, node="a", nvlink=True)),
        node("a", [sick(gpu) for gpu in gpus(4, node="a")]),
        node("a", [split(gpu, "1g.5gb") for gpu in gpus(4, node="a")]),
        node("a", gpus(4, node="a"), sharing=Sharing(SharingMode.MPS, 2)),
    ]
    assert len({found.occupancy for found in [plain, *others]}) == len(others) + 1


def test_who_owns_what_is_all_one_to_a_pod_that_asks_for_nothing_of_it() -> None:
    idle = node("a", gpus(4, node="a"))
    both = [found.occupancy for found in (idle, owning(idle, 1))]
    assert len({found.to([GPU_RESOURCE]) for found in both if found}) == 2
    assert len({found.to(["nvidia.com/mig-1g.5gb"]) for found in both if found}) == 1


def test_a_node_without_an_inventory_has_none() -> None:
    assert dataclasses.replace(node(), inventory=None).occupancy is None


def test_two_devices_with_one_id_have_one_owner() -> None:
    twins = [dataclasses.replace(gpu, uuid="GPU-same") for gpu in gpus(2)]
    assert owning(node(having=twins), 0).idle(GPU_RESOURCE) == ()
