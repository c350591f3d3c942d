from typing import Any

import pytest

from gpuyard_cluster.apiserver.admission import policies
from gpuyard_cluster.apiserver.admission.policy_matching import Attributes
from gpuyard_cluster.apiserver.errors import ApiError
from gpuyard_cluster.apiserver.kinds.builtin import BUILTIN

PODS = next(resource for resource in BUILTIN if resource.qualified == "pods")
ATTRIBUTES = Attributes("CREATE", PODS, name="p", namespace="n")
RULES = [{"operations": ["CREATE"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"]}]
GROUPED = {
    "name": "grouped",
    "expression": "has(object.metadata.labels) && 'group' in object.metadata.labels",
}
UNPLACED = {"name": "unplaced", "expression": "!has(object.spec.nodeName)"}
GATE = 'Object{spec: Object.spec{schedulingGates: [Object.spec.schedulingGates{name: "x/gang"}]}}'
GROUPED_POD = {"metadata": {"name": "p", "labels": {"group": "g"}}, "spec": {}}


def policy(kind: str, name: str = "gate", **spec: Any) -> dict[str, Any]:
    constraints = {"matchConstraints": {"resourceRules": RULES}}
    return {
        "kind": kind,
        "metadata": {"name": name},
        "spec": {**constraints, "failurePolicy": "Fail", **spec},
    }


def gate(**spec: Any) -> dict[str, Any]:
    mutation = {"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": GATE}}
    fields = {"matchConditions": [GROUPED, UNPLACED], "mutations": [mutation], **spec}
    return policy("MutatingAdmissionPolicy", **fields)


def rule(expression: str, **spec: Any) -> dict[str, Any]:
    name = spec.pop("name", "rule")
    message = {"expression": expression, "message": "no", **spec.pop("more", {})}
    return policy("ValidatingAdmissionPolicy", name, validations=[message], **spec)


def binding(name: str = "gate", **spec: Any) -> dict[str, Any]:
    return {"metadata": {"name": f"{name}-binding"}, "spec": {"policyName": name, **spec}}


def mutated(obj: dict[str, Any], *policies_: dict[str, Any]) -> dict[str, Any]:
    return policies.mutate(policies_ or [gate()], [binding()], ATTRIBUTES, obj)


def denied(
    obj: dict[str, Any] | None, *rules: dict[str, Any], actions: tuple[str, ...] = ("Deny",)
) -> ApiError | None:
    try:
        policies.validate(rules, [binding("rule", validationActions=list(actions))], ATTRIBUTES, obj)
    except ApiError as error:
        return error
    return None


def test_the_members_of_a_group_are_gated_and_nobody_else() -> None:
    assert mutated(GROUPED_POD)["spec"] == {"schedulingGates": [{"name": "x/gang"}]}
    assert GROUPED_POD["spec"] == {}
    for other in (
        {"metadata": {"labels": {"other": "1"}}, "spec": {}},
        {"metadata": {}, "spec": {}},
        {"metadata": {"labels": {"group": "g"}}, "spec": {"nodeName": "n1"}},
    ):
        assert mutated(other) is other


def test_a_policy_without_binding_does_nothing() -> None:
    assert policies.mutate([gate()], [binding("other")], ATTRIBUTES, GROUPED_POD) is GROUPED_POD


def test_a_policy_that_fails_stops_the_write_unless_it_may_be_ignored() -> None:
    broken = [{"name": "broken", "expression": "object.missing == 1"}]
    with pytest.raises(ApiError, match="'gate' with binding 'gate-binding' denied request") as refusal:
        mutated(GROUPED_POD, gate(matchConditions=broken))
    assert refusal.value.code == 422
    assert mutated(GROUPED_POD, gate(matchConditions=broken, failurePolicy="Ignore")) is GROUPED_POD


def test_a_rule_that_does_not_hold_denies_the_write() -> None:
    assert denied(GROUPED_POD, rule("object.metadata.name == 'p'")) is None
    error = denied(GROUPED_POD, rule("object.metadata.name == 'q'"))
    assert error is not None
    assert (error.code, error.reason) == (422, "Invalid")
    assert error.message == (
        "pods \"p\" is forbidden: ValidatingAdmissionPolicy 'rule' with binding 'rule-binding' denied request: no"
    )


def test_a_rule_chooses_its_reason_and_composes_its_message() -> None:
    more = {"reason": "Forbidden", "messageExpression": "'not ' + object.metadata.name"}
    error = denied(GROUPED_POD, rule("false", more=more))
    assert error is not None
    assert (error.code, error.reason) == (403, "Forbidden")
    assert error.message.endswith("denied request: not p")
    bare = denied(GROUPED_POD, rule("false", more={"message": ""}))
    assert bare is not None
    assert bare.message.endswith("failed expression: false")


def test_warnings_and_audits_deny_nothing() -> None:
    assert denied(GROUPED_POD, rule("false"), actions=("Warn", "Audit")) is None


def test_a_rule_that_errs_denies_unless_it_may_be_ignored() -> None:
    assert denied(GROUPED_POD, rule("object.missing")) is not None
    assert denied(GROUPED_POD, rule("object.missing", failurePolicy="Ignore")) is None
    unmatched = [{"name": "c", "expression": "false"}]
    assert denied(GROUPED_POD, rule("object.missing", matchConditions=unmatched)) is None


def test_a_deletion_has_no_object() -> None:
    assert denied(None, rule("object == null")) is None


def test_policies_act_in_the_order_of_their_names() -> None:
    first, second = rule("false", name="a"), rule("false", name="b")
    bindings = [binding(name, validationActions=["Deny"]) for name in "ba"]
    with pytest.raises(ApiError, match="'a' with binding"):
        policies.validate([second, first], bindings, ATTRIBUTES, GROUPED_POD)
