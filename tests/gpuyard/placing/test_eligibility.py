"""What wishes make of a node: the devices that a pod gets, or the wish that cannot be met."""

import dataclasses

import pytest

from gpuyard import vocabulary
from gpuyard.groups.gangs import plan
from gpuyard.hardware.gpus import GPU
from gpuyard.hardware.inventory import Sharing, SharingMode
from gpuyard.placing import eligibility
from gpuyard.placing.cluster import Node, Placement
from gpuyard.placing.placement import judge, place
from gpuyard.pods import requests
from gpuyard.pods.fit import PodFit
from gpuyard.policies.registry import POLICIES
from gpuyard.verdicts import Reason, Rejection
from gpuyard.writes import JSON
from tests.gpuyard.builders import (
    GPU_RESOURCE,
    ONE_G,
    SHARED,
    cluster,
    container,
    gpus,
    member,
    node,
    pod,
    request,
    split,
)

H100 = "NVIDIA-H100-80GB-HBM3"
SAME_NUMA = {vocabulary.TOPOLOGY: "same-numa"}
PREFERRED = {**SAME_NUMA, vocabulary.TOPOLOGY_POLICY: "preferred"}


def wishing(count: int, annotations: dict[str, str], resource: str = GPU_RESOURCE, **spec: object) -> JSON:
    found = pod(limits={resource: str(count)}, **spec)
    found["metadata"]["annotations"] = annotations
    return found


def given(of: JSON, on: Node) -> list[int]:
    """GPU indexes, or the test ends with the rejection."""
    found = place(request(of), on)
    assert not isinstance(found, Rejection), found
    gpu = {device.id: device.gpu for device in on.inventory.devices()} if on.inventory else {}
    return sorted({gpu[i] for held in found.values() for ids in held.values() for i in ids})


def refused(of: JSON, on: Node) -> tuple[Reason, str]:
    found = judge(PodFit.of(of), request(of), on)
    assert isinstance(found, Rejection), found
    assert found.node == on.name
    return found.reason, found.detail


def taking(on: Node, *indexes: int) -> Node:
    ids = tuple(on.devices(GPU_RESOURCE)[i].id for i in indexes)
    return on.taking(Placement("other", on.name, {"c": {GPU_RESOURCE: ids}}, {GPU_RESOURCE: len(ids)}))


HALVES = node("halves", gpus(4, node="halves", halves=True))
UNEQUAL = node(
    "unequal",
    [
        dataclasses.replace(gpu, model=H100, memory_mib=81559) if gpu.index > 1 else gpu
        for gpu in gpus(4, node="unequal")
    ],
)


def test_gpus_of_the_model_are_taken_wherever_they_lie_on_the_node() -> None:
    assert given(wishing(2, {vocabulary.GPU_MODEL: "H100"}), UNEQUAL) == [2, 3]


def test_memory_is_asked_of_each_gpu_and_not_of_the_node() -> None:
    assert given(wishing(1, {vocabulary.MIN_GPU_MEMORY: "60Gi"}), UNEQUAL) == [2]
    assert refused(wishing(3, {vocabulary.MIN_GPU_MEMORY: "60Gi"}), UNEQUAL) == (
        Reason.GPU_MEMORY_TOO_SMALL,
        "needs 61440 MiB each; 2 of 4 have it, the most is 81559",
    )


def test_another_model_is_named_before_any_shortage() -> None:
    full = taking(HALVES, 0, 1, 2, 3)
    reason, detail = refused(wishing(1, {vocabulary.GPU_MODEL: "H100,B200"}), full)
    assert reason is Reason.GPU_MODEL_MISMATCH
    assert detail == "needs b200 or h100; 0 of 4 are, the node has NVIDIA-A100-SXM4-40GB"
    assert refused(wishing(1, {vocabulary.GPU_MODEL: "A100"}), full)[0] is Reason.INSUFFICIENT_GPUS
    assert refused(wishing(16, {vocabulary.GPU_MODEL: "A100"}), HALVES)[0] is Reason.INSUFFICIENT_GPUS


def test_what_a_mig_instance_and_an_mps_client_have_of_the_memory_counts() -> None:
    at_least = {vocabulary.MIN_GPU_MEMORY: "8Gi"}
    sliced = node("mig", [split(gpu, "1g.5gb") for gpu in gpus(1, node="mig")])
    assert refused(wishing(1, at_least, ONE_G), sliced)[0] is Reason.GPU_MEMORY_TOO_SMALL
    for mode, fits in ((SharingMode.MPS, False), (SharingMode.TIME_SLICING, True)):
        shared = node("shared", gpus(1, node="shared"), sharing=Sharing(mode, 8, renamed=True))
        found = place(request(wishing(1, at_least, SHARED)), shared)
        assert isinstance(found, Rejection) is not fits, (
            "a time slice sees the whole memory, an MPS client 5 GiB"
        )


def test_a_required_topology_takes_the_domain_with_the_fewest_free_gpus() -> None:
    assert given(wishing(1, SAME_NUMA), taking(HALVES, 2)) == [3]
    assert given(wishing(2, SAME_NUMA), taking(HALVES, 0)) == [2, 3]


