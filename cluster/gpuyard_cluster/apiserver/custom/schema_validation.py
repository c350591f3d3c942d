"""Whether a value obeys a structural schema: one cause for each violation, in kube-apiserver's words.

Stands for `k8s.io/kube-openapi/pkg/validation/validate` as apiextensions-apiserver uses it. Law: a value of the wrong
type is held to whatever its schema says of values of the type that it has. Where a junctor fails the real server does
not say at which field.
"""

from collections.abc import Iterator
from typing import Any

import orjson

from gpuyard.writes import JSON
from gpuyard_cluster.apiserver.custom.formats import has_format, in_range
from gpuyard_cluster.apiserver.custom.structural import (
    EMBEDDED,
    INT_OR_STRING,
    LIST_KEYS,
    LIST_TYPE,
    compiled,
)
from gpuyard_cluster.apiserver.errors import Cause
from gpuyard_cluster.apiserver.rules import causes

_PYTHON_TYPES: dict[str, tuple[type, ...]] = {
    "array": (list,),
    "boolean": (bool,),
    "number": (int, float),
    "object": (dict,),
    "string": (str,),
}


_NOWHERE = "<nil>"


def violations(value: Any, schema: JSON, path: str) -> Iterator[Cause]:
    """Every violation at and below `value`, which is at `path`."""
    if value is None and schema.get("nullable"):
        return
    if (expected := _expected_type(value, schema)) is not None:
        detail = f'{path} in body must be of type {expected}: "{_type_name(value)}"'
        yield causes.mistyped(path, value, detail)
    if "enum" in schema and value not in schema["enum"]:
        yield causes.unsupported(path, value, schema["enum"])
    yield from _junctors(value, schema, path)
    if isinstance(value, dict):
        yield from _object(value, schema, path)
    elif isinstance(value, list):
        yield from _list(value, schema, path)
    elif isinstance(value, str):
        yield from _string(value, schema, path)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield from _number(value, schema, path)


def _expected_type(value: Any, schema: JSON) -> str | None:
    """The type that `value` should have had; None when it has it."""
    if schema.get(INT_OR_STRING):
        return None if _is_integer(value) or isinstance(value, str) else "int-or-string"
    expected: str | None = schema.get("type")
    if expected == "integer":
        return None if _is_integer(value) else expected
    types = _PYTHON_TYPES.get(expected or "")
    fits = types is None or (isinstance(value, types) and (bool in types or not isinstance(value, bool)))
    return None if fits else expected


def _is_integer(value: Any) -> bool:
    return not isinstance(value, bool) and (
        isinstance(value, int) or (isinstance(value, float) and value % 1 == 0)
    )


def _type_name(value: Any) -> str:
    if value is None:
        return "null"
    if _is_integer(value):
        return "integer"
    return next(
        name for name in ("boolean", "number", *_PYTHON_TYPES) if isinstance(value, _PYTHON_TYPES[name])
    )


def _object(value: JSON, schema: JSON, path: str) -> Iterator[Cause]:
    for field in (*schema.get("required", ()), *(("apiVersion", "kind") if schema.get(EMBEDDED) else ())):
        if field not in value:
            yield causes.required(_join(path, field))
    if "maxProperties" in schema and len(value) > schema["maxProperties"]:
        yield causes.too_many(path, len(value), schema["maxProperties"])
    if len(value) < schema.get("minProperties", 0):
        detail = f"{path} in body should have at least {schema['minProperties']} properties"
        yield causes.invalid(path, value, detail)
    properties, additional = schema.get("properties", {}), schema.get("additionalProperties")
    for key, item in value.items():
        child = properties.get(key, additional)
        if isinstance(child, dict):
            yield from violations(item, child, _join(path, key))


