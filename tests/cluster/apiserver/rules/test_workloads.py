from typing import Any

from gpuyard_cluster.apiserver.rules import workloads
from tests.cluster.apiserver.calling import pod


def deployment(labels: dict[str, str], selector: dict[str, str], **spec: Any) -> dict[str, Any]:
    template = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "a", "image": "a"}]}}
    return {"spec": {"selector": {"matchLabels": selector}, "template": template, **spec}}


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
