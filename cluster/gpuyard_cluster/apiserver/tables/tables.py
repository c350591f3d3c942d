"""Lists and objects as tables, for clients that show them.

Stands for the table convertors of kube-apiserver and apiextensions-apiserver. A Table has one cell for each
column; what has no value is null.
"""

from collections.abc import Sequence
from typing import Any

import orjson

from gpuyard.writes import JSON
from gpuyard_cluster.apiserver.kinds.resources import Column, Resource
from gpuyard_cluster.apiserver.tables import ages, jsonpaths
from gpuyard_cluster.apiserver.tables.printers import PLAIN, PRINTERS
from gpuyard_kube.timestamps import seconds


def table(
    resource: Resource, objects: Sequence[JSON], include: str, resource_version: str, now: float
) -> JSON:
    """The Table of some objects of one resource.

    `include` is Metadata, Object or None: what of each object comes with its row. `now` is in seconds since
    the epoch.
    """
    printer = PRINTERS.get(resource.store, PLAIN)
    if resource.columns:
        rows = [_custom_cells(resource.columns, obj, now) for obj in objects]
    else:
        rows = [printer.cells(obj, now) for obj in objects]
    return {
        "kind": "Table",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": {"resourceVersion": resource_version},
        "columnDefinitions": _definitions(resource),
        "rows": [_row(cells, obj, include) for cells, obj in zip(rows, objects, strict=True)],
    }


def _definitions(resource: Resource) -> list[JSON]:
    if resource.columns:
        custom = [_custom_definition(column) for column in resource.columns]
        return [_definition("Name", 0, "string"), *custom]
    return [_definition(*column) for column in PRINTERS.get(resource.store, PLAIN).columns()]


def _definition(title: str, priority: int, kind: str) -> JSON:
    form = "name" if title == "Name" else ""
    return {"name": title, "type": kind, "format": form, "description": "", "priority": priority}


def _custom_definition(column: Column) -> JSON:
    told = column.description or f"Custom resource definition column (in JSONPath format): {column.json_path}"
    named = {"name": column.name, "type": column.type, "format": column.format}
    return {**named, "description": told, "priority": column.priority}


def _row(cells: list[Any], obj: JSON, include: str) -> JSON:
    if include == "None":
        return {"cells": cells, "object": None}
    if include == "Object":
        return {"cells": cells, "object": obj}
    partial = {"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": obj["metadata"]}
    return {"cells": cells, "object": partial}


def _custom_cells(columns: Sequence[Column], obj: JSON, now: float) -> list[Any]:
    return [obj["metadata"].get("name", ""), *(_custom_cell(column, obj, now) for column in columns)]


def _custom_cell(column: Column, obj: JSON, now: float) -> Any:
    found = jsonpaths.find(obj, column.json_path)
    return _cell(column.type, found[0], now) if found else None


def _cell(kind: str, value: Any, now: float) -> Any:
    """A value as its column's type has it; null when it is of another type."""
    if value is None:
        return None
    if kind == "date":
        return ages.age(value, now) if seconds(value) is not None else ages.INVALID
    if kind == "boolean":
        return value if isinstance(value, bool) else None
    if kind in ("integer", "number"):
        number = isinstance(value, int | float) and not isinstance(value, bool)
        return (int(value) if kind == "integer" else value) if number else None
    return value if isinstance(value, str) else _text(value)


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, int | float) else orjson.dumps(value).decode()
