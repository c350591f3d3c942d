"""The types of built-in kinds as OpenAPI schemas.

Stands for the generated OpenAPI definitions of `k8s.io/api`. Types and their fields are those of the type table, how
lists and maps merge is in `merge_keys`, what they are for in `descriptions`.
"""

import functools
import re
from collections.abc import Iterator, Mapping

import orjson

from gpuyard.writes import JSON
from gpuyard_cluster.apiserver.changes import merge_keys
from gpuyard_cluster.apiserver.kinds import descriptions, kinds
from gpuyard_cluster.apiserver.kinds.kind_table import TABLE

REFERENCE = "#/components/schemas/"
_META = "io.k8s.apimachinery.pkg.apis.meta.v1"
_META_TYPES = frozenset(
    (
        "V1ObjectMeta",
        "V1OwnerReference",
        "V1ManagedFieldsEntry",
        "V1LabelSelector",
        "V1LabelSelectorRequirement",
    )
    + ("V1DeleteOptions", "V1Preconditions", "V1Condition", "V1FieldSelectorRequirement")
)
_EITHER = "bool|"
_MODEL_PREFIX = re.compile(r"(?:[A-Z][a-z]+)?V\d+(?:(?:alpha|beta)\d+)?(?=[A-Z])")
# Core kinds that are served only as parts of other kinds.
_UNSERVED_ROOTS = {
    "v1/PodTemplateSpec": "V1PodTemplateSpec",
    "v1/PersistentVolumeClaim": "V1PersistentVolumeClaim",
    "v1/TopologySelectorTerm": "V1TopologySelectorTerm",
}
_SCALARS: Mapping[str, JSON] = {
    "any": {"x-kubernetes-preserve-unknown-fields": True},  # `kubectl explain` fails on an empty schema
    "string": {"type": "string"},
    "int": {"type": "integer"},
    "number": {"type": "number"},
    "bool": {"type": "boolean"},
    "time": {"type": "string", "format": "date-time"},
    "microtime": {"type": "string", "format": "date-time"},
    "quantity": {"oneOf": [{"type": "string"}, {"type": "number"}]},
    "bytes": {"type": "string", "format": "byte"},
}


def package(group: str, version: str) -> str:
    """What the names of a built-in group's schemas begin with."""
    if group == "apiextensions.k8s.io":
        return f"io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.{version}"
    return f"io.k8s.api.{group.partition('.')[0] or 'core'}.{version}"


def schemas(roots: list[str]) -> dict[str, JSON]:
    """The schemas of some types of the table, and of all that they refer to, by name."""
    found: dict[str, JSON] = {}
    waiting = list(roots)
    while waiting:
        type_name = waiting.pop()
        if name(type_name) not in found:
            found[name(type_name)] = _schema(type_name)
            waiting += _references(type_name)
    return dict(sorted(found.items()))


def reference(type_name: str) -> JSON:
    """A reference to the schema of a type."""
    return {"$ref": REFERENCE + name(type_name)}


def name(type_name: str) -> str:
    """The name of a type's schema: `io.k8s.api.core.v1.Pod`."""
    return f"{_packages()[type_name]}.{_MODEL_PREFIX.sub('', type_name)}"


@functools.cache
def _packages() -> Mapping[str, str]:
    """The package of each type. A type that several groups use belongs to the first, core before all others."""
    roots: dict[str, str] = {**orjson.loads(TABLE.read_bytes())["kinds"], **_UNSERVED_ROOTS}
    found = dict.fromkeys(_META_TYPES, _META)
    for key in sorted(roots, key=lambda key: key.count("/")):
        group, version, _ = ("/" + key).rsplit("/", 2)
        waiting = [roots[key]]
        while waiting:
            type_name = waiting.pop()
            if type_name not in found:
                found[type_name] = package(group.strip("/"), version)
                waiting += _references(type_name)
    return found


def _references(type_name: str) -> Iterator[str]:
    for text in kinds.fields(type_name).values():
        inner = text.strip("[]{}").removeprefix(_EITHER)
        if inner not in _SCALARS:
            yield inner


def _schema(type_name: str) -> JSON:
    fields, told = kinds.fields(type_name), descriptions.of_type(type_name)
    schema = _told(told, descriptions.ITSELF, {"type": "object"})
    if fields:
        schema["properties"] = {
            key: _told(told, key, _field(f"{type_name}.{key}", text)) for key, text in fields.items()
        }
    if type_name in merge_keys.ATOMIC_TYPES:
        schema["x-kubernetes-map-type"] = "atomic"
    return schema


def _told(told: Mapping[str, str], key: str, schema: JSON) -> JSON:
    return {"description": told[key], **schema} if key in told else schema


def _field(path: str, text: str) -> JSON:
    """`path` is `Type.field`, `text` its type in the table's notation."""
    if text.startswith("[]"):
        return {**_value(text), **_merging(path)}
    return (
        {**_value(text), "x-kubernetes-map-type": "atomic"}
        if path in merge_keys.ATOMIC_MAPS
        else _value(text)
    )


def _value(text: str) -> JSON:
    if text.startswith("[]"):
        return {"type": "array", "items": _value(text[2:])}
    if text.startswith("{}"):
        return {"type": "object", "additionalProperties": _value(text[2:])}
    if text.startswith(_EITHER):
        return dict(_SCALARS["any"])
    return dict(_SCALARS[text]) if text in _SCALARS else {"allOf": [reference(text)]}


def _merging(path: str) -> JSON:
    keys, unique = merge_keys.LISTS.get(path, ()), path in merge_keys.SETS
    patch_key = merge_keys.PATCH_KEYS.get(path, keys[0] if keys else "")
    found: JSON = {"x-kubernetes-list-type": "map" if keys else "set" if unique else "atomic"}
    if keys:
        found["x-kubernetes-list-map-keys"] = list(keys)
    if patch_key or unique:
        found["x-kubernetes-patch-strategy"] = "merge"
    if patch_key:
        found["x-kubernetes-patch-merge-key"] = patch_key
    return found
