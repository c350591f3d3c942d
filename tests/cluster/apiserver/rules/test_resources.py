from typing import Any

import pytest

from gpuyard_cluster.apiserver.rules.resources import is_extended, requirement_faults


def faults(**resources: Any) -> dict[str, str]:
    return {cause.field: cause.message for cause in requirement_faults(resources, "r")}


@pytest.mark.parametrize(
    ("resources", "field", "words"),
    [
        ({"limits": {"example.com/gpu": "500m"}}, "r.limits[example.com/gpu]", "must be an integer"),
        (
            {"limits": {"example.com/gpu": "2"}, "requests": {"example.com/gpu": "1"}},
            "r.requests",
            "must be equal to example.com/gpu limit of 2",
        ),
        (
            {"limits": {"cpu": "1"}, "requests": {"cpu": "2"}},
            "r.requests",
            "must be less than or equal to cpu limit of 1",
        ),
        (
            {"requests": {"example.com/gpu": "1"}},
            "r.limits",
            "Limit must be set for non overcommitable resources",
        ),
        ({"limits": {"gpu": "1"}}, "r.limits[gpu]", "must be a standard resource for containers"),
        ({"limits": {"cpu": "-1"}}, "r.limits[cpu]", "must be greater than or equal to 0"),
        ({"limits": {"a b/c": "1"}}, "r.limits[a b/c]", "prefix part"),
        ({"limits": {"requests.x/y": "1"}}, "r.limits[requests.x/y]", "extended resource name standard"),
    ],
)
def test_impossible_amounts_are_told_by_field(resources: dict[str, Any], field: str, words: str) -> None:
    assert words in faults(**resources)[field]


def test_ordinary_amounts_pass() -> None:
    limits = {"cpu": "1500m", "memory": "1Gi", "nvidia.com/mig-1g.5gb": "2", "hugepages-2Mi": "4Mi"}
    assert not faults(limits=limits, requests={**limits, "cpu": "1"})


def test_extended_resources_are_those_of_other_domains() -> None:
    assert is_extended("nvidia.com/gpu")
    assert not any(is_extended(name) for name in ("cpu", "x.kubernetes.io/y", "requests.a/b"))
