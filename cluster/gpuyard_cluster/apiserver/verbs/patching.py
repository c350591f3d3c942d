"""PATCH: merge, JSON and strategic patches, and server-side apply.

Stands for the patchers of kube-apiserver. A patch is always made on the newest object, so it needs no retry.
"""

from gpuyard.writes import JSON
from gpuyard_cluster.apiserver.backend import Backend
from gpuyard_cluster.apiserver.changes import apply, merging, patches
from gpuyard_cluster.apiserver.errors import ApiError, Cause, bad_request, conflict, invalid, not_found
from gpuyard_cluster.apiserver.kinds import kinds
from gpuyard_cluster.apiserver.requests import JSON_TYPE, Request
from gpuyard_cluster.apiserver.routing import Target
from gpuyard_cluster.apiserver.rules import metadata
from gpuyard_cluster.apiserver.storage.storage import Stored
from gpuyard_cluster.apiserver.verbs import creation, updates
from gpuyard_cluster.apiserver.wire import bodies, encoding
from gpuyard_cluster.apiserver.wire.options import WriteOptions


def patch(backend: Backend, target: Target, request: Request, options: WriteOptions) -> tuple[Stored, int]:
    """Patch the target's object; the object, and 200, or 201 if an apply made it."""
    if options.applied:
        return _apply(backend, target, request, options)
    current = backend.view(target).obj(backend.read(target))
    change = encoding.decode(request.body, JSON_TYPE)
    changed = patches.apply_patch(request.content_type, current, change.value, target.resource.kind)
    _keep_type(backend, target, changed, options)
    _check_patched(target, changed)
    found = bodies.settle(changed, target.resource, options, duplicates=change.duplicates, patched=True)
    backend.warnings += found
    return updates.update(backend, target, changed, options), 200


def _keep_type(backend: Backend, target: Target, changed: JSON, options: WriteOptions) -> None:
    """A built-in object gets its kind back; one without a version has no fields that anybody knows."""
    if changed.get("apiVersion") and (changed.get("kind") or not target.resource.custom):
        changed["kind"] = changed.get("kind") or target.resource.kind
        return
    if target.resource.custom:
        raise bad_request("Object 'Kind' is missing: a patch may not remove apiVersion and kind")
    if options.validation == "Warn":
        unknown = (key for key in changed if key not in ("apiVersion", "kind"))
        backend.warnings += [f'unknown field "{key}"' for key in unknown]
    raise bad_request("name must be provided: without apiVersion no field of the object is known")


def _check_patched(target: Target, changed: JSON) -> None:
    """Refuse patches that make the object another one."""
    version, kind = changed["apiVersion"], changed["kind"]
    if (version, kind) != (target.resource.api_version, target.resource.kind):
        message = f"Invalid value: {version} {kind}: a patch may not change apiVersion and kind"
        raise invalid("", "", [Cause("patch", "FieldValueInvalid", message)])
    bodies.check_type(changed, target.resource)
    metadata.require_name(changed["metadata"])


def patched(request: Request, current: JSON, kind: str) -> JSON:
    """`current` with the patch of the request's body; nothing is stored."""
    change = encoding.decode(request.body, JSON_TYPE).value
    return patches.apply_patch(request.content_type, current, change, kind)


def _apply(backend: Backend, target: Target, request: Request, options: WriteOptions) -> tuple[Stored, int]:
    config, stored = _config(request), backend.get(target)
    bodies.check_type(config, target.resource)
    _check_typed(target, config)
    if stored is None:
        _check_new(target, config["metadata"])
    metadata.place(target, config["metadata"])
    obj = apply.apply(
        None if stored is None else backend.view(target).obj(stored),
        _applicable(target, config),
        options.manager,
        options.force,
        now=backend.timestamp(),
        subresource=target.subresource,
        schema=target.resource.document,
    )
    backend.warnings += bodies.settle(obj, target.resource, options, patched=True)
    if stored is None:
        return creation.create(backend, target, obj, options), 201
    return updates.update(backend, target, obj, options), 200


def _config(request: Request) -> JSON:
    config = encoding.decode(request.body, "application/yaml").value
    if not isinstance(config, dict) or not config.get("kind") or not config.get("apiVersion"):
        raise bad_request("invalid object type: apiVersion and kind must be set in the applied configuration")
    return config


def _check_new(target: Target, given: JSON) -> None:
    """Refuse what can only be applied to an object that exists."""
    if target.subresource:
        raise not_found(target.resource.qualified, target.name)
    metadata.require_name(given)
    if uid := given.get("uid"):
        why = f"Precondition failed: UID in precondition: {uid}, UID in object meta: "
        raise conflict(target.resource.qualified, target.name, why)


def _check_typed(target: Target, config: JSON) -> None:
    """500 for a configuration that does not fit its type: the real server cannot even read such a one."""
    typed, schema = merging.copied(config), target.resource.schema
    try:
        unknown = kinds.decode(typed) + (schema.prune(typed) if schema is not None else [])
    except ApiError as error:
        raise ApiError(500, "", f"failed to create typed patch object: {error.message}") from error
    if unknown:
        message = f".{unknown[0]}: field not declared in schema"
        raise ApiError(500, "", f"failed to create typed patch object: {message}")


def _applicable(target: Target, config: JSON) -> JSON:
    """The parts of a configuration that its path writes."""
    if not target.resource.status_isolated:
        return config
    if target.subresource == "status":
        return {key: config[key] for key in ("apiVersion", "kind", "metadata", "status") if key in config}
    return {key: value for key, value in config.items() if key != "status"}
