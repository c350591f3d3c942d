"""Admission policies and their bindings.

Stands for `ValidateMutatingAdmissionPolicy` and `ValidateValidatingAdmissionPolicy`. Law: a policy that this server
cannot evaluate exactly (params, JSONPatch mutations, CEL beyond `cel`) is refused here, never ignored afterwards.
"""

from collections.abc import Iterator

from gpuyard.writes import JSON
from gpuyard_cluster.apiserver.admission.apply_configuration import compile_literal
from gpuyard_cluster.apiserver.admission.cel import Failure, compile_text
from gpuyard_cluster.apiserver.admission.policy_matching import VARIABLES
from gpuyard_cluster.apiserver.errors import Cause
from gpuyard_cluster.apiserver.rules import causes
from gpuyard_cluster.apiserver.rules.selectors import selector_faults


def policy_faults(policy: JSON) -> list[Cause]:
    """Every fault of a policy of either kind."""
    spec = policy.get("spec", {})
    found = list(_common_faults(spec))
    mutating = policy.get("kind") == "MutatingAdmissionPolicy"
    return found + list(_mutation_faults(spec) if mutating else _validation_faults(spec))


def binding_faults(binding: JSON) -> list[Cause]:
    """Every fault of a binding of either kind."""
    spec = binding.get("spec", {})
    found = [] if spec.get("policyName") else [causes.required("spec.policyName")]
    found += _selector_faults(spec.get("matchResources", {}), "spec.matchResources")
    if "paramRef" in spec:
        found.append(causes.forbidden("spec.paramRef", "the embedded API server has no policy parameters"))
    if binding.get("kind") == "ValidatingAdmissionPolicyBinding" and not spec.get("validationActions"):
        found.append(causes.required("spec.validationActions", "at least one validation action is required"))
    return found


def _common_faults(spec: JSON) -> Iterator[Cause]:
    yield from _selector_faults(spec.get("matchConstraints", {}), "spec.matchConstraints")
    if not spec.get("matchConstraints", {}).get("resourceRules"):
        yield causes.required("spec.matchConstraints.resourceRules")
    if "paramKind" in spec:
        yield causes.forbidden("spec.paramKind", "the embedded API server has no policy parameters")
    for field in ("matchConditions", "variables"):
        for index, part in enumerate(spec.get(field, ())):
            if not part.get("name"):
                yield causes.required(f"spec.{field}[{index}].name")
            yield from _expression_faults(part, "expression", f"spec.{field}[{index}]")


def _selector_faults(constraints: JSON, path: str) -> Iterator[Cause]:
    for field in ("namespaceSelector", "objectSelector"):
        yield from selector_faults(constraints.get(field, {}), f"{path}.{field}")


def _mutation_faults(spec: JSON) -> Iterator[Cause]:
    if spec.get("reinvocationPolicy") not in ("Never", "IfNeeded"):
        supported = ("IfNeeded", "Never")
        yield causes.unsupported("spec.reinvocationPolicy", spec.get("reinvocationPolicy", ""), supported)
    if not spec.get("mutations"):
        yield causes.required("spec.mutations", "mutations must contain at least one item")
    for index, mutation in enumerate(spec.get("mutations", ())):
        path = f"spec.mutations[{index}]"
        text = mutation.get("applyConfiguration", {}).get("expression")
        if mutation.get("patchType") != "ApplyConfiguration":
            yield causes.unsupported(
                f"{path}.patchType", mutation.get("patchType", ""), ("ApplyConfiguration",)
            )
        elif not text:
            yield causes.required(f"{path}.applyConfiguration.expression")
        elif isinstance(found := compile_literal(text, VARIABLES), Failure):
            yield causes.invalid(f"{path}.applyConfiguration.expression", text, found.message)


def _validation_faults(spec: JSON) -> Iterator[Cause]:
    if not spec.get("validations"):
        detail = "validations or auditAnnotations must contain at least one item"
        yield causes.required("spec.validations", detail)
    for index, rule in enumerate(spec.get("validations", ())):
        yield from _expression_faults(rule, "expression", f"spec.validations[{index}]")
        if "messageExpression" in rule:
            yield from _expression_faults(rule, "messageExpression", f"spec.validations[{index}]")


def _expression_faults(owner: JSON, field: str, path: str) -> Iterator[Cause]:
    text = owner.get(field, "").strip()
    if not text:
        yield causes.required(f"{path}.{field}", f"{field} is not specified")
    elif isinstance(found := compile_text(owner[field], VARIABLES), Failure):
        yield causes.invalid(f"{path}.{field}", owner[field], found.message)
