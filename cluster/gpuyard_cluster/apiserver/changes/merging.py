"""Merging an applied configuration into a live object, and taking fields out of it again.

Stands for `TypedValue.Merge` and `RemoveItems` of structured-merge-diff. Law: no argument is changed.
"""

from typing import Any

import orjson

from gpuyard_cluster.apiserver.changes.comparison import item_names
from gpuyard_cluster.apiserver.changes.fieldsets import Fields
from gpuyard_cluster.apiserver.changes.shapes import SCALAR, Shape


def merge(live: Any, config: Any, shape: Shape) -> Any:
    """`live` with the fields of `config`: objects and keyed lists merge, all else is replaced."""
    if isinstance(live, dict) and isinstance(config, dict) and shape.granular_object:
        merged = dict(live)
        for key, value in config.items():
            merged[key] = merge(live.get(key), value, shape.child(key) or SCALAR)
        return merged
    if isinstance(live, list) and isinstance(config, list) and shape.granular_list:
        return _merge_lists(live, config, shape)
    return config


def _merge_lists(live: list[Any], config: list[Any], shape: Shape) -> list[Any]:
    """Live items stay where they are, new ones follow."""
    live_names, config_names = item_names(live, shape), item_names(config, shape)
    if live_names is None or config_names is None:
        return config
    merged = dict(zip(live_names, live, strict=True))
    for name, item in zip(config_names, config, strict=True):
        merged[name] = merge(merged.get(name), item, shape.items or SCALAR)
    return list(merged.values())


def remove(value: Any, fields: Fields, shape: Shape) -> Any:
    """`value` without what lies at the leaves of `fields`."""
    if isinstance(value, dict):
        kept = {key: part for key, part in value.items() if fields.get(f"f:{key}") != {}}
        return {key: _without(part, fields.get(f"f:{key}"), shape.child(key)) for key, part in kept.items()}
    names = item_names(value, shape) if isinstance(value, list) else None
    if names is None:
        return value
    pairs = zip(names, value, strict=True)
    return [_without(item, fields.get(name), shape.items) for name, item in pairs if fields.get(name) != {}]


def _without(part: Any, fields: Fields | None, shape: Shape | None) -> Any:
    return part if fields is None else remove(part, fields, shape or SCALAR)


def faulty_list(config: Any, shape: Shape, path: str = "") -> str | None:
    """Where a configuration has a keyed list with an item that lacks a key or repeats one; None when all is well."""
    if isinstance(config, dict):
        below = ((part, shape.child(key), f"{path}.{key}") for key, part in config.items())
    elif isinstance(config, list):
        if shape.granular_list and item_names(config, shape) is None:
            return path
        below = ((item, shape.items, f"{path}[{at}]") for at, item in enumerate(config))
    else:
        return None
    faults = (faulty_list(part, inner, where) for part, inner, where in below if inner is not None)
    return next((fault for fault in faults if fault is not None), None)


def copied(value: Any) -> Any:
    """A copy that shares nothing with `value`."""
    return orjson.loads(orjson.dumps(value))
