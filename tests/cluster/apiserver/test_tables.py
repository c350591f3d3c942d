"""Tables of built-in and custom kinds."""

from typing import Any

import pytest

from gpuyard_cluster.apiserver.builtin import BUILTIN
from gpuyard_cluster.apiserver.resources import Column, Resource
from gpuyard_cluster.apiserver.tables import table

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
    assert "object" not in shown("pods", {"spec": {}}, "None")["rows"][0]


TEMPLATE = {"spec": {"containers": [{"name": "main", "image": "app:1"}]}}
SELECTOR = {"matchLabels": {"app": "x", "a": "b"}}
WORKLOAD = {
    "spec": {"replicas": 2, "template": TEMPLATE, "selector": SELECTOR},
    "status": {"readyReplicas": 1},
}
JOB = {"spec": {"completions": 2}, "status": {"succeeded": 1, "startTime": CREATED}}
EVENT = {
    "metadata": {"name": "e"},
    "involvedObject": {"kind": "Pod", "name": "p"},
    "reason": "Placed",
    "message": "on n1\n",
    "type": "Normal",
    "source": {"component": "me"},
    "lastTimestamp": CREATED,
}
READY_NODE = {
    "metadata": {"labels": {"node-role.kubernetes.io/worker": ""}},
    "spec": {"unschedulable": True},
    "status": {
        "conditions": [{"type": "Ready", "status": "True"}],
        "nodeInfo": {"kubeletVersion": "v1.36.3"},
    },
}


@pytest.mark.parametrize(
    ("qualified", "obj", "cells"),
    [
        ("nodes", READY_NODE, ["a", "Ready,SchedulingDisabled", "worker", "100s", "v1.36.3"]),
        ("nodes", {}, ["a", "Unknown", "<none>", "100s", ""]),
        ("namespaces", {"status": {"phase": "Active"}}, ["a", "Active", "100s"]),
        ("configmaps", {"data": {"x": "1"}, "binaryData": {"y": ""}}, ["a", 2, "100s"]),
        ("secrets", {"type": "Opaque"}, ["a", "Opaque", 0, "100s"]),
        ("deployments.apps", WORKLOAD, ["a", "1/2", 0, 0, "100s", "main", "app:1", "a=b,app=x"]),
        ("replicasets.apps", WORKLOAD, ["a", 2, 0, 1, "100s", "main", "app:1", "a=b,app=x"]),
        ("statefulsets.apps", WORKLOAD, ["a", "1/2", "100s", "main", "app:1"]),
        ("daemonsets.apps", {}, ["a", 0, 0, 0, 0, 0, "<none>", "100s"]),
        ("jobs.batch", JOB, ["a", "Running", "1/2", "100s", "100s"]),
        ("jobs.batch", {"spec": {"parallelism": 3}}, ["a", "Running", "0/1 of 3", "", "100s"]),
        ("events", EVENT, ["100s", "Normal", "Placed", "pod/p", "", "me", "on n1", "<unknown>", 1, "e"]),
        ("leases.coordination.k8s.io", {"spec": {"holderIdentity": "me"}}, ["a", "me", "100s"]),
        ("priorityclasses.scheduling.k8s.io", {"value": 5}, ["a", 5, False, "100s", "PreemptLowerPriority"]),
        ("poddisruptionbudgets.policy", {"spec": {"minAvailable": 1}}, ["a", "1", "N/A", 0, "100s"]),
        (
            "services",
            {"spec": {"ports": [{"port": 80}]}},
            ["a", "ClusterIP", "<none>", "<none>", "80/TCP", "100s"],
        ),
        ("customresourcedefinitions.apiextensions.k8s.io", {}, ["a", CREATED]),
        ("roles.rbac.authorization.k8s.io", {}, ["a", "100s"]),
    ],
)
def test_each_kind_shows_what_kubectl_shows(qualified: str, obj: dict[str, Any], cells: list[Any]) -> None:
    assert shown(qualified, obj)["rows"][0]["cells"][: len(cells)] == cells


@pytest.mark.parametrize(
    ("conditions", "deleted", "state"),
    [
        (["Complete"], False, "Complete"),
        (["FailureTarget"], False, "FailureTarget"),
        ([], True, "Terminating"),
    ],
)
def test_a_job_shows_its_state(conditions: list[str], deleted: bool, state: str) -> None:
    status = {"conditions": [{"type": kind, "status": "True"} for kind in conditions]}
    metadata = {"deletionTimestamp": CREATED} if deleted else {}
    assert shown("jobs.batch", {"metadata": metadata, "status": status})["rows"][0]["cells"][1] == state


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
