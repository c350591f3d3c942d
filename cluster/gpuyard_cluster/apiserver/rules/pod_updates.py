"""What may change in a pod that exists.

Stands for `ValidatePodUpdate`. Most of the spec is fixed. Gates may only go, and while one is there, node selection
may only become narrower (KEP-3838): whoever put the pod on hold can steer it, and nobody can undo that.
"""

from collections.abc import Iterator
from typing import Any

from gpuyard.writes import JSON
from gpuyard_cluster.apiserver.errors import Cause
from gpuyard_cluster.apiserver.rules import causes

_FREE_FIELDS = ("activeDeadlineSeconds", "tolerations", "schedulingGates")
_GATED_FIELDS = ("nodeSelector", "affinity")
_IMMUTABLE = (
    "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,"
    "`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),"
    "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)"
)
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_TERMS = f"spec.affinity.nodeAffinity.{_REQUIRED}.nodeSelectorTerms"


def update_faults(old: JSON, new: JSON) -> Iterator[Cause]:
    """Faults of a change of spec from the pod `old` to `new`."""
    before, after = old["spec"], new.get("spec", {})
    for group in ("containers", "initContainers"):
        if len(before.get(group, ())) != len(after.get(group, ())):
            yield causes.forbidden(f"spec.{group}", "pod updates may not add or remove containers")
            return
    yield from _deadline(before, after)
    yield from _tolerations(before, after)
    yield from _gates(before, after)
    gated = bool(before.get("schedulingGates"))
    if gated:
        yield from _node_selector(before.get("nodeSelector", {}), after.get("nodeSelector", {}))
        yield from _node_affinity(_terms(before), _terms(after))
    changed = sorted(_fixed_part(before, gated).items() ^ _fixed_part(after, gated).items())
    if changed:
        fields = ", ".join(dict.fromkeys(key for key, _ in changed))
        yield causes.forbidden("spec", f"{_IMMUTABLE}\nchanged: {fields}")


def _deadline(before: JSON, after: JSON) -> Iterator[Cause]:
    old, new = before.get("activeDeadlineSeconds"), after.get("activeDeadlineSeconds")
    if old is not None and new is None:
        detail = "must not update from a positive integer to nil value"
        yield causes.invalid("spec.activeDeadlineSeconds", new, detail)
    elif old is not None and new > old:
        yield causes.invalid(
            "spec.activeDeadlineSeconds", new, "must be less than or equal to previous value"
        )


def _tolerations(before: JSON, after: JSON) -> Iterator[Cause]:
    kept = [_without(toleration, "tolerationSeconds") for toleration in after.get("tolerations", ())]
    for toleration in before.get("tolerations", ()):
        if _without(toleration, "tolerationSeconds") not in kept:
            detail = "existing toleration can not be modified except its tolerationSeconds"
            yield causes.forbidden("spec.tolerations", detail)
            return


def _gates(before: JSON, after: JSON) -> Iterator[Cause]:
    known = [gate["name"] for gate in before.get("schedulingGates", ())]
    for index, gate in enumerate(after.get("schedulingGates", ())):
        if gate.get("name") not in known:
            detail = f"only deletion is allowed, but found new scheduling gate '{gate.get('name')}'"
            yield causes.forbidden(f"spec.schedulingGates[{index}].name", detail)


def _node_selector(before: JSON, after: JSON) -> Iterator[Cause]:
    if not before.items() <= after.items():
        detail = "only additions to spec.nodeSelector are allowed (no mutations or deletions)"
        yield causes.invalid("spec.nodeSelector", after, detail)


def _node_affinity(before: list[JSON], after: list[JSON]) -> Iterator[Cause]:
    if before and len(before) != len(after):
        detail = "no additions/deletions to non-empty NodeSelectorTerms list are allowed"
        yield causes.invalid(_TERMS, after, detail)
        return
    for index, (old, new) in enumerate(zip(before, after, strict=False)):
        if not _narrowed(old, new):
            detail = "only additions are allowed (no mutations or deletions)"
            yield causes.invalid(f"{_TERMS}[{index}]", new, detail)


def _narrowed(old: JSON, new: JSON) -> bool:
    """Whether a term only gained expressions after its own; an empty one matches nothing and stays empty."""
    parts = [(old.get(part, []), new.get(part, [])) for part in ("matchExpressions", "matchFields")]
    if not any(before for before, _ in parts):
        return not any(after for _, after in parts)
    return all(after[: len(before)] == before for before, after in parts)


def _terms(spec: JSON) -> list[JSON]:
    required = spec.get("affinity", {}).get("nodeAffinity", {}).get(_REQUIRED, {})
    terms: list[JSON] = required.get("nodeSelectorTerms", [])
    return terms


def _fixed_part(spec: JSON, gated: bool) -> dict[str, str]:
    """What may not change, each field as text."""
    fixed: dict[str, Any] = _without(spec, *_FREE_FIELDS, *(_GATED_FIELDS if gated else ()))
    for group in ("containers", "initContainers"):
        fixed[group] = [_without(container, "image") for container in fixed.get(group, ())]
    if gated:
        others = _without(spec.get("affinity", {}), "nodeAffinity")
        fixed |= {"affinity": others} if others else {}
    return {field: causes.shown(value) for field, value in fixed.items()}


def _without(owner: JSON, *fields: str) -> JSON:
    return {key: value for key, value in owner.items() if key not in fields}
