import dataclasses
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuyard.annotations import Allocation
from gpuyard.cluster import Cluster, Node, Placement
from gpuyard.fit import PodFit
from gpuyard.inventory import Sharing, SharingMode
from gpuyard.placement import judge, place
from gpuyard.verdicts import Reason, Rejection
from gpuyard.writes import JSON
from tests.gpuyard.builders import (
    GPU_RESOURCE,
    ONE_G,
    SHARED,
    cluster,
    container,
    gpus,
    node,
    pod,
    request,
    sick,
    split,
)

TWO_G = "nvidia.com/mig-2g.10gb"


def judged(of: JSON, on: Node) -> Placement | Rejection:
    return judge(PodFit.of(of), request(of), on)


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


# --- laws

NODES = (
    node("whole", gpus(4, node="whole", halves=True)),
    node("sliced", gpus(2, node="sliced"), sharing=Sharing(SharingMode.TIME_SLICING, 3, renamed=True)),
    node("mig", [split(gpu, "1g.5gb", "1g.5gb", "2g.10gb") for gpu in gpus(2, node="mig")]),
)
LIMITS = st.dictionaries(st.sampled_from([GPU_RESOURCE, SHARED, ONE_G, TWO_G]), st.integers(0, 3), max_size=2)
INITS = st.lists(st.tuples(LIMITS, st.booleans()), max_size=2)


def asking(name: str, limits: dict[str, int], inits: list[tuple[dict[str, int], bool]]) -> JSON:
    written = [
        container(f"init-{i}", found, **({"restartPolicy": "Always"} if sidecar else {}))
        for i, (found, sidecar) in enumerate(inits)
    ]
    return pod(name, limits, initContainers=written)


PODS = st.lists(st.tuples(LIMITS, INITS), max_size=5).map(
    lambda found: [asking(f"pod-{i}", *parts) for i, parts in enumerate(found)]
)


def assert_one_owner(found: Cluster, live: list[Placement]) -> None:
    for known in found.nodes.values():
        here = [placement for placement in live if placement.node == known.name]
        assert known.owners == {identity: placement.uid for placement in here for identity in placement.ids}
        assert not known.contested
        for one, other in combinations(known.owned(), 2):
            assert not one.overlaps(other)


@settings(deadline=None, max_examples=100)
@given(pods=PODS, data=st.data())
def test_no_interleaving_gives_one_device_two_owners(pods: list[JSON], data: st.DataObject) -> None:
    found = cluster(*NODES)
    live: list[Placement] = []
    for wanted in pods:
        if data.draw(st.booleans()) and live:
            gone = live.pop(data.draw(st.integers(0, len(live) - 1)))
            found = found.without(gone)
        placed = judged(wanted, found.nodes[data.draw(st.sampled_from([known.name for known in NODES]))])
        if isinstance(placed, Placement):
            live.append(placed)
            found = found.with_placement(placed)
        assert_one_owner(found, live)
    for placement in live:
        found = found.without(placement)
    assert found == cluster(*NODES)


@settings(deadline=None, max_examples=100)
@given(limits=LIMITS, inits=INITS, known=st.sampled_from(NODES))
def test_a_pod_holds_exactly_what_the_scheduler_books_for_it(
    limits: dict[str, int], inits: list[tuple[dict[str, int], bool]], known: Node
) -> None:
    wanted = asking("pod", limits, inits)
    allocation = place(request(wanted), known)
    if isinstance(allocation, Rejection):
        totals = request(wanted).totals
        assert any(known.left(resource) < count for resource, count in totals.items())
        return
    for want in request(wanted).wants:
        assert len(set(allocation[want.container][want.resource])) == want.count
    for resource, count in request(wanted).totals.items():
        held = {identity for found in allocation.values() for identity in found.get(resource, ())}
        assert len(held) == count
        assert held <= {device.id for device in known.free(resource)}
