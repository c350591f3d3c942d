import dataclasses
from typing import Any

import pytest

from gpuyard.annotations import Allocation
from gpuyard.placing.cluster import Node, Placement
from gpuyard.placing.placement import place
from gpuyard.verdicts import Reason, Rejection
from tests.gpuyard.builders import (
    GPU_RESOURCE,
    ONE_G,
    container,
    gpus,
    judged,
    node,
    pod,
    request,
    sick,
    split,
)

TWO_G = "nvidia.com/mig-2g.10gb"


def indexes(found: Allocation | Rejection, on: Node) -> dict[str, list[int]]:
    """Container -> GPU indexes of nvidia.com/gpu."""
    assert not isinstance(found, Rejection), found
    index = {device.id: device.gpu for device in on.devices(GPU_RESOURCE)}
    return {name: [index[identity] for identity in held[GPU_RESOURCE]] for name, held in found.items()}


def test_a_container_gets_the_first_gpus_by_id() -> None:
    found = node()
    asking = pod(limits={GPU_RESOURCE: "2"})
    expected = tuple(device.id for device in found.devices(GPU_RESOURCE)[:2])
    assert place(request(asking), found) == {"train": {GPU_RESOURCE: expected}}


def test_containers_get_different_devices() -> None:
    both = pod(containers=[container("a", {GPU_RESOURCE: "1"}), container("b", {GPU_RESOURCE: "2"})])
    assert indexes(place(request(both), node()), node()) == {"a": [0], "b": [1, 2]}


def test_devices_of_init_containers_are_used_again() -> None:
    inits = [container("first", {GPU_RESOURCE: "1"}), container("second", {GPU_RESOURCE: "3"})]
    asking = pod(limits={GPU_RESOURCE: "4"}, initContainers=inits)
    assert indexes(place(request(asking), node()), node()) == {
        "first": [0],
        "second": [0, 1, 2],
        "train": [0, 1, 2, 3],
    }


def test_what_an_init_container_leaves_is_used_though_another_set_were_better() -> None:
    halves = node(having=gpus(8, halves=True))
    second = halves.devices(GPU_RESOURCE)[1]
    used = halves.taking(Placement("other", "node-1", {"c": {GPU_RESOURCE: (second.id,)}}, {}))
    asking = pod(limits={GPU_RESOURCE: "4"}, initContainers=[container("init", {GPU_RESOURCE: "1"})])
    assert indexes(place(request(asking), used), used) == {"init": [0], "train": [0, 2, 3, 4]}


def test_devices_of_sidecars_are_kept() -> None:
    inits = [
        container("fetch", {GPU_RESOURCE: "2"}),
        container("proxy", {GPU_RESOURCE: "1"}, restartPolicy="Always"),
        container("check", {GPU_RESOURCE: "1"}),
    ]
    asking = pod(limits={GPU_RESOURCE: "2"}, initContainers=inits)
    assert indexes(place(request(asking), node()), node()) == {
        "fetch": [0, 1],
        "proxy": [0],
        "check": [1],
        "train": [1, 2],
    }


def test_mig_and_whole_gpus_are_given_together() -> None:
    whole, other = gpus(2)
    mixed = node(having=[whole, split(other, "1g.5gb", "2g.10gb")])
    allocation = place(request(pod(limits={GPU_RESOURCE: "1", ONE_G: "1", TWO_G: "1"})), mixed)
    assert not isinstance(allocation, Rejection)
    assert set(allocation["train"]) == {GPU_RESOURCE, ONE_G, TWO_G}


def test_a_node_without_an_inventory_is_left_to_the_in_tree_count() -> None:
    counted = dataclasses.replace(node(), inventory=None)
    assert place(request(pod(limits={GPU_RESOURCE: "99"})), counted) == {}
    found = judged(pod(limits={GPU_RESOURCE: "8"}), counted)
    assert isinstance(found, Placement)
    assert found.requests == {GPU_RESOURCE: 8, "pods": 1}
    refused = judged(pod(limits={GPU_RESOURCE: "9"}), counted)
    assert refused == Rejection("node-1", Reason.INSUFFICIENT_GPUS, "needs 9 GPUs, 8 free of 8 allocatable")


def test_instances_that_overlap_by_a_bad_inventory_have_one_owner() -> None:
    gpu = split(gpus(1)[0], "1g.5gb", "1g.5gb")
    same = tuple(dataclasses.replace(instance, start=0) for instance in gpu.instances)
    refused = place(
        request(pod(limits={ONE_G: "2"})), node(having=[dataclasses.replace(gpu, instances=same)])
    )
    assert isinstance(refused, Rejection)
    assert refused.reason is Reason.NO_MIG_PLACEMENT


@pytest.mark.parametrize(
    ("limits", "spec", "reason"),
    [
        ({GPU_RESOURCE: "9"}, {}, Reason.INSUFFICIENT_GPUS),
        ({GPU_RESOURCE: "9", "cpu": "65"}, {}, Reason.INSUFFICIENT_GPUS),
        ({GPU_RESOURCE: "1", "cpu": "65"}, {}, Reason.INSUFFICIENT_RESOURCES),
        ({ONE_G: "1"}, {}, Reason.NO_SUCH_RESOURCE),
        ({GPU_RESOURCE: "9"}, {"nodeSelector": {"a": "b"}}, Reason.NODE_AFFINITY_MISMATCH),
    ],
)
def test_the_most_telling_reason_is_given(
    limits: dict[str, str], spec: dict[str, Any], reason: Reason
) -> None:
    refused = judged(pod(limits=limits, **spec), node())
    assert isinstance(refused, Rejection)
    assert (refused.node, refused.reason) == ("node-1", reason)


def test_sick_gpus_are_the_reason_though_allocatable_counts_them_out() -> None:
    refused = judged(pod(limits={GPU_RESOURCE: "1"}), node(having=[sick(gpus(1)[0])]))
    assert isinstance(refused, Rejection)
    assert refused.reason is Reason.GPU_UNHEALTHY


def test_a_count_that_is_used_up_by_unknown_pods_refuses_too() -> None:
    used = dataclasses.replace(node(), used={GPU_RESOURCE: 8})
    refused = judged(pod(limits={GPU_RESOURCE: "1", "cpu": "999"}), used)
    assert refused == Rejection("node-1", Reason.INSUFFICIENT_GPUS, "needs 1 GPU, 0 free of 8 allocatable")
