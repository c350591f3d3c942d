"""The last step of every write: into the store, in the version in which the object is kept.

Stands for the storage layer below `registry.Store`. What must follow a write within the same request (serving a new
CustomResourceDefinition, ending the last custom resource of a dying one) is called from here.
"""

import orjson

from gpuyard.writes import JSON
from gpuyard_cluster.apiserver.backend import Backend
from gpuyard_cluster.apiserver.routing import Target
from gpuyard_cluster.apiserver.storage.storage import Stored


def put(backend: Backend, target: Target, obj: JSON, *, dry_run: bool = False) -> Stored:
    """Store an object of the target's version; as it would have been stored, on a dry run."""
    kept = backend.view(target).storable(obj, backend.registry.storage_version(target.resource))
    if dry_run:
        return unsaved(target, kept)
    stored = backend.store.put(target.resource.store, target.key, kept)
    for follow in backend.after_put:
        follow(target.resource, stored)
    return stored


def remove(backend: Backend, target: Target, *, dry_run: bool = False) -> Stored:
    """Remove the target's object; its last state."""
    if dry_run:
        return backend.read(target)
    last = backend.store.delete(target.resource.store, target.key)
    for follow in backend.after_remove:
        follow(target.resource, last)
    return last


def unsaved(target: Target, obj: JSON) -> Stored:
    """An object as an answer shows it that was not stored."""
    typed = {"kind": obj["kind"], "apiVersion": obj["apiVersion"], **obj}
    return Stored(target.key, 0, typed, orjson.dumps(typed))
