"""The verbs on collections and objects.

Stands for `endpoints/handlers` of kube-apiserver: each takes a request apart, lets a flow do the work, and renders.
"""

import re
from collections.abc import Callable
from dataclasses import replace

from gpuyard.writes import JSON
from gpuyard_cluster.apiserver.backend import Backend
from gpuyard_cluster.apiserver.errors import ApiError, not_served
from gpuyard_cluster.apiserver.kinds.resources import NEVER_ANY
from gpuyard_cluster.apiserver.requests import JSON_TYPE, Request, Response
from gpuyard_cluster.apiserver.routing import Target
from gpuyard_cluster.apiserver.rules import metadata
from gpuyard_cluster.apiserver.storage import listing, watching
from gpuyard_cluster.apiserver.storage.storage import Stored
from gpuyard_cluster.apiserver.verbs import creation, deletion, patching, updates
from gpuyard_cluster.apiserver.wire import bodies
from gpuyard_cluster.apiserver.wire.accept import negotiate
from gpuyard_cluster.apiserver.wire.delete_options import delete_options
from gpuyard_cluster.apiserver.wire.options import WriteOptions, write_options
from gpuyard_cluster.apiserver.wire.rendering import Renderer, document, renderer

Handler = Callable[[Backend, Request, Target], Response]

_CREATED_BY_PUT = frozenset(
    {
        "clusterrolebindings.rbac.authorization.k8s.io",
        "clusterroles.rbac.authorization.k8s.io",
        "endpoints",
        "endpointslices.discovery.k8s.io",
        "events",
        "events.events.k8s.io",
        "leases.coordination.k8s.io",
        "rolebindings.rbac.authorization.k8s.io",
        "roles.rbac.authorization.k8s.io",
        "services",
    }
)
"""Resources whose strategy has AllowCreateOnUpdate."""
_DEPRECATED = {"endpoints": "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice"}
"""What everybody is told who uses a resource."""
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
"""What no header may hold: a warning with it is dropped."""
_RETURNED_WHEN_GONE = frozenset({"pods", "serviceaccounts", "services"})
"""Resources whose registry has ReturnDeletedObject; the others answer a finished deletion with a Status."""


def handle(backend: Backend, request: Request, target: Target) -> Response:
    """The answer to a request about a collection or an object."""
    verbs = _OBJECT_VERBS if target.name else _COLLECTION_VERBS
    found = verbs.get(request.method)
    if found is None or found[0] not in target.resource.verbs:
        if target.resource.verbs == NEVER_ANY:
            raise not_served(target.resource.qualified)
        raise method_not_allowed()
    if warning := _DEPRECATED.get(target.resource.qualified):
        backend.warnings.append(warning)
    return found[1](backend, request, target)


def method_not_allowed() -> ApiError:
    message = "the server does not allow this method on the requested resource"
    return ApiError(405, "MethodNotAllowed", message, {})


def rendering(backend: Backend, request: Request, target: Target) -> Renderer:
    """How the request wants to see objects of the target."""
    form = negotiate(request.headers.get("accept", ""))
    return renderer(request, backend.view(target), form, backend.now)


def warned(response: Response, warnings: list[str]) -> Response:
    """The response with something that its client should be told."""
    if not warnings:
        return response
    told = [text for text in warnings if not _CONTROL.search(text)]
    headers = tuple(("warning", f'299 - "{_escaped(text)}"') for text in told)
    return replace(response, headers=response.headers + headers)


def get(backend: Backend, request: Request, target: Target) -> Response:
    """GET of an object, or of its status. Only collections are watched."""
    return rendering(backend, request, target).response(backend.read(target))


def _watch(backend: Backend, request: Request, target: Target) -> Response:
    renders = rendering(backend, request, target)
    watch = watching.open_watch(request, target, backend, renders)
    return Response(200, (("content-type", JSON_TYPE),), watch=watch)


def _list(backend: Backend, request: Request, target: Target) -> Response:
    if request.flag("watch"):
        return _watch(backend, request, target)
    renders = rendering(backend, request, target)
    page = listing.page(request, target, backend.store)
    return renders.listing(page.items, page.metadata)


def _create(backend: Backend, request: Request, target: Target) -> Response:
    if target.resource.namespaced and not target.namespace:
        raise method_not_allowed()
    options, renders = write_options(request), rendering(backend, request, target)
    obj = _read(backend, request, target, options)
    return renders.response(creation.create(backend, target, obj, options), 201)


def _read(backend: Backend, request: Request, target: Target, options: WriteOptions) -> JSON:
    obj, warnings = bodies.read_object(request, target.resource, options)
    backend.warnings += warnings
    return obj


def put(backend: Backend, request: Request, target: Target) -> Response:
    """PUT of an object, or of its status."""
    options, renders = write_options(request), rendering(backend, request, target)
    obj = _read(backend, request, target, options)
    metadata.require_name(obj["metadata"])
    metadata.place(target, obj["metadata"])
    stored = backend.get(target)
    if stored is None and not target.subresource and target.resource.qualified in _CREATED_BY_PUT:
        return renders.response(creation.create(backend, target, obj, options), 201)
    metadata.check_uid(target, backend.read(target).obj["metadata"], obj["metadata"].get("uid"))
    return renders.response(updates.update(backend, target, obj, options))


def patch(backend: Backend, request: Request, target: Target) -> Response:
    """PATCH of an object, or of its status."""
    options, renders = write_options(request), rendering(backend, request, target)
    return renders.response(*patching.patch(backend, target, request, options))


def _delete(backend: Backend, request: Request, target: Target) -> Response:
    renders = rendering(backend, request, target)
    deleted = deletion.delete(backend, target, delete_options(request, bodies.read_delete_options(request)))
    if deleted.gone and target.resource.qualified not in _RETURNED_WHEN_GONE:
        return document(_success(target, deleted.stored), renders.form)
    return renders.response(deleted.stored)


def _delete_collection(backend: Backend, request: Request, target: Target) -> Response:
    renders = rendering(backend, request, target)
    options = delete_options(request, bodies.read_delete_options(request))
    page = listing.page(request, target, backend.store)
    return renders.listing(deletion.delete_collection(backend, target, page.items, options), page.metadata)


def _success(target: Target, last: Stored) -> dict[str, object]:
    resource = target.resource
    details = {"name": target.name, "kind": resource.plural, "uid": last.obj["metadata"]["uid"]}
    if resource.group:
        details["group"] = resource.group
    return {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "details": details}


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


_COLLECTION_VERBS: dict[str, tuple[str, Handler]] = {
    "GET": ("list", _list),
    "POST": ("create", _create),
    "DELETE": ("deletecollection", _delete_collection),
}
_OBJECT_VERBS: dict[str, tuple[str, Handler]] = {
    "GET": ("get", get),
    "PUT": ("update", put),
    "PATCH": ("patch", patch),
    "DELETE": ("delete", _delete),
}
