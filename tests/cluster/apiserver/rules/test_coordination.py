from typing import Any

import pytest

from gpuyard_cluster.apiserver.rules import coordination


def test_a_lease_lasts() -> None:
    assert not list(coordination.lease_faults({"spec": {"leaseDurationSeconds": 1, "leaseTransitions": 0}}))
    bad = {"spec": {"leaseDurationSeconds": 0, "leaseTransitions": -1}}
    assert len(list(coordination.lease_faults(bad))) == 2


def test_high_priorities_and_system_names_are_reserved() -> None:
    def fields(name: str, value: int) -> list[str]:
        found = coordination.priority_class_faults({"metadata": {"name": name}, "value": value})
        return [cause.field for cause in found]

    assert fields("mine", 1_000_000_000) == []
    assert fields("mine", 1_000_000_001) == ["value"]
    assert fields("system-mine", 1) == ["metadata.name"]
    assert fields("system-node-critical", 2_000_001_000) == []


def test_the_value_of_a_priority_class_stays() -> None:
    old, new = {"value": 1}, {"value": 2, "preemptionPolicy": "Never"}
    found = coordination.priority_class_update_faults(old, new)
    assert [cause.field for cause in found] == ["value", "preemptionPolicy"]


@pytest.mark.parametrize(
    ("spec", "field"),
    [
        ({"minAvailable": 1, "maxUnavailable": 1}, "spec"),
        ({"minAvailable": -1}, "spec.minAvailable"),
        ({"maxUnavailable": "half"}, "spec.maxUnavailable"),
        ({"maxUnavailable": True}, "spec.maxUnavailable"),
    ],
)
def test_a_budget_counts_or_gives_a_percentage(spec: dict[str, Any], field: str) -> None:
    assert field in {cause.field for cause in coordination.budget_faults({"spec": spec})}
    assert not list(coordination.budget_faults({"spec": {"minAvailable": "50%"}}))
