"""Where a pod may run: node selector, affinity, tolerations, spread, gates; and the taints of nodes.

Stands for `ValidateNodeSelector`, `validateAffinity`, `ValidateTolerations`, `validateSchedulingGates`,
`validateTopologySpreadConstraints` and `validateNodeTaints`.
"""

from collections.abc import Iterator

from gpuyard.writes import JSON
from gpuyard_cluster.apiserver.errors import Cause
from gpuyard_cluster.apiserver.rules import causes
from gpuyard_cluster.apiserver.rules.containers import one_of
from gpuyard_cluster.apiserver.rules.names import label_faults, label_value_fault, qualified_fault
from gpuyard_cluster.apiserver.rules.selectors import selector_faults

_EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_OPERATORS = ("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt")
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


def placement_faults(spec: JSON, path: str) -> Iterator[Cause]:
    """Faults of everything in a pod spec that says where it may run, and when."""
    yield from label_faults(spec.get("nodeSelector", {}), f"{path}.nodeSelector")
    yield from _tolerations(spec.get("tolerations", []), f"{path}.tolerations")
    yield from _node_affinity(
        spec.get("affinity", {}).get("nodeAffinity", {}), f"{path}.affinity.nodeAffinity"
    )
    for field in ("podAffinity", "podAntiAffinity"):
        yield from _pod_affinity(spec.get("affinity", {}).get(field, {}), f"{path}.affinity.{field}")
    yield from _gates(spec, path)
    for index, constraint in enumerate(spec.get("topologySpreadConstraints", ())):
        place = f"{path}.topologySpreadConstraints[{index}]"
        if constraint.get("maxSkew", 0) < 1:
            yield causes.invalid(
                f"{place}.maxSkew", constraint.get("maxSkew", 0), "must be greater than zero"
            )
        if not constraint.get("topologyKey"):
            yield causes.required(f"{place}.topologyKey", "can not be empty")
        choice = {"whenUnsatisfiable": "", **constraint}
        yield from one_of(choice, "whenUnsatisfiable", ("DoNotSchedule", "ScheduleAnyway"), place)


def taint_faults(taints: list[JSON], path: str) -> Iterator[Cause]:
    """Faults of the taints of a node."""
    seen: set[tuple[str, str]] = set()
    for index, taint in enumerate(taints):
        place, key, effect = f"{path}[{index}]", taint.get("key", ""), taint.get("effect", "")
        yield from _key(key, f"{place}.key")
        if fault := label_value_fault(taint.get("value", "")):
            yield causes.invalid(f"{place}.value", taint["value"], fault)
        if not effect:
            yield causes.required(f"{place}.effect")
        yield from one_of(taint, "effect", _EFFECTS, place)
        if (key, effect) in seen:
            yield causes.duplicate(place, taint)
        seen.add((key, effect))


def _key(key: str, path: str) -> Iterator[Cause]:
    if fault := qualified_fault(key):
        yield causes.invalid(path, key, fault)


def _tolerations(tolerations: list[JSON], path: str) -> Iterator[Cause]:
    for index, toleration in enumerate(tolerations):
        place, key = f"{path}[{index}]", toleration.get("key", "")
        if key:
            yield from _key(key, f"{place}.key")
        elif toleration.get("operator") != "Exists":
            detail = (
                'operator must be Exists when `key` is empty, which means "match all values and all keys"'
            )
            yield causes.invalid(f"{place}.operator", toleration.get("operator", ""), detail)
        if toleration.get("operator") == "Exists" and toleration.get("value"):
            detail = "value must be empty when `operator` is 'Exists'"
            yield causes.invalid(f"{place}.operator", toleration["value"], detail)
        yield from one_of(toleration, "operator", ("Equal", "Exists", "Gt", "Lt", ""), place)
        yield from one_of(toleration, "effect", (*_EFFECTS, ""), place)
        if "tolerationSeconds" in toleration and toleration.get("effect") != "NoExecute":
            detail = "effect must be 'NoExecute' when `tolerationSeconds` is set"
            yield causes.invalid(f"{place}.effect", toleration.get("effect", ""), detail)


def _node_affinity(affinity: JSON, path: str) -> Iterator[Cause]:
    if (required := affinity.get(_REQUIRED)) is not None:
        terms = required.get("nodeSelectorTerms", [])
        if not terms:
            detail = "must have at least one node selector term"
            yield causes.required(f"{path}.{_REQUIRED}.nodeSelectorTerms", detail)
        for index, term in enumerate(terms):
            yield from _term(term, f"{path}.{_REQUIRED}.nodeSelectorTerms[{index}]")
    for index, weighted in enumerate(affinity.get(_PREFERRED, ())):
        place = f"{path}.{_PREFERRED}[{index}]"
        if not 0 < weighted.get("weight", 0) <= 100:
            yield causes.invalid(f"{place}.weight", weighted.get("weight", 0), "must be in the range 1-100")
        yield from _term(weighted.get("preference", {}), f"{place}.preference")


def _term(term: JSON, path: str) -> Iterator[Cause]:
    for index, expression in enumerate(term.get("matchExpressions", ())):
        place, operator = f"{path}.matchExpressions[{index}]", expression.get("operator", "")
        yield from _key(expression.get("key", ""), f"{place}.key")
        values = expression.get("values", [])
        if operator not in _OPERATORS:
            yield causes.invalid(f"{place}.operator", operator, "not a valid selector operator")
        elif operator in ("In", "NotIn") and not values:
            detail = "must be specified when `operator` is 'In' or 'NotIn'"
            yield causes.required(f"{place}.values", detail)
        elif operator in ("Exists", "DoesNotExist") and values:
            detail = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
            yield causes.forbidden(f"{place}.values", detail)
        elif operator in ("Gt", "Lt") and len(values) != 1:
            detail = "must be specified single value when `operator` is 'Lt' or 'Gt'"
            yield causes.required(f"{place}.values", detail)

    for index, match in enumerate(term.get("matchFields", ())):
        if match.get("key") != "metadata.name":
            yield causes.invalid(
                f"{path}.matchFields[{index}].key", match.get("key", ""), "not a valid field selector key"
            )


def _pod_affinity(affinity: JSON, path: str) -> Iterator[Cause]:
    for index, term in enumerate(affinity.get(_REQUIRED, ())):
        yield from _topology(term, f"{path}.{_REQUIRED}[{index}]")
    for index, weighted in enumerate(affinity.get(_PREFERRED, ())):
        place = f"{path}.{_PREFERRED}[{index}]"
        if not 0 < weighted.get("weight", 0) <= 100:
            yield causes.invalid(f"{place}.weight", weighted.get("weight", 0), "must be in the range 1-100")
        yield from _topology(weighted.get("podAffinityTerm", {}), f"{place}.podAffinityTerm")


def _topology(term: JSON, path: str) -> Iterator[Cause]:
    key = term.get("topologyKey", "")
    if not key:
        yield causes.required(f"{path}.topologyKey", "can not be empty")
    yield from _key(key, f"{path}.topologyKey")
    yield from selector_faults(term.get("labelSelector", {}), f"{path}.labelSelector")


def _gates(spec: JSON, path: str) -> Iterator[Cause]:
    names: set[str] = set()
    for index, gate in enumerate(spec.get("schedulingGates", ())):
        name = gate.get("name", "")
        yield from _key(name, f"{path}.schedulingGates[{index}]")
        if name in names:
            yield causes.duplicate(f"{path}.schedulingGates[{index}]", name)
        names.add(name)
