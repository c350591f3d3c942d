"""The OpenAPI index and documents."""

from typing import Any

import orjson
import pytest

from gpuyard_cluster.apiserver.custom.schemas import Schema
from gpuyard_cluster.apiserver.documents.openapi import document
from gpuyard_cluster.apiserver.kinds.builtin import BUILTIN
from gpuyard_cluster.apiserver.kinds.resources import Resource


def widgets(size: str = "integer", **more: Any) -> Resource:
    spec = {"type": "object", "properties": {"size": {"type": size}, **more}}
    schema = Schema({"type": "object", "properties": {"spec": spec, "metadata": {"type": "object"}}})
    names = ("widgets", "Widget", True, "widget", "WidgetList")
    return Resource("example.com", "v1", *names, custom=True, schema=schema)


def described(path: str) -> dict[str, Any]:
    found = document(path, [*BUILTIN, widgets()])
    assert found is not None
    encoded: dict[str, Any] = orjson.loads(orjson.dumps(found))
    return encoded


def schema_of(body: dict[str, Any], kind: dict[str, str]) -> dict[str, Any]:
    """The schema of a kind, found as `kubectl explain` finds it."""
    schemas = body["components"]["schemas"].values()
    (found,) = [schema for schema in schemas if kind in schema.get("x-kubernetes-group-version-kind", [])]
    assert isinstance(found, dict)
    return found


def test_the_index_names_each_group_and_version_with_a_hash() -> None:
    paths = described("/openapi/v3")["paths"]
    assert {"api/v1", "apis/apps/v1", "apis/example.com/v1"} <= set(paths)
    path, _, hashed = paths["api/v1"]["serverRelativeURL"].partition("?hash=")
    assert path == "/openapi/v3/api/v1"
    assert len(hashed) == 32


def test_the_hash_changes_with_the_schema() -> None:
    links = [document("/openapi/v3", [widgets(size)]) for size in ("integer", "integer", "string")]
    assert links[0] == links[1] != links[2]


def test_a_document_says_what_kinds_and_fields_are_for() -> None:
    schemas = described("/openapi/v3/api/v1")["components"]["schemas"]
    spec = schemas["io.k8s.api.core.v1.PodSpec"]
    assert spec["description"].startswith("PodSpec is")
    assert "node" in spec["properties"]["nodeName"]["description"]
    assert spec["properties"]["containers"]["type"] == "array"


def test_a_patch_takes_field_validation() -> None:
    patch = described("/openapi/v3/apis/apps/v1")["paths"][
        "/apis/apps/v1/namespaces/{namespace}/deployments/{name}"
    ]["patch"]
    assert patch["x-kubernetes-group-version-kind"] == {
        "group": "apps",
        "kind": "Deployment",
        "version": "v1",
    }
    names = {parameter["name"] for parameter in patch["parameters"]}
    assert {"fieldValidation", "dryRun", "fieldManager", "force"} <= names
    assert "application/strategic-merge-patch+json" in patch["requestBody"]["content"]


def test_what_extensions_mean_is_said_in_plain_schemas_too() -> None:
    embedded = {"type": "object", "x-kubernetes-embedded-resource": True, "required": ["spec"]}
    more = {"port": {"x-kubernetes-int-or-string": True}, "pods": {"type": "array", "items": embedded}}
    body = document("/openapi/v3/apis/example.com/v1", [widgets(**more)])
    assert body is not None
    schema = schema_of(body, {"group": "example.com", "kind": "Widget", "version": "v1"})
    spec = schema["properties"]["spec"]["properties"]
    assert spec["port"]["anyOf"] == [{"type": "integer"}, {"type": "string"}]
    assert set(spec["pods"]["items"]["properties"]) == {"apiVersion", "kind", "metadata"}
    assert spec["pods"]["items"]["required"] == ["kind", "apiVersion", "spec"]


def test_only_verbs_that_are_served_are_described() -> None:
    paths = described("/openapi/v3/apis/authorization.k8s.io/v1")["paths"]
    assert set(paths["/apis/authorization.k8s.io/v1/subjectaccessreviews"]) == {"post"}
    assert "/apis/authorization.k8s.io/v1/subjectaccessreviews/{name}" not in paths


@pytest.mark.parametrize("path", ["/openapi/v3/api/v9", "/openapi/v3/nowhere", "/openapi/v2"])
def test_other_paths_have_no_document(path: str) -> None:
    assert document(path, list(BUILTIN)) is None
