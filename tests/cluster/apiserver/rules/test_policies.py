from typing import Any

import pytest

from gpuyard_cluster.apiserver.rules.policies import binding_faults, policy_faults

CONSTRAINTS = {
    "resourceRules": [{"operations": ["*"], "apiGroups": ["*"], "apiVersions": ["*"], "resources": ["*"]}]
}
GOOD = {"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": "Object{}"}}


def mutating(**spec: Any) -> set[str]:
    known = {"matchConstraints": CONSTRAINTS, "reinvocationPolicy": "Never", "mutations": [GOOD]}
    return {
        cause.field for cause in policy_faults({"kind": "MutatingAdmissionPolicy", "spec": {**known, **spec}})
    }


def validating(**spec: Any) -> set[str]:
    known = {"matchConstraints": CONSTRAINTS, "validations": [{"expression": "true"}]}
    return {
        cause.field
        for cause in policy_faults({"kind": "ValidatingAdmissionPolicy", "spec": {**known, **spec}})
    }


def test_good_policies_pass() -> None:
    assert mutating() == validating() == set()


@pytest.mark.parametrize(
    ("spec", "field"),
    [
        ({"matchConstraints": {}}, "spec.matchConstraints.resourceRules"),
        ({"paramKind": {"kind": "ConfigMap"}}, "spec.paramKind"),
        ({"matchConditions": [{"name": "a", "expression": "frob()"}]}, "spec.matchConditions[0].expression"),
        ({"matchConditions": [{"expression": "true"}]}, "spec.matchConditions[0].name"),
        ({"variables": [{"name": "a", "expression": "1 +"}]}, "spec.variables[0].expression"),
        ({"reinvocationPolicy": ""}, "spec.reinvocationPolicy"),
        ({"mutations": []}, "spec.mutations"),
        ({"mutations": [{"patchType": "JSONPatch"}]}, "spec.mutations[0].patchType"),
        (
            {"mutations": [{"patchType": "ApplyConfiguration"}]},
            "spec.mutations[0].applyConfiguration.expression",
        ),
        (
            {"mutations": [{**GOOD, "applyConfiguration": {"expression": "object"}}]},
            "spec.mutations[0].applyConfiguration.expression",
        ),
    ],
)
def test_a_mutating_policy_that_cannot_be_evaluated_is_refused(spec: dict[str, Any], field: str) -> None:
    assert field in mutating(**spec)


@pytest.mark.parametrize(
    ("spec", "field"),
    [
        ({"validations": []}, "spec.validations"),
        ({"validations": [{"expression": " "}]}, "spec.validations[0].expression"),
        ({"validations": [{"expression": "params.x"}]}, "spec.validations[0].expression"),
        (
            {"validations": [{"expression": "true", "messageExpression": "1 +"}]},
            "spec.validations[0].messageExpression",
        ),
    ],
)
def test_a_validating_policy_that_cannot_be_evaluated_is_refused(spec: dict[str, Any], field: str) -> None:
    assert field in validating(**spec)


def test_a_binding_names_its_policy_and_what_follows() -> None:
    kind = "ValidatingAdmissionPolicyBinding"
    bad = binding_faults({"kind": kind, "spec": {"paramRef": {"name": "x"}}})
    assert {cause.field for cause in bad} == {"spec.policyName", "spec.paramRef", "spec.validationActions"}
    assert not binding_faults({"kind": kind, "spec": {"policyName": "a", "validationActions": ["Deny"]}})
    assert not binding_faults({"kind": "MutatingAdmissionPolicyBinding", "spec": {"policyName": "a"}})
