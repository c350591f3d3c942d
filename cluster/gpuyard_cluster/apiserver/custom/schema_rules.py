"""The CEL rules of a structural schema (`x-kubernetes-validations`).

Stands for `k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel`. A rule that reads `oldSelf` is checked on
updates only, where the old value can be found: by key in maps and objects, and in lists of type map.
"""

from collections.abc import Iterator
from typing import Any

from gpuyard.writes import JSON
from gpuyard_cluster.apiserver.admission.cel import Expression, Failure, compile_text, holds
from gpuyard_cluster.apiserver.custom.structural import LIST_KEYS, LIST_TYPE, RULES, children
from gpuyard_cluster.apiserver.errors import Cause
from gpuyard_cluster.apiserver.rules import causes

_VARIABLES = frozenset({"self", "oldSelf"})
ABSENT = object()
"""The old value where there is none."""


def has_rules(schema: JSON) -> bool:
    """Whether there is any rule in a schema."""
    return RULES in schema or any(has_rules(child) for _, child in children(schema))


def definition_faults(schema: JSON, path: str) -> Iterator[Cause]:
    """Rules that cannot be compiled, in the schema at `path` and below."""
    for index, rule in enumerate(schema.get(RULES, ())):
        place = f"{path}.{RULES}[{index}]"
        for field in ("rule", "messageExpression"):
            if field in rule and isinstance(found := compile_text(rule[field], _VARIABLES), Failure):
                yield causes.invalid(f"{place}.{field}", rule[field], found.message)
        if not rule.get("rule"):
            yield causes.required(f"{place}.rule", "rule is not specified")
        if rule.get("optionalOldSelf"):
            yield causes.forbidden(
                f"{place}.optionalOldSelf", "the embedded API server has no optional values"
            )
    for step, child in children(schema):
        yield from definition_faults(child, f"{path}.{step}")


def broken_rules(value: Any, old: Any, schema: JSON, path: str) -> Iterator[Cause]:
    """The rules that `value`, at `path`, breaks; `old` is what was stored there, or ABSENT."""
    for rule in schema.get(RULES, ()):
        yield from _broken(rule, value, old, path)
    if isinstance(value, dict):
        properties, additional = schema.get("properties", {}), schema.get("additionalProperties")
        for key, item in value.items():
            child = properties.get(key, additional)
            if isinstance(child, dict):
                before = old.get(key, ABSENT) if isinstance(old, dict) else ABSENT
                yield from broken_rules(item, before, child, f"{path}.{key}" if path else key)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            before = _same_item(item, old, schema)
            yield from broken_rules(item, before, schema.get("items", {}), f"{path}[{index}]")


def _broken(rule: JSON, value: Any, old: Any, path: str) -> Iterator[Cause]:
    condition = compile_text(rule["rule"], _VARIABLES)
    if isinstance(condition, Failure):
        yield causes.invalid(path, value, condition.message)
        return
    if "oldSelf" in condition.names and old is ABSENT:
        return
    variables = {"self": value, "oldSelf": None if old is ABSENT else old}
    outcome = holds(condition, variables)
    if outcome is True:
        return
    message = outcome.message if isinstance(outcome, Failure) else _message(rule, variables)
    cause = causes.invalid(path + rule.get("fieldPath", ""), value, message)
    yield Cause(cause.field, rule.get("reason", cause.reason), cause.message)


def _message(rule: JSON, variables: JSON) -> str:
    composed = compile_text(rule["messageExpression"], _VARIABLES) if "messageExpression" in rule else None
    text = composed.evaluate(variables) if isinstance(composed, Expression) else None
    return text if isinstance(text, str) else rule.get("message") or f"failed rule: {rule['rule']}"


def _same_item(item: Any, old: Any, schema: JSON) -> Any:
    """The item of the old list with the keys of `item`; ABSENT where lists have no keys."""
    keys = schema.get(LIST_KEYS, ()) if schema.get(LIST_TYPE) == "map" else ()
    if not keys or not isinstance(old, list) or not isinstance(item, dict):
        return ABSENT
    wanted = [item.get(key) for key in keys]
    found = (before for before in old if [before.get(key) for key in keys] == wanted)
    return next(found, ABSENT)
