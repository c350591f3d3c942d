"""The verbs on subresources.

Stands for the subresource handlers that kube-apiserver installs beside each resource.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from gpuyard.writes import JSON
from gpuyard_cluster.apiserver.admission import admission
from gpuyard_cluster.apiserver.backend import Backend
from gpuyard_cluster.apiserver.errors import bad_request, not_served
from gpuyard_cluster.apiserver.kinds import kinds
from gpuyard_cluster.apiserver.requests import Request, Response
from gpuyard_cluster.apiserver.routing import Target
from gpuyard_cluster.apiserver.rules import metadata
from gpuyard_cluster.apiserver.verbs import (
    binding,
    eviction,
    following,
    handlers,
    patching,
    podlogs,
    scaling,
    updates,
)
from gpuyard_cluster.apiserver.verbs.handlers import Handler, method_not_allowed
from gpuyard_cluster.apiserver.verbs.podlogs import LogSource
from gpuyard_cluster.apiserver.wire import bodies
from gpuyard_cluster.apiserver.wire.accept import negotiate
from gpuyard_cluster.apiserver.wire.delete_options import delete_options
from gpuyard_cluster.apiserver.wire.options import write_options
from gpuyard_cluster.apiserver.wire.rendering import document

_DONE: JSON = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201}


@dataclass(frozen=True, slots=True)
class Subresources:
    """Answers requests about subresources. `logs` is where containers' output comes from."""

    logs: LogSource

    def handle(self, backend: Backend, request: Request, target: Target) -> Response:
        """The answer; 405 for a verb that the subresource does not have, 501 for one that is not served."""
        if target.subresource == "log":
            return self._log(backend, request, target)
        verbs = _SUBRESOURCES.get(target.subresource)
        if verbs is None:
            raise not_served(f"{target.resource.plural}/{target.subresource}")
        found = verbs.get(request.method)
        if found is None:
            raise method_not_allowed()
        return found(backend, request, target)

    def _log(self, backend: Backend, request: Request, target: Target) -> Response:
        if request.method != "GET":
            raise method_not_allowed()
        head = (("content-type", "text/plain"),)
        if request.flag("follow"):
            return Response(200, head, watch=following.follow(backend, request, target, self.logs))
        printed = podlogs.read_log(request, backend.read(target).obj, self.logs, backend.now())
        return Response(200, head, printed)


def bind(backend: Backend, request: Request, target: Target) -> Response:
    """POST of a Binding, to the pod or to the namespace's bindings."""
    body = bodies.read_kind(request, "v1", "Binding")
    pods = backend.registry.find("", "v1", "pods")
    name = target.name or str(body["metadata"].get("name", ""))
    place = replace(target, resource=pods, name=name, subresource="binding")
    binding.bind(backend, place, body, write_options(request))
    return document(_DONE, negotiate(request.headers.get("accept", "")), 201)


def _evict(backend: Backend, request: Request, target: Target) -> Response:
    body = bodies.read_kind(request, "policy/v1", "Eviction")
    if body["metadata"].get("name", target.name) != target.name:
        raise bad_request("name in URL does not match name in Eviction object")
    options = delete_options(request, body.get("deleteOptions") or {})
    eviction.evict(backend, target, body, options)
    return document(_DONE, negotiate(request.headers.get("accept", "")), 201)


def _get_scale(backend: Backend, request: Request, target: Target) -> Response:
    scale = scaling.scale_of(target, backend.view(target).obj(backend.read(target)))
    return document(scale, negotiate(request.headers.get("accept", "")))


def _put_scale(backend: Backend, request: Request, target: Target) -> Response:
    return _write_scale(
        backend, request, target, lambda _current: bodies.read_kind(request, "autoscaling/v1", "Scale")
    )


def _patch_scale(backend: Backend, request: Request, target: Target) -> Response:
    return _write_scale(backend, request, target, lambda current: _patched_scale(request, current))


def _patched_scale(request: Request, current: JSON) -> JSON:
    scale = patching.patched(request, current, "Scale")
    kinds.decode(scale, patched=True)
    return scale


def _write_scale(
    backend: Backend, request: Request, target: Target, change: Callable[[JSON], JSON]
) -> Response:
    options = write_options(request)
    obj = backend.view(target).obj(backend.read(target))
    current = scaling.scale_of(target, obj)
    attempt = admission.Attempt("UPDATE", target, current, options)
    wanted = change(current)
    metadata.place(target, wanted["metadata"])
    wanted = admission.mutate(backend, attempt, wanted)
    admission.validate(backend, attempt, wanted)
    stored = updates.update(backend, target, scaling.scaled(target, obj, wanted), options)
    scale = scaling.scale_of(target, backend.view(target).obj(stored))
    return document(scale, negotiate(request.headers.get("accept", "")))


def _finalize(backend: Backend, request: Request, target: Target) -> Response:
    """PUT of a Namespace whose spec.finalizers are what is left of them."""
    options, renders = write_options(request), handlers.rendering(backend, request, target)
    body, _ = bodies.read_object(request, target.resource, options)
    stored = backend.read(target)
    namespace = stored.copy()
    namespace["spec"] = {"finalizers": list((body.get("spec") or {}).get("finalizers") or [])}
    return renders.response(updates.commit(backend, target, stored, namespace, options))


_SUBRESOURCES: dict[str, dict[str, Handler]] = {
    "status": {"GET": handlers.get, "PUT": handlers.put, "PATCH": handlers.patch},
    "scale": {"GET": _get_scale, "PUT": _put_scale, "PATCH": _patch_scale},
    "binding": {"POST": bind},
    "eviction": {"POST": _evict},
    "finalize": {"PUT": _finalize},
}
