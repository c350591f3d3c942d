from typing import Any

import pytest

from gpuyard_cluster.apiserver.rules.placement import placement_faults, taint_faults

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def affinity(*expressions: dict[str, Any]) -> dict[str, Any]:
    terms = [{"matchExpressions": list(expressions)}]
    return {"affinity": {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": terms}}}}


@pytest.mark.parametrize(
    ("spec", "field"),
    [
        ({"nodeSelector": {"a": "-"}}, "spec.nodeSelector"),
        ({"tolerations": [{"key": "a b", "operator": "Exists"}]}, "spec.tolerations[0].key"),
        ({"schedulingGates": [{"name": "a b"}]}, "spec.schedulingGates[0]"),
    ],
)
def test_an_impossible_wish_is_told_by_field(spec: dict[str, Any], field: str) -> None:
    assert field in {cause.field for cause in placement_faults(spec, "spec")}


def test_ordinary_wishes_pass() -> None:
    spec = {
        "nodeSelector": {"zone": "a"},
        "tolerations": [{"key": "x", "operator": "Exists", "effect": "NoSchedule"}, {"operator": "Exists"}],
        "schedulingGates": [{"name": "example.com/a"}, {"name": "example.com/b"}],
        **affinity({"key": "a", "operator": "In", "values": ["b"]}, {"key": "c", "operator": "Exists"}),
    }
    assert not list(placement_faults(spec, "spec"))


def test_a_taint_has_a_key_and_a_known_effect_and_comes_once() -> None:
    good = {"key": "gpu", "value": "true", "effect": "NoSchedule"}
    assert not list(taint_faults([good, good | {"effect": "NoExecute"}], "t"))
    bad = [{"key": "gpu", "effect": "Sometimes"}, {"key": "x"}, good, good]
    assert {cause.field for cause in taint_faults(bad, "t")} == {"t[0].effect", "t[1].effect", "t[3]"}
