"""Strategic merge patch: merge patch that knows which lists merge by key, and takes directives.

Stands for `k8s.io/apimachinery/pkg/util/strategicpatch`. Directives: `$patch: delete|replace|merge`, `$retainKeys`,
`$deleteFromPrimitiveList/FIELD` and `$setElementOrder/FIELD`. Law: neither argument is changed.
"""

from typing import Any

from gpuyard.writes import JSON
from gpuyard_cluster.apiserver.changes.shapes import SCALAR, Shape
from gpuyard_cluster.apiserver.errors import ApiError, bad_request

_DELETE_FROM = "$deleteFromPrimitiveList/"
_ORDER = "$setElementOrder/"


def merge(current: Any, patch: JSON, shape: Shape) -> JSON:
    """`current` after `patch`; anything but an object is replaced. Raises ApiError 400 or 422 for a bad patch."""
    directive = patch.get("$patch")
    if directive == "delete":
        return {}
    if directive not in (None, "merge", "replace"):
        raise bad_request(f"Unknown patch type {directive!r} found")
    base = current if isinstance(current, dict) and directive != "replace" else {}
    if "$retainKeys" in patch:
        retained = _retained(patch)
        base = {key: value for key, value in base.items() if key in retained}
    merged = _merge_fields(base, patch, shape)
    _delete_from_lists(merged, patch)
    _order_lists(merged, patch, shape)
    return merged


def _retained(patch: JSON) -> list[Any]:
    keys = patch["$retainKeys"]
    set_keys = {key for key, value in patch.items() if not key.startswith("$") and value is not None}
    if not isinstance(keys, list) or any(key not in keys for key in set_keys):
        raise bad_request("$retainKeys must be a list that names every field the patch sets")
    return keys


def _merge_fields(base: JSON, patch: JSON, shape: Shape) -> JSON:
    merged = dict(base)
    for key, value in patch.items():
        if key.startswith("$"):
            continue
        if value is None:
            merged.pop(key, None)
        else:
            merged[key] = _merge_value(merged.get(key), value, shape.child(key) or SCALAR)
    return merged


def _merge_value(current: Any, value: Any, shape: Shape) -> Any:
    if isinstance(value, dict):
        return merge(current, value, shape)
    if isinstance(value, list) and shape.patch_key:
        return _merge_items(current if isinstance(current, list) else [], value, shape)
    if isinstance(value, list) and shape.unique:
        present = current if isinstance(current, list) else []
        return present + [item for at, item in enumerate(value) if item not in present + value[:at]]
    return value


def _merge_items(current: list[Any], patch: list[Any], shape: Shape) -> list[Any]:
    """Items meet by the list's patch key. An item that holds nothing but `$patch: replace` empties the list first."""
    replaces = any(isinstance(item, dict) and item.get("$patch") == "replace" for item in patch)
    merged = [] if replaces else list(current)
    for item in patch:
        if not replaces or item != {"$patch": "replace"}:
            _merge_item(merged, item, shape)
    return merged


def _merge_item(merged: list[Any], item: Any, shape: Shape) -> None:
    key, items = shape.patch_key, shape.items or SCALAR
    if not isinstance(item, dict) or key not in item:
        raise ApiError(422, "Invalid", f"map: {item} does not contain declared merge key: {key}")
    found = [at for at, other in enumerate(merged) if isinstance(other, dict) and other.get(key) == item[key]]
    if item.get("$patch") == "delete":
        for at in reversed(found):
            del merged[at]
    elif found:
        merged[found[0]] = merge(merged[found[0]], item, items)
    else:
        merged.append(merge({}, item, items))


def _delete_from_lists(merged: JSON, patch: JSON) -> None:
    for directive, values in patch.items():
        if not directive.startswith(_DELETE_FROM):
            continue
        if not isinstance(values, list):
            raise bad_request(f"{directive} must be a list")
        name = directive.removeprefix(_DELETE_FROM)
        if isinstance(merged.get(name), list):
            merged[name] = [value for value in merged[name] if value not in values]


def _order_lists(merged: JSON, patch: JSON, shape: Shape) -> None:
    for directive, order in patch.items():
        name = directive.removeprefix(_ORDER)
        if not directive.startswith(_ORDER) or not isinstance(merged.get(name), list):
            continue
        if not isinstance(order, list):
            raise bad_request(f"{directive} must be a list")
        merged[name] = _ordered(merged[name], order, (shape.child(name) or SCALAR).patch_key)


def _ordered(items: list[Any], order: list[Any], key: str) -> list[Any]:
    """Items that `order` names take its order among themselves; the others keep their places."""
    rank = {_identity(item, key): at for at, item in enumerate(order)}
    named = [item for item in items if _identity(item, key) in rank]
    moved = iter(sorted(named, key=lambda item: rank[_identity(item, key)]))
    return [next(moved) if _identity(item, key) in rank else item for item in items]


def _identity(item: Any, key: str) -> str:
    """What an item is known by in an order: its key field, or a scalar itself."""
    return repr(item.get(key) if isinstance(item, dict) else item)