def _list(value: list[Any], schema: JSON, path: str) -> Iterator[Cause]:
    if "maxItems" in schema and len(value) > schema["maxItems"]:
        yield causes.too_many(path, len(value), schema["maxItems"])
    if len(value) < schema.get("minItems", 0):
        yield causes.invalid(path, value, f"{path} in body should have at least {schema['minItems']} items")
    for index, item in enumerate(value):
        yield from violations(item, schema.get("items", {}), f"{path}[{index}]")
    if schema.get(LIST_TYPE) in ("set", "map"):
        yield from _repeated(value, schema.get(LIST_KEYS), path)


def _repeated(value: list[Any], keys: list[str] | None, path: str) -> Iterator[Cause]:
    seen: set[bytes] = set()
    for index, item in enumerate(value):
        identity = {key: item.get(key) for key in keys} if keys and isinstance(item, dict) else item
        text = orjson.dumps(identity, option=orjson.OPT_SORT_KEYS)
        if text in seen:
            yield causes.duplicate(f"{path}[{index}]", identity)
        seen.add(text)


def _string(value: str, schema: JSON, path: str) -> Iterator[Cause]:
    if "maxLength" in schema and len(value) > schema["maxLength"]:
        yield causes.too_long(path, schema["maxLength"])
    if len(value) < schema.get("minLength", 0):
        detail = f"{path} in body should be at least {schema['minLength']} chars long"
        yield causes.invalid(path, value, detail)
    pattern = schema.get("pattern")
    if pattern and not compiled(pattern).search(value):
        yield causes.invalid(path, value, f"{path} in body should match '{pattern}'")
    if not has_format(value, schema.get("format", "")):
        detail = f"{path} in body must be of type {schema['format']}: {causes.shown(value)}"
        yield causes.mistyped(path, value, detail)


def _number(value: float, schema: JSON, path: str) -> Iterator[Cause]:
    if schema.get("type") == "integer" and not in_range(value, schema.get("format", "")):
        yield causes.invalid(_NOWHERE, value, f"{path} must be an integer within the range of its format")
    low, high, step = schema.get("minimum"), schema.get("maximum"), schema.get("multipleOf")
    above, below = schema.get("exclusiveMinimum"), schema.get("exclusiveMaximum")
    if low is not None and (value <= low if above else value < low):
        bound = "greater than" if above else "greater than or equal to"
        yield causes.invalid(path, value, f"{path} in body should be {bound} {low}")
    if high is not None and (value >= high if below else value > high):
        bound = "less than" if below else "less than or equal to"
        yield causes.invalid(path, value, f"{path} in body should be {bound} {high}")
    if step and value % step:
        yield causes.invalid(path, value, f"{path} in body should be a multiple of {step}")


def _junctors(value: Any, schema: JSON, path: str) -> Iterator[Cause]:
    if found := [cause for part in schema.get("allOf", ()) for cause in violations(value, part, path)]:
        yield from found
        yield causes.invalid(_NOWHERE, value, f"{path} must validate all the schemas (allOf)")
    if "anyOf" in schema and not _matching(value, schema["anyOf"], path):
        yield causes.invalid(_NOWHERE, value, f"{path} must validate at least one schema (anyOf)")
        yield from violations(value, schema["anyOf"][0], path)
    if "oneOf" in schema and (count := _matching(value, schema["oneOf"], path)) != 1:
        told = "Found none valid" if not count else f"Found {count} valid alternatives"
        yield causes.invalid(_NOWHERE, value, f"{path} must validate one and only one schema (oneOf). {told}")
        yield from () if count else violations(value, schema["oneOf"][0], path)
    if isinstance(schema.get("not"), dict) and _matching(value, [schema["not"]], path):
        yield causes.invalid(_NOWHERE, value, f"{path} must not validate the schema (not)")


def _matching(value: Any, schemas: list[JSON], path: str) -> int:
    return sum(1 for schema in schemas if next(violations(value, schema, path), None) is None)


def _join(path: str, key: str) -> str:
    return f"{path}.{key}" if path else key
