from typing import Any

from gpuyard_cluster.apiserver.rules import workloads


def deployment(labels: dict[str, str], selector: dict[str, str], **spec: Any) -> dict[str, Any]:
    template = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "a", "image": "a"}]}}
    return {"spec": {"selector": {"matchLabels": selector}, "template": template, **spec}}


def test_a_selector_stays() -> None:
    old, new = deployment({"a": "1"}, {"a": "1"}), deployment({"b": "1"}, {"b": "1"})
    assert [cause.field for cause in workloads.selector_update_faults(old, new)] == ["spec.selector"]
