from typing import Any

import pytest

from gpuyard_cluster.apiserver.errors import ApiError
from gpuyard_cluster.apiserver.kinds import priorities

HIGH = {"metadata": {"name": "high"}, "value": 1234, "preemptionPolicy": "Never"}
DEFAULT = {"metadata": {"name": "usual"}, "value": 7, "globalDefault": True}


def admitted(classes: list[dict[str, Any]], **spec: Any) -> dict[str, Any]:
    pod: dict[str, Any] = {"metadata": {"name": "a"}, "spec": spec}
    priorities.admit(pod, classes)
    found: dict[str, Any] = pod["spec"]
    return found


def test_a_pod_without_class_has_priority_zero_or_that_of_the_default_class() -> None:
    assert admitted([HIGH]) == {"priority": 0, "preemptionPolicy": "PreemptLowerPriority"}
    assert admitted([HIGH, DEFAULT])["priority"] == 7
    assert admitted([DEFAULT])["priorityClassName"] == "usual"


def test_a_class_gives_its_value_and_policy() -> None:
    found = admitted([HIGH], priorityClassName="high")
    assert (found["priority"], found["preemptionPolicy"]) == (1234, "Never")
    assert admitted([], priorityClassName="system-node-critical")["priority"] == 2_000_001_000


def test_an_unknown_class_is_forbidden() -> None:
    with pytest.raises(ApiError, match="no PriorityClass with name none was found") as refusal:
        admitted([HIGH], priorityClassName="none")
    assert (refusal.value.code, refusal.value.reason) == (403, "Forbidden")


@pytest.mark.parametrize("spec", [{"priority": 5}, {"preemptionPolicy": "Never"}])
def test_a_priority_that_no_class_gives_is_forbidden(spec: dict[str, Any]) -> None:
    with pytest.raises(ApiError, match="must not be provided in pod spec"):
        admitted([HIGH], **spec)
