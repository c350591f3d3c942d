"""MutatingAdmissionPolicy and ValidatingAdmissionPolicy of admissionregistration.k8s.io/v1.

Stands for `k8s.io/apiserver/pkg/admission/plugin/policy`. Both functions take the policies and bindings as they
are stored, which `rules.policies` has let in.
"""

from collections.abc import Iterator, Sequence

from gpuyard.writes import JSON
from gpuyard_cluster.apiserver.admission.apply_configuration import compile_literal, merge
from gpuyard_cluster.apiserver.admission.cel import Expression, Failure, compile_text, holds
from gpuyard_cluster.apiserver.admission.policy_matching import (
    VARIABLES,
    Attributes,
    matches,
    meets_conditions,
    variables_for,
)
from gpuyard_cluster.apiserver.changes import shapes
from gpuyard_cluster.apiserver.changes.shapes import Shape
from gpuyard_cluster.apiserver.errors import ApiError, about

_CODES = {"Unauthorized": 401, "Forbidden": 403, "Invalid": 422, "RequestEntityTooLarge": 413}


def mutate(policies: Sequence[JSON], bindings: Sequence[JSON], attributes: Attributes, obj: JSON) -> JSON:
    """The object as all policies want it; ApiError when one that must not fail does. `obj` is not changed."""
    for policy, binding in _bound(policies, bindings, attributes, obj):
        variables = variables_for(policy, attributes, obj)
        outcome = _mutated(policy, attributes, obj, variables)
        if isinstance(outcome, Failure):
            if policy["spec"].get("failurePolicy") != "Ignore":
                raise _denied(policy, binding, attributes, outcome.message)
            continue
        obj = outcome
    return obj


def validate(
    policies: Sequence[JSON], bindings: Sequence[JSON], attributes: Attributes, obj: JSON | None
) -> None:
    """ApiError when a policy denies the write; `obj` is None for a deletion."""
    for policy, binding in _bound(policies, bindings, attributes, obj):
        if "Deny" not in binding["spec"].get("validationActions", ()):
            continue
        variables = variables_for(policy, attributes, obj)
        conditions = meets_conditions(policy["spec"].get("matchConditions", ()), variables)
        if isinstance(conditions, Failure):
            _fail(policy, binding, attributes, conditions)
        elif conditions:
            for rule in policy["spec"].get("validations", ()):
                _require(rule, policy, binding, attributes, variables)


def _bound(
    policies: Sequence[JSON], bindings: Sequence[JSON], attributes: Attributes, obj: JSON | None
) -> Iterator[tuple[JSON, JSON]]:
    """The policies that cover a write, each with the binding that puts it into force, in the order of names."""
    for policy in sorted(policies, key=lambda policy: str(policy["metadata"]["name"])):
        for binding in sorted(bindings, key=lambda binding: str(binding["metadata"]["name"])):
            wanted = binding["spec"].get("policyName") == policy["metadata"]["name"]
            if (
                wanted
                and matches(policy["spec"].get("matchConstraints", {}), attributes, obj)
                and matches(binding["spec"].get("matchResources", {}), attributes, obj)
            ):
                yield policy, binding


def _mutated(policy: JSON, attributes: Attributes, obj: JSON, variables: JSON) -> JSON | Failure:
    conditions = meets_conditions(policy["spec"].get("matchConditions", ()), variables)
    if conditions is not True:
        return obj if conditions is False else conditions
    for mutation in policy["spec"].get("mutations", ()):
        literal = compile_literal(mutation["applyConfiguration"]["expression"], VARIABLES)
        config = literal if isinstance(literal, Failure) else literal({**variables, "object": obj})
        outcome = config if isinstance(config, Failure) else merge(obj, config, _shape(attributes))
        if isinstance(outcome, Failure):
            return outcome
        obj = outcome
    return obj


def _shape(attributes: Attributes) -> Shape:
    resource = attributes.resource
    if resource.schema is not None:
        return shapes.of_schema(resource.schema.document)
    return shapes.of_kind(resource.api_version, resource.kind) or shapes.LOOSE


def _require(rule: JSON, policy: JSON, binding: JSON, attributes: Attributes, variables: JSON) -> None:
    compiled = compile_text(rule["expression"], VARIABLES)
    outcome = compiled if isinstance(compiled, Failure) else holds(compiled, variables)
    if isinstance(outcome, Failure):
        _fail(policy, binding, attributes, outcome)
    elif not outcome:
        message = _message(rule, variables)
        raise _denied(policy, binding, attributes, message, rule.get("reason", "Invalid"))


def _message(rule: JSON, variables: JSON) -> str:
    composed = compile_text(rule["messageExpression"], VARIABLES) if "messageExpression" in rule else None
    text = composed.evaluate(variables) if isinstance(composed, Expression) else None
    return (
        text if isinstance(text, str) else rule.get("message") or f"failed expression: {rule['expression']}"
    )


def _fail(policy: JSON, binding: JSON, attributes: Attributes, failure: Failure) -> None:
    if policy["spec"].get("failurePolicy") != "Ignore":
        raise _denied(policy, binding, attributes, failure.message)


def _denied(
    policy: JSON, binding: JSON, attributes: Attributes, why: str, reason: str = "Invalid"
) -> ApiError:
    kind, name, by = policy["kind"], policy["metadata"]["name"], binding["metadata"]["name"]
    told = f"{kind} '{name}' with binding '{by}' denied request: {why}"
    resource = attributes.resource.qualified
    details = {**about(resource, attributes.name), "causes": [{"message": told}]}
    message = f'{resource} "{attributes.name}" is forbidden: {told}'
    return ApiError(_CODES.get(reason, 422), reason, message, details)
