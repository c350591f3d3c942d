from typing import Any

import pytest

from gpuyard.writes import JSON
from gpuyard_cluster.apiserver.rules import workloads
from tests.cluster.apiserver.calling import pod


def deployment(labels: dict[str, str], selector: dict[str, str], **spec: Any) -> dict[str, Any]:
    template = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "a", "image": "a"}]}}
    return {"spec": {"selector": {"matchLabels": selector}, "template": template, **spec}}


def test_a_workload_selects_the_pods_of_its_template() -> None:
    assert not list(workloads.workload_faults(deployment({"a": "1", "b": "2"}, {"a": "1"})))
    mismatched = workloads.workload_faults(deployment({"a": "1"}, {"a": "2"}))
    assert [cause.field for cause in mismatched] == ["spec.template.metadata.labels"]
    assert [cause.field for cause in workloads.workload_faults(deployment({}, {}))] == ["spec.selector"]


def test_the_template_is_judged_as_a_pod() -> None:
    bad = deployment({"a": "1"}, {"a": "1"}, replicas=-1)
    bad["spec"]["template"]["spec"] = {}
    assert [cause.field for cause in workloads.workload_faults(bad)] == [
        "spec.replicas",
        "spec.template.spec.containers",
    ]


@pytest.mark.parametrize(
    ("spec", "field"),
    [
        ({"strategy": {"type": "Odd"}}, "spec.strategy"),
        (
            {"strategy": {"rollingUpdate": {"maxSurge": 0, "maxUnavailable": 0}}},
            "spec.strategy.rollingUpdate.maxUnavailable",
        ),
    ],
)
def test_a_strategy_must_get_somewhere(spec: JSON, field: str) -> None:
    found = workloads.workload_faults(deployment({"a": "1"}, {"a": "1"}, **spec))
    assert [cause.field for cause in found] == [field]


def test_a_job_says_when_its_pods_start_again() -> None:
    job = {"spec": {"completionMode": "Odd", "template": {"spec": pod("")["spec"]}}}
    assert [cause.field for cause in workloads.job_faults(job)] == [
        "spec.completionMode",
        "spec.template.spec.restartPolicy",
    ]
    within = {"spec": {"schedule": "never", "jobTemplate": job}}
    assert [cause.field for cause in workloads.cron_job_faults(within)] == [
        "spec.schedule",
        "spec.jobTemplate.spec.completionMode",
        "spec.jobTemplate.spec.template.spec.restartPolicy",
    ]


def test_a_selector_stays() -> None:
    old, new = deployment({"a": "1"}, {"a": "1"}), deployment({"b": "1"}, {"b": "1"})
    assert [cause.field for cause in workloads.selector_update_faults(old, new)] == ["spec.selector"]