def test_gpus_that_lie_apart_do_not_meet_a_required_topology() -> None:
    assert refused(wishing(2, SAME_NUMA), taking(HALVES, 1, 2)) == (
        Reason.TOPOLOGY_UNSATISFIED,
        "needs 2 devices on one NUMA node, 2 free, but at most 1 together; same-numa was required",
    )
    assert refused(wishing(2, {vocabulary.TOPOLOGY: "nvlink"}), HALVES)[0] is Reason.TOPOLOGY_UNSATISFIED
    linked = node("linked", gpus(4, node="linked", halves=True, nvlink=True))
    assert given(wishing(4, {vocabulary.TOPOLOGY: "nvlink"}), linked) == [0, 1, 2, 3]


def test_no_two_gpus_go_together_over_a_link_that_has_failed() -> None:
    def cut(index: int, *lost: int) -> GPU:
        return dataclasses.replace(gpus(4, node="cut", nvlink=True)[index], lost_links=lost)

    node_cut = node("cut", [cut(0, 1), cut(1, 0), cut(2, 3), cut(3, 2)])
    wish = {vocabulary.TOPOLOGY: "nvlink"}
    assert given(wishing(2, wish), node_cut) == [0, 2]
    assert refused(wishing(3, wish), node_cut) == (
        Reason.TOPOLOGY_UNSATISFIED,
        "needs 3 devices on one NVLink domain, 4 free, but at most 2 together; nvlink was required",
    )


def test_all_containers_of_a_pod_lie_in_one_domain_init_containers_too() -> None:
    asking = wishing(1, SAME_NUMA, initContainers=[container("init", {GPU_RESOURCE: "2"})])
    asking["spec"]["containers"].append(container("second", {GPU_RESOURCE: "1"}))
    assert given(asking, taking(HALVES, 0)) == [2, 3]


def test_a_preferred_topology_is_kept_where_it_can_be_and_given_up_where_not() -> None:
    assert given(wishing(2, PREFERRED), taking(HALVES, 0)) == [2, 3]
    assert given(wishing(2, PREFERRED), taking(HALVES, 1, 2)) == [0, 3]


def test_of_two_nodes_the_one_that_meets_a_preferred_topology_is_taken_but_node_affinity_goes_first() -> None:
    apart, together = taking(HALVES, 1, 2), node("together", gpus(2, node="together"))
    found = plan([member(wishing(2, PREFERRED))], cluster(apart, together), POLICIES["pack"])
    assert isinstance(found, tuple)
    assert found[0].node == "together"
    wish = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["halves"]}]}
    preferred = {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "preference": wish}]}
    asking = wishing(2, PREFERRED, affinity={"nodeAffinity": preferred})
    found = plan([member(asking)], cluster(apart, together), POLICIES["pack"])
    assert isinstance(found, tuple)
    assert found[0].node == "halves"


def counted(**labels: str) -> Node:
    """A node with NVIDIA's own plugin: no inventory."""
    known = node("real", gpus(4, node="real"))
    fit = dataclasses.replace(
        known.fit, labels={f"nvidia.com/gpu.{key}": found for key, found in labels.items()}
    )
    return Node("real", fit)


@pytest.mark.parametrize(
    ("annotations", "labels", "reason", "said"),
    [
        ({vocabulary.GPU_MODEL: "H100"}, {}, Reason.GPU_MODEL_MISMATCH, "nor a label nvidia.com/gpu.product"),
        ({vocabulary.GPU_MODEL: "H100"}, {"product": "Tesla-T4"}, Reason.GPU_MODEL_MISMATCH, "are Tesla-T4"),
        (
            {vocabulary.MIN_GPU_MEMORY: "1Gi"},
            {},
            Reason.GPU_MEMORY_TOO_SMALL,
            "nor a label nvidia.com/gpu.memory",
        ),
        (
            {vocabulary.MIN_GPU_MEMORY: "40Gi"},
            {"memory": "15360"},
            Reason.GPU_MEMORY_TOO_SMALL,
            "have 15360 MiB",
        ),
        (SAME_NUMA, {}, Reason.TOPOLOGY_UNSATISFIED, "no annotation gpuyard.io/inventory"),
    ],
)
def test_a_node_without_an_inventory_is_refused_by_the_wish_that_needs_it(
    annotations: dict[str, str], labels: dict[str, str], reason: Reason, said: str
) -> None:
    found, detail = refused(wishing(2, annotations), counted(**labels))
    assert found is reason
    assert said in detail


@pytest.mark.parametrize(
    "annotations", [{}, {vocabulary.GPU_MODEL: "T4", vocabulary.MIN_GPU_MEMORY: "15Gi"}, PREFERRED]
)
def test_a_node_without_an_inventory_passes_by_its_labels(annotations: dict[str, str]) -> None:
    found = place(request(wishing(2, annotations)), counted(product="Tesla-T4-SHARED", memory="15360"))
    assert found == {}


def test_a_single_gpu_lies_together_with_itself() -> None:
    assert place(request(wishing(1, SAME_NUMA)), counted()) == {}
    assert given(wishing(1, {vocabulary.TOPOLOGY: "nvlink"}), HALVES) == [0]


def test_domains_share_out_all_idle_devices() -> None:
    asked = request(wishing(1, SAME_NUMA))
    occupancy = taking(HALVES, 0).occupancy
    assert occupancy is not None
    found = list(eligibility.domains(asked.wishes, occupancy, requests.totals(asked.wants)))
    assert [domain.idle for domain in found] == [(1,), (2, 3)]
