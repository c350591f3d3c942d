"""Existing pods as pods to create."""

import pytest

from gpuyard import vocabulary
from gpuyard.writes import JSON
from gpuyard_cli.imported import pods
from gpuyard_cli.imported.notes import Notes

CONTAINER: JSON = {"name": "c", "image": "x", "resources": {"limits": {"nvidia.com/gpu": "1"}}}


def pod(node: str | None = "n", **metadata: object) -> JSON:
    return {
        "kind": "Pod",
        "metadata": {"name": "p", "namespace": "s", "uid": "1", "resourceVersion": "7", **metadata},
        "spec": {"containers": [CONTAINER], **({"nodeName": node} if node else {})},
        "status": {"phase": "Running"},
    }


def read(found: JSON) -> tuple[JSON | None, str]:
    notes = Notes()
    return pods.imported(found, {"n"}, {("s", "known")}, notes), "\n".join(notes.lines())


def test_a_pod_stays_where_it_is_without_what_only_its_old_cluster_knows() -> None:
    found, said = read(pod(labels={"a": "b"}, ownerReferences=[{"kind": "Job"}]))
    assert found == {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p", "namespace": "s", "labels": {"a": "b"}, "annotations": {}},
        "spec": {"containers": [CONTAINER], "nodeName": "n"},
    }
    assert "their owners are not imported: s/p" in said
    assert "which ones they held is not known: s/p" in said


def test_a_plan_of_ours_tells_which_gpus_a_pod_holds() -> None:
    plan = {"gpuyard.io/allocation": "{}"}
    found, said = read(pod(annotations={**plan, "kubernetes.io/config.mirror": "1", "gpuyard.io/woken": "2"}))
    assert found is not None
    assert (found["metadata"]["annotations"], said) == (plan, "")


def test_a_pod_that_waits_still_waits() -> None:
    found, said = read(pod(node=None))
    assert found is not None
    assert ("nodeName" in found["spec"], said) == (False, "")


def test_a_member_of_a_gang_is_said_to_lack_its_group() -> None:
    _, said = read(pod(node=None, labels={vocabulary.POD_GROUP: "gang"}))
    assert said == "members of gangs whose PodGroup is not in the file: apply it, too: s/p"
    assert read(pod(node=None, labels={vocabulary.POD_GROUP: "known"}))[1] == ""


@pytest.mark.parametrize(
    ("found", "why"),
    [
        (pod() | {"status": {"phase": "Succeeded"}}, "pods that have ended are left out: s/p"),
        (pod(deletionTimestamp="2026-01-01T00:00:00Z"), "pods that are being deleted are left out: s/p"),
        (pod(node="elsewhere"), "pods on nodes that are not in the file are left out: s/p"),
    ],
)
def test_a_pod_that_cannot_live_on_is_left_out_and_named(found: JSON, why: str) -> None:
    assert read(found) == (None, why)


def test_a_priority_class_comes_from_those_who_have_it() -> None:
    found = pod()
    assert pods.priority_class(found) is None
    found["spec"] |= {"priorityClassName": "high", "priority": 9}
    assert pods.priority_class(found) == {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": "high"},
        "value": 9,
        "preemptionPolicy": "PreemptLowerPriority",
    }
    found["spec"]["priorityClassName"] = "system-node-critical"
    assert pods.priority_class(found) is None
