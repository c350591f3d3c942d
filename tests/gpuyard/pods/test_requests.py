import pytest

from gpuyard import vocabulary
from gpuyard.pods.requests import ContainerKind, PodRequest, Want, is_device_resource, parse
from gpuyard.pods.wishes import NONE, Topology, Wishes
from gpuyard.verdicts import Reason, Rejection
from tests.gpuyard.builders import GPU_RESOURCE, ONE_G, container, pod, request


def test_wants_come_in_the_order_in_which_the_kubelet_serves_them() -> None:
    found = pod(
        containers=[container("train", {ONE_G: "2", GPU_RESOURCE: "1"}), container("log", {"cpu": "1"})],
        initContainers=[
            container("fetch", {GPU_RESOURCE: "4"}),
            container("proxy", {GPU_RESOURCE: "1"}, restartPolicy="Always"),
        ],
    )
    assert request(found).wants == (
        Want("fetch", GPU_RESOURCE, 4, ContainerKind.INIT),
        Want("proxy", GPU_RESOURCE, 1, ContainerKind.SIDECAR),
        Want("train", GPU_RESOURCE, 1, ContainerKind.APP),
        Want("train", ONE_G, 2, ContainerKind.APP),
    )
    assert request(found).totals == {GPU_RESOURCE: 4, ONE_G: 2}


def test_a_request_knows_its_pod_and_group() -> None:
    found = pod("worker-0", {GPU_RESOURCE: "8"})
    found["metadata"]["labels"] = {vocabulary.POD_GROUP: "ring"}
    assert request(found) == PodRequest(
        "uid-worker-0", "default", "worker-0", (Want("train", GPU_RESOURCE, 8),), "ring"
    )


@pytest.mark.parametrize("limits", [{}, {"cpu": "1"}, {GPU_RESOURCE: "0"}, {"example.com/gpu": "-1.5"}])
def test_a_pod_without_devices_has_no_gpus(limits: dict[str, str]) -> None:
    assert not request(pod(limits=limits)).has_gpus


@pytest.mark.parametrize("amount", ["8k", 8000, "8e3"])
def test_counts_are_read_in_every_notation(amount: object) -> None:
    assert request(pod(limits={GPU_RESOURCE: amount})).totals == {GPU_RESOURCE: 8000}


@pytest.mark.parametrize(
    ("resource", "amount", "remedy"),
    [
        (GPU_RESOURCE, "-1", "-1 is negative; ask for 0 or more"),
        (GPU_RESOURCE, "1.5", "must be an integer; ask for a whole number"),
        (GPU_RESOURCE, "500m", "must be an integer; ask for a whole number"),
        (GPU_RESOURCE, "two", "ask for a whole number"),
        (GPU_RESOURCE, None, "ask for a whole number"),
        (GPU_RESOURCE, True, "ask for a whole number"),
        ("nvidia.com/mig-9g.5gb", "1", "no GPU has such a profile"),
        ("nvidia.com/mig-1g.5gb.shares", "1", "no GPU has such a profile"),
    ],
)
def test_a_bad_request_names_the_container_the_resource_and_the_remedy(
    resource: str, amount: object, remedy: str
) -> None:
    refused = parse(pod(limits={resource: amount}))
    assert isinstance(refused, Rejection)
    assert refused.reason is Reason.INVALID_REQUEST
    assert refused.detail.startswith(f"container train: {resource}: ")
    assert remedy in refused.detail


def test_requests_must_equal_limits() -> None:
    both = {"name": "a", "resources": {"limits": {GPU_RESOURCE: "2"}, "requests": {GPU_RESOURCE: "1"}}}
    refused = parse(pod(containers=[both]))
    assert isinstance(refused, Rejection)
    assert "requests and limits differ" in refused.detail
    both["resources"] = {"limits": {GPU_RESOURCE: "2"}, "requests": {GPU_RESOURCE: "2.0"}}
    assert request(pod(containers=[both])).totals == {GPU_RESOURCE: 2}


def test_device_resources_are_told_by_name() -> None:
    assert all(map(is_device_resource, [GPU_RESOURCE, "nvidia.com/gpu.shared", "nvidia.com/mig-x"]))
    assert not any(map(is_device_resource, ["cpu", "nvidia.com/gpus", "nvidia.com/gpu-x"]))


def test_wishes_are_read_from_pods_that_ask_for_gpus_only() -> None:
    found = pod(limits={GPU_RESOURCE: "1"})
    found["metadata"]["annotations"] = {vocabulary.TOPOLOGY: "nvlink"}
    assert request(found).wishes == Wishes(topology=Topology.NVLINK)
    found["metadata"]["annotations"] = {vocabulary.TOPOLOGY: "same-rack"}
    refused = parse(found)
    assert isinstance(refused, Rejection)
    assert refused.reason is Reason.INVALID_REQUEST
    assert refused.detail.startswith(f"{vocabulary.TOPOLOGY}: ")
    found["spec"]["containers"][0]["resources"] = {}
    assert request(found).wishes == NONE


@pytest.mark.parametrize(
    "annotation",
    [
        vocabulary.GPU_MODEL,
        vocabulary.MIN_GPU_MEMORY,
        vocabulary.TOPOLOGY,
        vocabulary.TOPOLOGY_POLICY,
        vocabulary.GPU_MILLI,
        vocabulary.GPU_MEMORY,
    ],
)
@pytest.mark.parametrize("sign", ["x", ",", "1", " 1", "x,"])
def test_an_annotation_as_long_as_can_be_is_refused_in_few_words(annotation: str, sign: str) -> None:
    limits = {vocabulary.GPU_SHARED: "1"}
    pod = {
        "metadata": {"annotations": {annotation: sign * 100_000}},
        "spec": {"containers": [{"name": "main", "resources": {"limits": limits}}]},
    }
    refused = parse(pod)
    assert isinstance(refused, Rejection)
    assert annotation in refused.detail
    assert len(refused.detail) < 300
