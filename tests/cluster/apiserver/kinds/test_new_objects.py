from typing import Any

from gpuyard.writes import JSON
from gpuyard_cluster.apiserver.kinds import defaults
from gpuyard_cluster.apiserver.kinds.new_objects import prepare_create

BORN = "2023-11-14T22:13:20Z"


def created(kind: str, **fields: Any) -> dict[str, Any]:
    obj = {"kind": kind, "apiVersion": "v1", "metadata": {"creationTimestamp": BORN}, **fields}
    defaults.apply_defaults(kind, obj)
    prepare_create(kind, obj)
    return obj


def test_spec_and_status_are_there_even_when_empty() -> None:
    assert created("Service")["status"] == {}
    assert "spec" not in created("ConfigMap")


def test_a_node_is_not_ready_until_its_kubelet_says_so() -> None:
    not_ready = {"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}
    other = {"key": "node.kubernetes.io/not-ready", "effect": "NoExecute"}
    assert created("Node")["spec"]["taints"] == [not_ready]
    assert created("Node", spec={"taints": [other]})["spec"]["taints"] == [other, not_ready]
    assert created("Node", spec={"taints": [not_ready]})["spec"]["taints"] == [not_ready]


def test_a_node_says_what_it_is_even_before_anybody_knows() -> None:
    assert created("Node")["status"]["daemonEndpoints"] == {"kubeletEndpoint": {"Port": 0}}
    assert set(created("Node")["status"]["nodeInfo"].values()) == {""}
    known = {"nodeInfo": {"osImage": "x"}}
    assert created("Node", status=known)["status"]["nodeInfo"] == {"osImage": "x"}


def test_a_job_selects_its_pods_by_its_own_uid() -> None:
    job: JSON = {
        "metadata": {"name": "train", "uid": "u1"},
        "spec": {"template": {"metadata": {"labels": {"a": "b"}}}},
    }
    prepare_create("Job", job)
    mark = {"batch.kubernetes.io/controller-uid": "u1"}
    assert job["spec"]["selector"] == {"matchLabels": mark}
    labels = job["spec"]["template"]["metadata"]["labels"]
    assert (
        labels
        == {"a": "b", "job-name": "train", "controller-uid": "u1", "batch.kubernetes.io/job-name": "train"}
        | mark
    )
    assert job["metadata"]["labels"] == labels


def test_a_job_may_bring_its_own_selector() -> None:
    job: JSON = {
        "metadata": {"name": "t", "uid": "u"},
        "spec": {"manualSelector": True, "selector": {"matchLabels": {}}},
    }
    prepare_create("Job", job)
    assert job["spec"]["selector"] == {"matchLabels": {}}
