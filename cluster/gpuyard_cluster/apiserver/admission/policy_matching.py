"""Which writes an admission policy is about.

Stands for `k8s.io/apiserver/pkg/admission/plugin/policy/matching` and `.../webhook/matchconditions`.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from gpuyard.writes import JSON
from gpuyard_cluster.apiserver.admission.cel import Failure, compile_text, holds
from gpuyard_cluster.apiserver.auth.users import ADMIN, User
from gpuyard_cluster.apiserver.kinds.resources import Resource
from gpuyard_cluster.apiserver.selection import label_selectors

VARIABLES = frozenset({"object", "oldObject", "request", "namespaceObject", "variables"})
"""What an expression of a policy may read."""


@dataclass(frozen=True, slots=True)
class Attributes:
    """A write under admission. `operation` is CREATE, UPDATE, DELETE or CONNECT; `old` is what is stored."""

    operation: str
    resource: Resource
    subresource: str = ""
    name: str = ""
    namespace: str = ""
    namespace_object: JSON | None = None
    old: JSON | None = None
    user: User = ADMIN
    dry_run: bool = False

    def request(self) -> JSON:
        """The `request` that expressions see."""
        resource = self.resource
        typed = {"group": resource.group, "version": resource.version}
        part = resource.subresource(self.subresource)
        kind = typed | {"kind": resource.kind}
        if part is not None and part.kind != resource.kind:
            kind = {"group": part.group, "version": part.version, "kind": part.kind}
        return {
            "kind": kind,
            "resource": typed | {"resource": resource.plural},
            "subResource": self.subresource,
            "name": self.name,
            "namespace": self.namespace,
            "operation": self.operation,
            "userInfo": self.user.info(),
            "dryRun": self.dry_run,
        }


def matches(constraints: JSON, attributes: Attributes, obj: JSON | None) -> bool:
    """Whether matchConstraints, or a binding's matchResources, cover a write of `obj`."""
    if not _selected(constraints, attributes, obj):
        return False
    if any(_covers(rule, attributes) for rule in constraints.get("excludeResourceRules", ())):
        return False
    rules = constraints.get("resourceRules")
    return rules is None or any(_covers(rule, attributes) for rule in rules)


def meets_conditions(conditions: Iterable[JSON], variables: Mapping[str, Any]) -> bool | Failure:
    """Whether every matchCondition holds; a Failure when none is false and one has no value."""
    outcomes = [_outcome(condition["expression"], variables) for condition in conditions]
    if any(outcome is False for outcome in outcomes):
        return False
    return next((outcome for outcome in outcomes if isinstance(outcome, Failure)), True)


def variables_for(policy: JSON, attributes: Attributes, obj: JSON | None) -> JSON:
    """The variables that a policy's expressions read. One of `spec.variables` that has no value is left out."""
    known: JSON = {
        "object": obj,
        "oldObject": attributes.old,
        "request": attributes.request(),
        "namespaceObject": attributes.namespace_object,
        "variables": {},
    }
    for variable in policy["spec"].get("variables", ()):
        compiled = compile_text(variable["expression"], VARIABLES)
        value = compiled if isinstance(compiled, Failure) else compiled.evaluate(known)
        if not isinstance(value, Failure):
            known["variables"] = {**known["variables"], variable["name"]: value}
    return known


def _outcome(text: str, variables: Mapping[str, Any]) -> bool | Failure:
    compiled = compile_text(text, VARIABLES)
    return compiled if isinstance(compiled, Failure) else holds(compiled, dict(variables))


def _covers(rule: JSON, attributes: Attributes) -> bool:
    resource = attributes.resource
    scope = rule.get("scope", "*")
    names = rule.get("resourceNames")
    return (
        _listed(rule, "operations", attributes.operation)
        and _listed(rule, "apiGroups", resource.group)
        and _listed(rule, "apiVersions", resource.version)
        and any(_is_resource(text, attributes) for text in rule.get("resources", ()))
        and (scope == "*" or (scope == "Namespaced") == resource.namespaced)
        and (not names or attributes.name in names)
    )


def _listed(rule: JSON, field: str, value: str) -> bool:
    choices = rule.get(field, ())
    return "*" in choices or value in choices


def _is_resource(text: str, attributes: Attributes) -> bool:
    """`pods`, `pods/status`, `pods/*`, `*/status`, `*` (no subresource), `*/*`."""
    name, _, part = text.partition("/")
    return name in ("*", attributes.resource.plural) and part in (
        attributes.subresource,
        "*" if part == "*" else attributes.subresource,
    )


def _selected(constraints: JSON, attributes: Attributes, obj: JSON | None) -> bool:
    """Whether both selectors choose the write: the new or the old object is enough."""
    namespace = obj if attributes.resource.kind == "Namespace" else attributes.namespace_object
    wanted = constraints.get("namespaceSelector") or {}
    if wanted and namespace is not None and not label_selectors.matches(wanted, _labels(namespace)):
        return False
    selector = constraints.get("objectSelector") or {}
    objects = [found for found in (obj, attributes.old) if found is not None]
    return not selector or any(label_selectors.matches(selector, _labels(found)) for found in objects)


def _labels(obj: JSON) -> Mapping[str, str]:
    labels: Mapping[str, str] = obj.get("metadata", {}).get("labels") or {}
    return labels
