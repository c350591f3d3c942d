"""CustomResourceDefinitions at work: served while they exist, and gone with their objects.

Stands for the establishing, naming and finalizing controllers of apiextensions-apiserver; here they act within the
request that changes the definition.
"""

from gpuyard_cluster.apiserver.backend import Backend
from gpuyard_cluster.apiserver.custom import definitions
from gpuyard_cluster.apiserver.kinds.resources import Resource
from gpuyard_cluster.apiserver.routing import Target
from gpuyard_cluster.apiserver.storage.storage import Stored
from gpuyard_cluster.apiserver.verbs import deletion, updates
from gpuyard_cluster.apiserver.wire.delete_options import DeleteOptions
from gpuyard_cluster.apiserver.wire.options import WriteOptions

DEFINITIONS = "customresourcedefinitions.apiextensions.k8s.io"


def follow_definitions(backend: Backend) -> None:
    """Make the server serve what its definitions say, from now on."""
    backend.after_put.append(lambda resource, stored: _changed(backend, resource, stored))
    backend.after_remove.append(lambda resource, last: _removed(backend, resource, last))


def _changed(backend: Backend, resource: Resource, stored: Stored) -> None:
    if resource.qualified != DEFINITIONS:
        return
    if stored.obj["metadata"].get("deletionTimestamp"):
        _delete_objects(backend, stored)
        return
    spec = stored.obj["spec"]
    kept = next(version["name"] for version in spec["versions"] if version["storage"])
    known = any(served.store == stored.key for served in backend.registry.all())
    backend.registry.remove(stored.key)
    served = definitions.resources_of(stored.obj)
    for resource_version in served:
        backend.registry.add(resource_version, f"{spec['group']}/{kept}")
    if served and not known:
        for tell in backend.on_served:
            tell(served[0])


def _delete_objects(backend: Backend, definition: Stored) -> None:
    for served in definitions.resources_of(definition.obj)[:1]:
        for stored in list(backend.store.scan(served.store)):
            metadata = stored.obj["metadata"]
            if not metadata.get("deletionTimestamp"):
                place = Target(served, metadata.get("namespace", ""), metadata["name"])
                deletion.delete(backend, place, DeleteOptions())
    _finish(backend, definition.key)


def _removed(backend: Backend, resource: Resource, last: Stored) -> None:
    if resource.qualified == DEFINITIONS:
        backend.registry.remove(last.key)
        backend.watches.close(last.key)
    elif resource.custom:
        _finish(backend, resource.qualified)


def _finish(backend: Backend, name: str) -> None:
    """Let a definition go that is being deleted, once it has no objects left."""
    definition = backend.store.get(DEFINITIONS, name)
    if definition is None or not definition.obj["metadata"].get("deletionTimestamp"):
        return
    if next(backend.store.scan(name), None) is not None:
        return
    obj = definition.copy()
    held = [item for item in obj["metadata"].get("finalizers", ()) if item != deletion.DEFINITION_CLEANUP]
    obj["metadata"]["finalizers"] = held
    resource = backend.registry.find("apiextensions.k8s.io", "v1", "customresourcedefinitions")
    updates.commit(backend, Target(resource, name=name), definition, obj, WriteOptions())
