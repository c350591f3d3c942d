"""OpenAPI v3: an index of groups and versions, and a document for each.

Stands for `/openapi/v3` of kube-apiserver. The documents serve kubectl: `apply` looks for fieldValidation on
PATCH and for merge keys, `explain` for schemas by kind. They describe neither every response nor every parameter.
"""

import hashlib
from collections.abc import Sequence
from typing import Any

from gpuyard.writes import JSON, PatchType
from gpuyard_cluster.apiserver.changes.patches import APPLY
from gpuyard_cluster.apiserver.custom.structural import EMBEDDED, INT_OR_STRING
from gpuyard_cluster.apiserver.kinds import kinds, type_schemas
from gpuyard_cluster.apiserver.kinds.resources import Resource

_ROOT = "/openapi/v3"
_JSON = "application/json"
_CUSTOM_PATCHES = (APPLY, PatchType.JSON.value, PatchType.MERGE.value)
_PATCHES = (*_CUSTOM_PATCHES, PatchType.STRATEGIC.value)


_METADATA = {"allOf": [type_schemas.reference("V1ObjectMeta")]}


def document(path: str, resources: Sequence[Resource]) -> JSON | None:
    """The document at `/openapi/v3` or below it, such as `/openapi/v3/apis/apps/v1`; None where there is none."""
    below = path.rstrip("/").removeprefix(_ROOT)
    if not below:
        return _index(resources)
    served = [resource for resource in resources if f"/{_name(resource)}" == below]
    return _described(served) if served else None


def _name(resource: Resource) -> str:
    """`api/v1`, `apis/apps/v1`."""
    return f"apis/{resource.api_version}" if resource.group else f"api/{resource.version}"


def _index(resources: Sequence[Resource]) -> JSON:
    names = dict.fromkeys(_name(resource) for resource in resources)
    return {"paths": {name: {"serverRelativeURL": _link(name, resources)} for name in names}}


def _link(name: str, resources: Sequence[Resource]) -> str:
    """Where a document is; its hash changes whenever the document does, so clients may keep it for ever."""
    served = [resource for resource in resources if _name(resource) == name]
    return f"{_ROOT}/{name}?hash={hashlib.sha256(repr(served).encode()).hexdigest()[:32].upper()}"


def _described(resources: Sequence[Resource]) -> JSON:
    paths: JSON = {}
    for resource in resources:
        paths |= _paths(resource)
    return {
        "openapi": "3.0.0",
        "info": {"title": "Kubernetes", "version": "unversioned"},
        "paths": paths,
        "components": {"schemas": _schemas(resources)},
    }


def _schemas(resources: Sequence[Resource]) -> JSON:
    typed = {resource: kinds.type_of(resource.api_version, resource.kind) for resource in resources}
    roots = [type_name for type_name in typed.values() if type_name is not None]
    found = type_schemas.schemas([*roots, "V1ObjectMeta"])
    for resource, type_name in typed.items():
        name = _schema_name(resource)
        schema = found[type_schemas.name(type_name)] if type_name is not None else _custom_schema(resource)
        found[name] = {**schema, "x-kubernetes-group-version-kind": [_kind(resource)]}
    return found


def _schema_name(resource: Resource) -> str:
    if not resource.custom:
        return f"{type_schemas.package(resource.group, resource.version)}.{resource.kind}"
    return ".".join([*reversed(resource.group.split(".")), resource.version, resource.kind])


def _custom_schema(resource: Resource) -> JSON:
    written = resource.document or {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    own = {"apiVersion": {"type": "string"}, "kind": {"type": "string"}}
    published: JSON = _published(written)
    return {**published, "properties": {**own, "metadata": _METADATA, **_without_meta(published)}}


def _published(schema: Any) -> Any:
    """A part of a schema with what its extensions mean, for clients that do not know them."""
    if isinstance(schema, list):
        return [_published(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    found = {key: _published(part) for key, part in schema.items()}
    if schema.get(INT_OR_STRING) is True:
        found |= {"anyOf": [{"type": "integer"}, {"type": "string"}]}
    if schema.get(EMBEDDED) is True:
        own = {"apiVersion": {"type": "string"}, "kind": {"type": "string"}, "metadata": _METADATA}
        required = dict.fromkeys(["kind", "apiVersion", *found.get("required", ())])
        found |= {"properties": {**own, **_without_meta(found)}, "required": list(required)}
    return found


def _without_meta(schema: JSON) -> JSON:
    properties: JSON = schema.get("properties", {})
    return {key: value for key, value in properties.items() if key not in ("apiVersion", "kind", "metadata")}


def _kind(resource: Resource) -> JSON:
    return {"group": resource.group, "kind": resource.kind, "version": resource.version}


def _paths(resource: Resource) -> JSON:
    place = f"/{_name(resource)}" + ("/namespaces/{namespace}" if resource.namespaced else "")
    collection = f"{place}/{resource.plural}"
    found = {
        collection: _operations(resource, {"get": "list", "post": "create", "delete": "deletecollection"}),
        f"{collection}/{{name}}": _operations(
            resource, {"get": "get", "put": "update", "patch": "patch", "delete": "delete"}
        ),
    }
    return {path: operations for path, operations in found.items() if operations}


def _operations(resource: Resource, verbs: dict[str, str]) -> JSON:
    return {
        method: _operation(resource, method, verb) for method, verb in verbs.items() if verb in resource.verbs
    }


def _operation(resource: Resource, method: str, verb: str) -> JSON:
    schema = {"schema": {"$ref": type_schemas.REFERENCE + _schema_name(resource)}}
    operation: JSON = {
        "x-kubernetes-action": "list" if verb == "list" else method,
        "x-kubernetes-group-version-kind": _kind(resource),
        "responses": {"200": {"description": "OK", "content": {_JSON: schema}}},
    }
    if method in ("post", "put", "patch"):
        operation["parameters"] = [_parameter(name) for name in ("dryRun", "fieldManager", "fieldValidation")]
        operation["requestBody"] = {
            "content": dict.fromkeys(_media(resource, method), schema),
            "required": True,
        }
    if method == "patch":
        operation["parameters"].append(_parameter("force", "boolean"))
    return operation


def _media(resource: Resource, method: str) -> tuple[str, ...]:
    """The media types of a body."""
    if method != "patch":
        return (_JSON,)
    return _CUSTOM_PATCHES if resource.custom else _PATCHES


def _parameter(name: str, kind: str = "string") -> JSON:
    return {"name": name, "in": "query", "schema": {"type": kind, "uniqueItems": True}}
