"""Tables of built-in and custom kinds."""

from typing import Any

import pytest

from gpuyard_cluster.apiserver.kinds.builtin import BUILTIN
from gpuyard_cluster.apiserver.kinds.resources import Column, Resource
from gpuyard_cluster.apiserver.tables.tables import table

RESOURCES = {resource.qualified: resource for resource in BUILTIN}
NOW = 1000.0
CREATED = "1970-01-01T00:15:00Z"
COLUMNS = (
    Column("Size", "integer", ".spec.size"),
    Column("Ready", "string", '.status.conditions[?(@.type=="Ready")].status', priority=1),
    Column("Since", "date", ".metadata.creationTimestamp"),
    Column("On", "boolean", ".spec.on"),
    Column("Load", "number", ".spec.load"),
)


def shown(qualified: str, obj: dict[str, Any], include: str = "Metadata") -> dict[str, Any]:
    """The Table of one object."""
    whole = {**obj, "metadata": {"name": "a", "creationTimestamp": CREATED, **obj.get("metadata", {})}}
    body = table(RESOURCES[qualified], [whole], include, "7", NOW)
    assert len(body["rows"][0]["cells"]) == len(body["columnDefinitions"])
    return body


def widgets(*columns: Column) -> Resource:
    return Resource(
        "example.com", "v1", "widgets", "Widget", True, "widget", "WidgetList", columns=columns, custom=True
    )


def test_a_table_of_pods_has_kubectls_columns() -> None:
    body = shown("pods", {"spec": {"containers": [{"name": "main"}]}, "status": {"phase": "Pending"}})
    assert (body["kind"], body["apiVersion"], body["metadata"]) == (
        "Table",
        "meta.k8s.io/v1",
        {"resourceVersion": "7"},
    )
    main = [column["name"] for column in body["columnDefinitions"] if column["priority"] == 0]
    assert main == ["Name", "Ready", "Status", "Restarts", "Age"]
    assert body["rows"][0]["cells"][:5] == ["a", "0/1", "Pending", "0", "100s"]


def test_a_row_comes_with_what_was_asked_for() -> None:
    partial = shown("pods", {"spec": {}})["rows"][0]["object"]
    assert (partial["kind"], "spec" in partial) == ("PartialObjectMetadata", False)
    assert "spec" in shown("pods", {"spec": {}}, "Object")["rows"][0]["object"]
    assert shown("pods", {"spec": {}}, "None")["rows"][0]["object"] is None


def test_custom_columns_have_the_values_at_their_paths() -> None:
    conditions = [{"type": "Other", "status": "No"}, {"type": "Ready", "status": "True"}]
    metadata = {"name": "a", "creationTimestamp": CREATED}
    full = {
        "metadata": metadata,
        "spec": {"size": 3, "on": True, "load": 0.5},
        "status": {"conditions": conditions},
    }
    body = table(widgets(*COLUMNS), [full, {"metadata": {"name": "b"}}], "None", "7", NOW)
    assert [(column["name"], column["priority"]) for column in body["columnDefinitions"]][:3] == [
        ("Name", 0),
        ("Size", 0),
        ("Ready", 1),
    ]
    assert [row["cells"] for row in body["rows"]] == [
        ["a", 3, "True", "100s", True, 0.5],
        ["b", None, None, None, None, None],
    ]


def test_a_value_of_another_type_is_no_value() -> None:
    spec = {"size": "three", "on": "yes", "load": True}
    obj = {"metadata": {"name": "a", "creationTimestamp": "yesterday"}, "spec": spec}
    (row,) = table(widgets(*COLUMNS), [obj], "None", "7", NOW)["rows"]
    assert row["cells"] == ["a", None, None, "<invalid>", None, None]


@pytest.mark.parametrize(("value", "text"), [(True, "true"), (3, "3"), ({"x": [1]}, '{"x":[1]}'), ("s", "s")])
def test_a_text_column_shows_any_value(value: Any, text: str) -> None:
    obj = {"metadata": {"name": "a"}, "v": value}
    assert table(widgets(Column("V", "string", ".v")), [obj], "None", "7", NOW)["rows"][0]["cells"] == [
        "a",
        text,
    ]


def test_a_custom_resource_without_columns_shows_its_age() -> None:
    obj = {"metadata": {"name": "a", "creationTimestamp": CREATED}}
    assert table(widgets(), [obj], "None", "7", NOW)["rows"][0]["cells"] == ["a", "100s"]
