"""What a pod may say of how much of a GPU its share is worth."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuyard import vocabulary
from gpuyard.pods.limits import Limits
from gpuyard.pods.requests import PodRequest, parse
from gpuyard.verdicts import Reason, Rejection
from gpuyard.writes import JSON
from tests.gpuyard.builders import GPU_RESOURCE, ONE_G, SHARED, container, gpus, pod

MILLI, MEMORY = vocabulary.GPU_MILLI, vocabulary.GPU_MEMORY


def asking(annotations: dict[str, str], limits: dict[str, str] | None = None, **spec: object) -> JSON:
    found = pod("a", {SHARED: "1"} if limits is None else limits, **spec)
    found["metadata"]["annotations"] = annotations
    return found


@pytest.mark.parametrize(
    ("annotations", "expected"),
    [
        ({}, Limits()),
        ({MILLI: "300"}, Limits(300)),
        ({MILLI: "1k"}, Limits(1000)),
        ({MEMORY: "10Gi"}, Limits(mib=10240)),
        ({MILLI: "1", MEMORY: "1048577"}, Limits(1, 2)),
    ],
)
def test_thousandths_and_memory_are_read_from_the_annotations(
    annotations: dict[str, str], expected: Limits
) -> None:
    for resource in (SHARED, GPU_RESOURCE):
        found = parse(asking(annotations, {resource: "1"}))
        assert isinstance(found, PodRequest)
        assert found.wishes.limits == expected


@pytest.mark.parametrize(
    ("annotations", "remedy"),
    [
        ({MILLI: "0"}, "write 1 to 1000"),
        ({MILLI: "1500"}, "asks for whole GPUs"),
        ({MILLI: "-1"}, "write 1 to 1000"),
        ({MILLI: "0.5"}, "write 1 to 1000"),
        ({MILLI: "half"}, "write 1 to 1000"),
        ({MEMORY: "10240"}, "write a unit"),
        ({MEMORY: "much"}, "such as 40Gi"),
    ],
)
def test_an_amount_that_is_none_names_the_annotation_and_the_remedy(
    annotations: dict[str, str], remedy: str
) -> None:
    found = parse(asking(annotations))
    assert isinstance(found, Rejection)
    assert found.reason is Reason.INVALID_REQUEST
    assert found.detail.startswith(f"{next(iter(annotations))}: ")
    assert remedy in found.detail


@pytest.mark.parametrize(
    ("limits", "asked"),
    [
        ({}, "none"),
        ({SHARED: "0"}, "none"),
        ({SHARED: "2"}, "2 nvidia.com/gpu.shared"),
        ({GPU_RESOURCE: "4"}, "4 nvidia.com/gpu"),
        ({ONE_G: "1"}, "1 nvidia.com/mig-1g.5gb"),
        ({f"{ONE_G}.shared": "1"}, "1 nvidia.com/mig-1g.5gb.shared"),
        ({SHARED: "1", GPU_RESOURCE: "1"}, "1 nvidia.com/gpu and 1 nvidia.com/gpu.shared"),
    ],
)
def test_only_a_pod_with_one_share_can_limit_it(limits: dict[str, str], asked: str) -> None:
    for annotations in ({MILLI: "300"}, {MEMORY: "1Gi"}):
        found = parse(asking(annotations, limits))
        assert isinstance(found, Rejection)
        assert found.detail == (
            f"{next(iter(annotations))}: it limits one share, the pod asks for {asked}; "
            "ask for one nvidia.com/gpu.shared, or leave the annotation out"
        )


def test_an_app_container_that_takes_over_from_an_init_container_has_one_share() -> None:
    init = [container("load", {SHARED: "1"})]
    assert isinstance(parse(asking({MILLI: "300"}, initContainers=init)), PodRequest)


@given(st.lists(st.integers(1, 1000), max_size=8), st.integers(1, 10**6))
def test_parts_that_fit_by_what_pods_say_fit_by_what_they_do_not_say(parts: list[int], memory: int) -> None:
    gpu = gpus(1)[0]
    by_time = [Limits(part).on(gpu) for part in parts]
    by_memory = [Limits(mib=part * 50).on(gpu) for part in parts]
    if sum(parts) <= 1000:
        assert sum(part.mib for part in by_time) <= gpu.memory_mib
    if sum(part.mib for part in by_memory) <= gpu.memory_mib:
        assert sum(part.milli for part in by_memory) <= 1000
    assert Limits(500, memory).on(gpu) == Limits(500, memory)
