import copy
from typing import Any

from gpuyard_cluster.apiserver.rules.pod_updates import update_faults

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
GATES = [{"name": "x.y/a"}, {"name": "x.y/b"}]


def pod(**spec: Any) -> dict[str, Any]:
    return {"spec": {"containers": [{"name": "main", "image": "app:1"}], **spec}}


def affinity(*expressions: tuple[str, list[str]], **others: Any) -> dict[str, Any]:
    matches = [{"key": key, "operator": "In", "values": values} for key, values in expressions]
    terms = {"nodeSelectorTerms": [{"matchExpressions": matches}]}
    return {"nodeAffinity": {REQUIRED: terms}, **others}


def messages(old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    return [f"{cause.field}: {cause.message}" for cause in update_faults(old, new)]


def test_tolerations_stay_and_a_deadline_only_comes_nearer() -> None:
    old = pod(tolerations=[{"key": "kept"}], activeDeadlineSeconds=60)
    assert "existing toleration can not be modified" in messages(old, pod(activeDeadlineSeconds=60))[0]
    assert "less than or equal to previous" in messages(old, pod(**old["spec"]) | {
        "spec": {**old["spec"], "activeDeadlineSeconds": 61}
    })[0]  # fmt: skip
    later = pod(tolerations=[{"key": "kept"}])
    assert "positive integer to nil" in messages(old, later)[0]


def test_the_node_selection_of_a_gated_pod_only_becomes_narrower() -> None:
    old = pod(schedulingGates=GATES, nodeSelector={"x": "1"}, affinity=affinity(("zone", ["a", "b"])))

    def change(**spec: Any) -> list[str]:
        new = copy.deepcopy(old)
        new["spec"] |= spec
        return messages(old, new)

    assert not change(nodeSelector={"x": "1", "y": "2"})
    assert not change(affinity=affinity(("zone", ["a", "b"]), ("disk", ["ssd"])))
    assert not change(schedulingGates=[], nodeSelector={"x": "1", "y": "2"})
    for selector in ({"x": "2"}, {"y": "1"}, {}):
        (message,) = change(nodeSelector=selector)
        assert message.startswith("spec.nodeSelector: Invalid value")
        assert "only additions to spec.nodeSelector are allowed" in message
    assert "only additions are allowed" in change(affinity=affinity(("zone", ["c"])))[0]
    assert "no additions/deletions" in change(affinity={})[0]
    assert (
        "pod updates may not change"
        in change(affinity=affinity(("zone", ["a", "b"]), podAffinity={"x": 1}))[0]
    )


def test_a_gated_pod_may_get_its_first_selection() -> None:
    gated = pod(schedulingGates=GATES)
    new = pod(schedulingGates=GATES, nodeSelector={"x": "1"}, affinity=affinity(("zone", ["a"])))
    assert not messages(gated, new)
