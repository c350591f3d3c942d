import dataclasses
from collections.abc import Mapping

import pytest

from gpuyard.pods.fit import NodeFit, PodFit, check, preference
from gpuyard.verdicts import Reason
from gpuyard.writes import JSON
from tests.gpuyard.builders import pod

ALLOCATABLE = {"cpu": "4", "memory": "8Gi", "pods": "10", "nvidia.com/gpu": "2"}


def node(
    spec: JSON | None = None, *, labels: Mapping[str, str] | None = None, ready: str = "True"
) -> NodeFit:
    return NodeFit.of(
        {
            "metadata": {"name": "node-1", "labels": labels},
            "spec": spec or {},
            "status": {"allocatable": ALLOCATABLE, "conditions": [{"type": "Ready", "status": ready}]},
        }
    )


def reasons(of: JSON, on: NodeFit, used: Mapping[str, int] | None = None) -> list[tuple[Reason, str]]:
    return [(found.reason, found.text) for found in check(PodFit.of(of), on, used or {})]


def affinity(*terms: JSON) -> JSON:
    required = {"nodeSelectorTerms": list(terms)}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}


def having(key: str) -> JSON:
    return {"matchExpressions": [{"key": key, "operator": "Exists"}]}


def test_a_pod_that_takes_exactly_what_is_left_fits() -> None:
    taken = {"cpu": 3000, "memory": 7 * 2**30, "pods": 9, "nvidia.com/gpu": 1}
    assert reasons(pod(limits={"cpu": "1", "memory": "1Gi", "nvidia.com/gpu": "1"}), node(), taken) == []


def test_every_resource_that_is_short_is_named() -> None:
    asking = pod(limits={"cpu": "5", "memory": "1Gi", "nvidia.com/gpu": "1", "example.com/none": "1"})
    found = check(PodFit.of(asking), node(), {"nvidia.com/gpu": 2, "pods": 10})
    assert [(short.text, short.resource) for short in found] == [
        ("Insufficient cpu", "cpu"),
        ("Insufficient example.com/none", "example.com/none"),
        ("Insufficient nvidia.com/gpu", "nvidia.com/gpu"),
        ("Too many pods", "pods"),
    ]
    assert {short.reason for short in found} == {Reason.INSUFFICIENT_RESOURCES}


def test_asking_for_nothing_fits_an_overbooked_node() -> None:
    asking = dataclasses.replace(PodFit.of(pod()), requests={"cpu": 0})
    assert check(asking, node(), {"cpu": 99_000}) == ()


def test_a_cordoned_node_is_refused_unless_tolerated() -> None:
    cordoned = node({"unschedulable": True})
    assert reasons(pod(), cordoned) == [(Reason.NODE_NOT_READY, "node(s) were unschedulable")]
    assert reasons(pod(tolerations=[{"operator": "Exists"}]), cordoned) == []


@pytest.mark.parametrize("condition", ["False", "Unknown"])
def test_a_node_that_is_not_ready_is_refused_unless_tolerated(condition: str) -> None:
    assert reasons(pod(), node(ready=condition)) == [
        (Reason.NODE_NOT_READY, "node(s) had untolerated taint(s)")
    ]
    tolerating = pod(tolerations=[{"key": "node.kubernetes.io/not-ready", "operator": "Exists"}])
    assert reasons(tolerating, node(ready=condition)) == []


def test_a_taint_is_refused_and_a_soft_one_is_not() -> None:
    hard = {"key": "team", "value": "a", "effect": "NoSchedule"}
    assert reasons(pod(), node({"taints": [hard]})) == [
        (Reason.TAINT_NOT_TOLERATED, "node(s) had untolerated taint(s)")
    ]
    assert reasons(pod(), node({"taints": [{**hard, "effect": "PreferNoSchedule"}]})) == []
    assert reasons(pod(), node({"taints": [{"key": "node.kubernetes.io/unreachable"}]}))[0][0] is (
        Reason.NODE_NOT_READY
    )


def test_a_pod_for_another_node_is_refused() -> None:
    assert reasons(pod(nodeName="node-2"), node())[0] == (
        Reason.NODE_AFFINITY_MISMATCH,
        "node(s) didn't match the requested node name",
    )
    assert reasons(pod(nodeName="node-1"), node()) == []


def test_node_selector_and_one_of_the_affinity_terms_must_match() -> None:
    labelled = node(labels={"rack": "1"})
    mismatch = [(Reason.NODE_AFFINITY_MISMATCH, "node(s) didn't match Pod's node affinity/selector")]
    assert reasons(pod(nodeSelector={"rack": "1"}), labelled) == []
    assert reasons(pod(nodeSelector={"rack": "2"}), labelled) == mismatch
    assert reasons(pod(affinity=affinity(having("none"), having("rack"))), labelled) == []
    assert reasons(pod(affinity=affinity(having("none"))), labelled) == mismatch
    assert reasons(pod(affinity=affinity()), labelled) == mismatch


def test_the_first_refusing_plugin_ends_the_check() -> None:
    hopeless = node({"unschedulable": True, "taints": [{"key": "a", "effect": "NoExecute"}]}, ready="False")
    asking = pod(limits={"cpu": "99"}, nodeSelector={"a": "b"}, nodeName="node-2")
    assert [text for _, text in reasons(asking, hopeless)] == ["node(s) were unschedulable"]


def test_preferred_terms_add_their_weights() -> None:
    preferred = [{"weight": 10, "preference": having("rack")}, {"weight": 5, "preference": having("none")}]
    wish = {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [*preferred, preferred[0]]}}
    assert preference(PodFit.of(pod(affinity=wish)), node(labels={"rack": "1"})) == 20


def test_objects_without_anything_are_read() -> None:
    assert NodeFit.of({}).ready
    assert [short.text for short in check(PodFit.of({}), NodeFit.of({}), {})] == ["Too many pods"]
