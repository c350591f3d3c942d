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


def merge(current: Any, patch: JSON, shape: Shape, *, item: bool = False) -> JSON:
    """`current` after `patch`; anything but an object is replaced. Raises ApiError 400 or 500 for a bad patch."""
    directive = patch.get("$patch")
    if directive == "delete" or (directive == "replace" and not isinstance(current, dict)):
        return {}  # what is not there cannot be replaced
    if directive not in (None, "replace") and not (directive == "merge" and item):
        raise _unusable(f"Unknown patch type {directive!r} found")
    base: JSON = current if isinstance(current, dict) and directive != "replace" else {}
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
        wanted = [item for at, item in enumerate(value) if item not in value[:at]]
        return _interleaved([item for item in present if item not in wanted], wanted, present, "")
    return value


def _merge_items(current: list[Any], patch: list[Any], shape: Shape) -> list[Any]:
    """Items meet by the list's patch key. An item that holds nothing but `$patch: replace` empties the list first."""
    replaces = any(isinstance(item, dict) and item.get("$patch") == "replace" for item in patch)
    present, key, items = [] if replaces else current, shape.patch_key, shape.items or SCALAR
    known = {_identity(item, key): item for item in present}
    wanted, gone = dict[str, Any](), set[str]()
    for item in patch:
        if replaces and item == {"$patch": "replace"}:
            continue
        if not isinstance(item, dict) or key not in item:
            raise _unusable(f"map: {item} does not contain declared merge key: {key}")
        name = _identity(item, key)
        if item.get("$patch") == "delete":
            gone.add(name)
            wanted.pop(name, None)
        else:
            wanted[name] = merge(wanted.get(name, known.get(name, {})), item, items, item=True)
    others = [item for item in present if _identity(item, key) not in wanted.keys() | gone]
    return _interleaved(others, list(wanted.values()), present, key)


def _interleaved(others: list[Any], wanted: list[Any], before: list[Any], key: str) -> list[Any]:
    """Both lists in one, each in its own order: an item of `others` goes before the first of `wanted` that it was
    before. So what is new comes first (mergeSortedSlice)."""
    rank = {_identity(item, key): at for at, item in enumerate(before)}
    merged, left = list[Any](), list(others)
    for item in wanted:
        at = rank.get(_identity(item, key), -1)
        while left and rank[_identity(left[0], key)] < at:
            merged.append(left.pop(0))
        merged.append(item)
    return merged + left


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
    """Items that `order` names take its order among themselves; the others keep to their neighbours."""
    rank = {_identity(item, key): at for at, item in enumerate(order)}
    named = sorted(
        (item for item in items if _identity(item, key) in rank), key=lambda item: rank[_identity(item, key)]
    )
    others = [item for item in items if _identity(item, key) not in rank]
    return _interleaved(others, named, items, key)


def _unusable(why: str) -> ApiError:
    """500 without a reason: the real server takes these for errors of its own."""
    return ApiError(500, "", why)


def _identity(item: Any, key: str) -> str:
    """What an item is known by in an order: its key field, or a scalar itself."""
    return repr(item.get(key) if isinstance(item, dict) else item)
