import dataclasses

import pytest

from gpuyard.hardware.inventory import MigStrategy, Sharing, SharingMode
from gpuyard.placing import shortages
from gpuyard.placing.cluster import Node, Placement
from gpuyard.verdicts import Reason, Rejection
from tests.gpuyard.builders import GPU_RESOURCE, ONE_G, SHARED, gpus, node, sick, split


def taking(found: Node, resource: str, count: int) -> Node:
    ids = tuple(device.id for device in found.devices(resource)[:count])
    return found.taking(Placement("other", found.name, {"c": {resource: ids}}, {resource: count}))


def by_devices(found: Node, resource: str, needed: int) -> Rejection | None:
    assert found.occupancy is not None
    return shortages.by_devices(found.occupancy, resource, needed)


SLICED = node(having=gpus(1), sharing=Sharing(SharingMode.TIME_SLICING, 10, renamed=True))
UNRENAMED = node(having=gpus(1), sharing=Sharing(SharingMode.MPS, 10))
SPLIT = node(having=[split(gpus(1)[0], *["1g.5gb"] * 7)])
SINGLE = node(having=SPLIT.inventory.gpus if SPLIT.inventory else (), mig_strategy=MigStrategy.SINGLE)


@pytest.mark.parametrize(
    ("found", "resource", "needed", "reason", "detail"),
    [
        (
            taking(node(), GPU_RESOURCE, 6),
            GPU_RESOURCE,
            4,
            Reason.INSUFFICIENT_GPUS,
            "needs 4 GPUs, 2 free of 8",
        ),
        (
            taking(node(), GPU_RESOURCE, 8),
            GPU_RESOURCE,
            1,
            Reason.INSUFFICIENT_GPUS,
            "needs 1 GPU, 0 free of 8",
        ),
        (
            taking(SLICED, SHARED, 10),
            SHARED,
            1,
            Reason.SHARES_EXHAUSTED,
            "needs 1 share of a GPU, 0 free of 10",
        ),
        (UNRENAMED, GPU_RESOURCE, 11, Reason.SHARES_EXHAUSTED, "needs 11 shares of a GPU, 10 free of 10"),
        (SPLIT, ONE_G, 8, Reason.NO_MIG_PLACEMENT, f"needs 8 MIG instances ({ONE_G}), 7 free of 7"),
        (
            SINGLE,
            GPU_RESOURCE,
            8,
            Reason.NO_MIG_PLACEMENT,
            f"needs 8 MIG instances ({GPU_RESOURCE}), 7 free of 7",
        ),
        (SPLIT, GPU_RESOURCE, 1, Reason.NO_SUCH_RESOURCE, f"the node offers no {GPU_RESOURCE}"),
    ],
)
def test_a_shortage_of_devices_has_its_code_and_its_numbers(
    found: Node, resource: str, needed: int, reason: Reason, detail: str
) -> None:
    assert by_devices(found, resource, needed) == Rejection("", reason, detail)


def test_enough_but_for_sick_ones_is_told_apart() -> None:
    first, *rest = gpus(4)
    found = node(having=[sick(first), *rest])
    assert by_devices(found, GPU_RESOURCE, 3) is None
    assert by_devices(found, GPU_RESOURCE, 4) == Rejection(
        "", Reason.GPU_UNHEALTHY, "needs 4 GPUs, 3 free of 4, 1 unhealthy"
    )
    short = by_devices(found, GPU_RESOURCE, 5)
    assert short is not None
    assert short.reason is Reason.INSUFFICIENT_GPUS


@pytest.mark.parametrize(
    ("resource", "reason"),
    [
        (GPU_RESOURCE, Reason.INSUFFICIENT_GPUS),
        (SHARED, Reason.SHARES_EXHAUSTED),
        (ONE_G, Reason.NO_MIG_PLACEMENT),
    ],
)
def test_without_an_inventory_the_resource_name_tells_the_code(resource: str, reason: Reason) -> None:
    allocatable = {resource: 4}
    counted = Node("n", dataclasses.replace(node().fit, allocatable=allocatable), used={resource: 5})
    short = shortages.by_count(counted, resource, 1)
    assert (short.reason, short.detail.endswith("0 free of 4 allocatable")) == (reason, True)
    assert shortages.by_count(counted, "nvidia.com/mig-2g.10gb", 1).reason is Reason.NO_SUCH_RESOURCE


def test_a_plugin_that_is_away_leaves_devices_without_a_count() -> None:
    gone = dataclasses.replace(node(), fit=dataclasses.replace(node().fit, allocatable={}))
    assert shortages.by_count(gone, GPU_RESOURCE, 1) == Rejection(
        "node-1", Reason.INSUFFICIENT_GPUS, "needs 1 GPU, 0 free of 0 allocatable"
    )
