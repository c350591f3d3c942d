from typing import Any

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
