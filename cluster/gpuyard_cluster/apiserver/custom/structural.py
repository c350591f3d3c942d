"""Whether the schema of a CustomResourceDefinition is structural.

Stands for `k8s.io/apiextensions-apiserver/pkg/apiserver/schema` (`ValidateStructural`): every part has a type, and
nothing outside the junctors (allOf, anyOf, oneOf, not) depends on them.
"""

import functools
import re
from collections.abc import Iterator

from gpuyard.writes import JSON
from gpuyard_cluster.apiserver.errors import Cause
from gpuyard_cluster.apiserver.rules import causes

INT_OR_STRING = "x-kubernetes-int-or-string"
PRESERVE = "x-kubernetes-preserve-unknown-fields"
EMBEDDED = "x-kubernetes-embedded-resource"
LIST_TYPE = "x-kubernetes-list-type"
LIST_KEYS = "x-kubernetes-list-map-keys"
RULES = "x-kubernetes-validations"

_TYPES = ("array", "boolean", "integer", "number", "object", "string")
_JUNCTORS = ("allOf", "anyOf", "oneOf")
_NOT_IN_JUNCTORS = ("additionalProperties", "default", "description", "nullable", "title", "type")
_FLAGS = re.compile(r"\(\?([ims]+)\)")
_UNSUPPORTED = ("$ref", "definitions", "dependencies", "id", "patternProperties", "additionalItems")


def structural_faults(schema: JSON, path: str) -> Iterator[Cause]:
    """Faults of the root schema of one version, which is at `path`."""
    if schema.get("type") and schema["type"] != "object":
        yield causes.invalid(f"{path}.type", schema["type"], "must be object at the root")
    if schema.get("nullable"):
        yield causes.forbidden(f"{path}.nullable", "nullable cannot be true at the root")
    yield from _faults(schema, path, "must not be empty at the root")


def _says_int_or_string(schema: JSON) -> bool:
    """The one anyOf that may name types: it repeats the extension, as controller-gen writes it for quantities."""
    return bool(schema.get(INT_OR_STRING)) and schema["anyOf"] == [{"type": "integer"}, {"type": "string"}]


def children(schema: JSON) -> Iterator[tuple[str, JSON]]:
    """The schemas right below one: their path from it as `properties[x]`, `items` or `additionalProperties`."""
    for name, child in schema.get("properties", {}).items():
        yield f"properties[{name}]", child
    for field in ("items", "additionalProperties"):
        if isinstance(schema.get(field), dict):
            yield field, schema[field]


def _faults(schema: JSON, path: str, untyped: str) -> Iterator[Cause]:
    yield from _type_faults(schema, path, untyped)
    yield from _field_faults(schema, path)
    yield from _list_faults(schema, path)
    for junctor in _JUNCTORS:
        for index, part in enumerate(schema.get(junctor, ())):
            if not (junctor == "anyOf" and _says_int_or_string(schema)):
                yield from _junctor_faults(part, f"{path}.{junctor}[{index}]")
    if isinstance(schema.get("not"), dict):
        yield from _junctor_faults(schema["not"], f"{path}.not")
    for step, child in children(schema):
        if isinstance(child, dict):
            yield from _faults(child, f"{path}.{step}", _UNTYPED[step.partition("[")[0]])
        else:
            yield causes.invalid(f"{path}.{step}", child, "must be a schema")


_UNTYPED = {
    "properties": "must not be empty for specified object fields",
    "items": "must not be empty for specified array items",
    "additionalProperties": "must not be empty for specified object fields",
}


def _type_faults(schema: JSON, path: str, untyped: str) -> Iterator[Cause]:
    kind = schema.get("type", "")
    free = schema.get(INT_OR_STRING) or schema.get(PRESERVE)
    if not kind and not free:
        yield causes.required(f"{path}.type", untyped)
    elif kind and kind not in _TYPES:
        yield causes.unsupported(f"{path}.type", kind, _TYPES)
    elif kind and schema.get(INT_OR_STRING):
        yield causes.invalid(f"{path}.type", kind, f"must be empty if {INT_OR_STRING} is true")
    if schema.get(EMBEDDED) and kind != "object":
        yield causes.invalid(f"{path}.type", kind, f"must be object if {EMBEDDED} is true")


def _field_faults(schema: JSON, path: str) -> Iterator[Cause]:
    if "pattern" in schema and not _compiles(schema["pattern"]):
        detail = "must be a valid regular expression of the syntax that Python shares with RE2"
        yield causes.invalid(f"{path}.pattern", schema["pattern"], detail)
    if schema.get(PRESERVE) is False:
        yield causes.invalid(f"{path}.{PRESERVE}", False, "must be true or undefined")
    for field in _UNSUPPORTED:
        if field in schema:
            yield causes.forbidden(f"{path}.{field}", f"{field} is not supported")
    if schema.get("uniqueItems"):
        yield causes.forbidden(f"{path}.uniqueItems", "uniqueItems cannot be set to true since the runtime "
                               "complexity becomes quadratic")  # fmt: skip
    if "properties" in schema and schema.get("additionalProperties"):
        yield causes.forbidden(f"{path}.additionalProperties", "additionalProperties and properties are mutual "
                               "exclusive")  # fmt: skip
    if schema.get("additionalProperties") is False:
        yield causes.forbidden(f"{path}.additionalProperties", "additionalProperties cannot be set to false")


def _compiles(pattern: str) -> bool:
    try:
        compiled(pattern)
    except re.error:
        return False
    return True


@functools.lru_cache(maxsize=1024)
def compiled(pattern: str) -> re.Pattern[str]:
    """A pattern of a schema. RE2 lets flags begin anywhere; Python does so for a group only."""
    flags = _FLAGS.search(pattern)
    if flags is None or not flags.start() or "|" in pattern[flags.end() :]:
        return re.compile(pattern)
    return re.compile(f"{pattern[: flags.start()]}(?{flags[1]}:{pattern[flags.end() :]})")


def _list_faults(schema: JSON, path: str) -> Iterator[Cause]:
    if schema.get("type") == "array" and not isinstance(schema.get("items"), dict):
        yield causes.required(f"{path}.items", "must be specified")
    list_type = schema.get(LIST_TYPE)
    if list_type is not None and list_type not in ("atomic", "set", "map"):
        yield causes.unsupported(f"{path}.{LIST_TYPE}", list_type, ("atomic", "map", "set"))
    if list_type == "map" and not schema.get(LIST_KEYS):
        yield causes.required(f"{path}.{LIST_KEYS}", f"must not be empty if {LIST_TYPE} is map")


def _junctor_faults(schema: JSON, path: str) -> Iterator[Cause]:
    """Junctors only narrow values: what gives them a type or a default stands outside."""
    for field in _NOT_IN_JUNCTORS:
        if field in schema:
            yield causes.forbidden(f"{path}.{field}", "must be empty to be structural")
    for step, child in children(schema):
        yield from _junctor_faults(child, f"{path}.{step}")
    for junctor in _JUNCTORS:
        for index, part in enumerate(schema.get(junctor, ())):
            yield from _junctor_faults(part, f"{path}.{junctor}[{index}]")
