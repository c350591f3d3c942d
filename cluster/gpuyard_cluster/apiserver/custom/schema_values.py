"""What a structural schema does to values: drop what it does not know, fill in its defaults.

Stands for `k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning` and `.../defaulting`.
"""

import copy
from typing import Any

from gpuyard.writes import JSON
from gpuyard_cluster.apiserver.custom.structural import EMBEDDED, PRESERVE

_OBJECT_FIELDS = frozenset({"apiVersion", "kind", "metadata"})


def prune(value: Any, schema: JSON, path: str, *, resource: bool = False) -> list[str]:
    """Drop unknown fields below `value`, in place; their paths. A `resource` has apiVersion, kind and metadata."""
    if isinstance(value, list):
        items = schema.get("items")
        found = (prune(item, items, f"{path}[{index}]") for index, item in enumerate(value) if items)
        return [path for paths in found for path in paths]
    if not isinstance(value, dict):
        return []
    resource = resource or bool(schema.get(EMBEDDED))
    dropped: list[str] = []
    for key in list(value):
        if not (resource and key in _OBJECT_FIELDS):
            dropped += _prune_field(value, key, schema, f"{path}.{key}" if path else key)
    return dropped


def _prune_field(owner: JSON, key: str, schema: JSON, path: str) -> list[str]:
    child = schema.get("properties", {}).get(key)
    additional = schema.get("additionalProperties")
    if child is None and isinstance(additional, dict):
        child = additional
    if child is not None:
        return prune(owner[key], child, path)
    if schema.get(PRESERVE) or additional:
        return []
    del owner[key]
    return [path]


def default(value: Any, schema: JSON) -> None:
    """Fill in defaults below `value`, in place."""
    if isinstance(value, list):
        for item in value:
            default(item, schema.get("items", {}))
    if not isinstance(value, dict):
        return
    properties = schema.get("properties", {})
    for key, child in properties.items():
        if "default" in child and (key not in value or (value[key] is None and not child.get("nullable"))):
            value[key] = copy.deepcopy(child["default"])
        if key in value and value[key] is None and not child.get("nullable") and not child.get(PRESERVE):
            del value[key]  # as if it had not been sent (PruneNonNullableNulls)
        if key in value:
            if child.get("type") == "integer" and isinstance(value[key], float) and value[key] % 1 == 0:
                value[key] = int(value[key])
            default(value[key], child)
    additional = schema.get("additionalProperties")
    if isinstance(additional, dict):
        for key in value.keys() - properties.keys():
            default(value[key], additional)
