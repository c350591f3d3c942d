"""Creating an object.

Stands for the `Create` handler and `registry.Store.Create` of kube-apiserver, in their order: identity, namespace,
mutating admission, what a new object starts with, validation, validating admission, ownership of fields, the store.
"""

from dataclasses import replace
from typing import Any

from gpuyard.writes import JSON
from gpuyard_cluster.apiserver.admission import admission
from gpuyard_cluster.apiserver.backend import Backend
from gpuyard_cluster.apiserver.changes import apply
from gpuyard_cluster.apiserver.custom import definitions
from gpuyard_cluster.apiserver.errors import already_exists, invalid
from gpuyard_cluster.apiserver.kinds import new_objects
from gpuyard_cluster.apiserver.kinds.resources import Resource
from gpuyard_cluster.apiserver.routing import Target
from gpuyard_cluster.apiserver.rules import metadata, validation
from gpuyard_cluster.apiserver.rules.names import validate_metadata
from gpuyard_cluster.apiserver.storage import commits, generations
from gpuyard_cluster.apiserver.storage.storage import Stored
from gpuyard_cluster.apiserver.wire.options import WriteOptions

_CREATED_WITH_STATUS = frozenset({"nodes"})
"""A kubelet registers its node together with what it has; every other status starts empty."""


def create(backend: Backend, target: Target, obj: JSON, options: WriteOptions) -> Stored:
    """Store a new object that is decoded and defaulted; ApiError when it is refused."""
    managed = obj["metadata"].pop("managedFields", None)
    metadata.strip(obj["metadata"])
    metadata.place(target, obj["metadata"])
    place = replace(target, name=obj["metadata"].get("name", ""))
    attempt = admission.Attempt("CREATE", place, None, options)
    admission.check_namespace(backend, place)
    obj = _owned(backend, place, obj, managed, options)
    obj = admission.mutate(backend, attempt, obj)
    metadata.begin(backend, target, obj, dry_run=options.dry_run)
    place = replace(target, name=obj["metadata"].get("name", ""))
    attempt = replace(attempt, target=place)
    _prepare(place.resource, obj)
    _validate(place.resource, obj)
    if place.resource.kind == "CustomResourceDefinition":
        definitions.establish(obj, backend.timestamp())
    admission.validate(backend, attempt, obj)
    if backend.get(place) is not None:
        raise already_exists(place.resource.qualified, place.name)
    return commits.put(backend, place, obj, dry_run=options.dry_run)


def _owned(backend: Backend, place: Target, obj: JSON, managed: Any, options: WriteOptions) -> JSON:
    """The object with its managers: of what the client sent, not of what admission and the registry add to it."""
    if options.applied:
        return {**obj, "metadata": {**obj["metadata"], "managedFields": managed}} if managed else obj
    resource, now = place.resource, backend.timestamp()
    owned = "status" if resource.status_isolated else ""
    sent = {key: value for key, value in obj.items() if key != owned}
    tracked = apply.track(None, sent, options.manager, now=now, schema=resource.document)
    return {**obj, "metadata": tracked["metadata"]}


def _loses_status(resource: Resource) -> bool:
    return resource.status_isolated and resource.plural not in _CREATED_WITH_STATUS


def _prepare(resource: Resource, obj: JSON) -> None:
    """What a new object starts with."""
    if _loses_status(resource):
        obj.pop("status", None)
        if not resource.custom:
            obj["status"] = {}
    if not resource.custom:
        new_objects.prepare_create(resource.kind, obj)
    if generations.counted(resource):
        obj["metadata"]["generation"] = 1


def _validate(resource: Resource, obj: JSON) -> None:
    """422 with all causes when the new object is not valid."""
    found = validate_metadata(resource.kind, obj["metadata"])
    if resource.schema is not None:
        found += resource.schema.validate(obj)
    else:
        found += validation.validate_create(resource.kind, obj)
    if found:
        raise invalid(resource.qualified_kind, obj["metadata"].get("name", ""), found)
