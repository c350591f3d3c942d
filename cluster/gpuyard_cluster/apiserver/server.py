"""The API server: one function from a request to its response.

Stands for kube-apiserver without its network. Law: `handle` never waits and never raises; what it does is decided by
the request, the stored objects, `now` and the seed alone.
"""

import random
from collections.abc import Callable

from gpuyard.writes import JSON
from gpuyard_cluster.apiserver.admission import webhooks
from gpuyard_cluster.apiserver.admission.consultation import AwaitedError, Call, Consultation, Webhooks
from gpuyard_cluster.apiserver.auth.authentication import Authentication
from gpuyard_cluster.apiserver.backend import Backend
from gpuyard_cluster.apiserver.bootstrap import bootstrap
from gpuyard_cluster.apiserver.custom.custom import follow_definitions
from gpuyard_cluster.apiserver.documents.documents import Documents
from gpuyard_cluster.apiserver.documents.health import Metrics
from gpuyard_cluster.apiserver.errors import ApiError
from gpuyard_cluster.apiserver.kinds.builtin import BUILTIN
from gpuyard_cluster.apiserver.kinds.registry import NoSuchPathError, Registry
from gpuyard_cluster.apiserver.kinds.resources import Resource
from gpuyard_cluster.apiserver.requests import MAX_BODY, Request, Response
from gpuyard_cluster.apiserver.routing import Target, resolve
from gpuyard_cluster.apiserver.storage.event_expiry import expire_events
from gpuyard_cluster.apiserver.storage.storage import HISTORY, Store
from gpuyard_cluster.apiserver.verbs import handlers, reviews
from gpuyard_cluster.apiserver.verbs.podlogs import LogSource, no_logs
from gpuyard_cluster.apiserver.verbs.subresources import Subresources, bind
from gpuyard_cluster.apiserver.wire.accept import Form, negotiate
from gpuyard_cluster.apiserver.wire.bodies import read_kind
from gpuyard_cluster.apiserver.wire.rendering import document

Fault = Callable[[Request], ApiError | None]
"""Asked before each mutating request: the error with which it fails, or None."""


class APIServer:
    """An API server with its store. `now` gives seconds since the epoch, `logs` the output of containers."""

    def __init__(
        self,
        now: Callable[[], float],
        seed: int = 0,
        logs: LogSource = no_logs,
        history: int = HISTORY,
        webhooks: Webhooks | None = None,
    ) -> None:
        self.faults: list[Fault] = []
        self.authentication = Authentication()
        """How those who hand in requests from outside (`http`) find out whose they are."""
        self.webhooks = webhooks
        """How those who hand in requests call webhooks (`consulting`); None where there is no network."""
        self._backend = Backend(Store(history), Registry(BUILTIN), now, random.Random(seed))
        self._subresources = Subresources(logs)
        self._metrics = Metrics()
        self._documents = Documents(self._backend.registry, self._metrics)
        follow_definitions(self._backend)
        expire_events(self._backend)
        bootstrap(self._backend)

    @property
    def revision(self) -> int:
        """The number of the last change."""
        return self._backend.store.revision

    def collections(self) -> dict[str, str]:
        """Name -> path of everything that can be listed and watched, each stored object once."""
        found = (resource for resource in self._backend.registry.all() if "watch" in resource.verbs)
        return {_name(resource): resource.collection for resource in reversed(list(found))}

    def when_served(self, tell: Callable[[str, str], None]) -> None:
        """Call `tell` with name and path of each custom resource that is served from now on."""
        self._backend.on_served.append(lambda resource: tell(_name(resource), resource.collection))

    def handle(self, request: Request) -> Response:
        """The answer to a request; refusals are answers too. No webhook is called: that fails as it says it may."""
        return self._handle(request, self._backend, begun=False)

    def consultation(self, request: Request) -> Consultation | None:
        """What to hand in with a request that webhooks may want to see; None for all others."""
        store = self._backend.store
        if not request.mutating or not (store.count(webhooks.MUTATING) or store.count(webhooks.VALIDATING)):
            return None
        return Consultation(self._backend.now(), self._backend.random.getrandbits(64))

    def consider(self, request: Request, consultation: Consultation) -> Response | tuple[Call, ...]:
        """The answer to a request, or the webhooks to call before there can be one."""
        backend = self._backend.during(consultation)
        try:
            response = self._handle(request, backend, begun=consultation.begun)
        except AwaitedError as awaited:
            return awaited.calls
        return response

    def _handle(self, request: Request, backend: Backend, *, begun: bool) -> Response:
        backend.warnings.clear()
        return handlers.warned(self._answer(request, backend, begun=begun), backend.warnings)

    def _answer(self, request: Request, backend: Backend, *, begun: bool) -> Response:
        try:
            return self._documents.answer(request) or self._api(request, backend, begun=begun)
        except NoSuchPathError:
            return Response(404, (("content-type", "text/plain; charset=utf-8"),), b"404 page not found\n")
        except ApiError as error:
            return refusal(error)

    def close(self) -> None:
        """End all watches."""
        self._backend.watches.close_all()

    def _api(self, request: Request, backend: Backend, *, begun: bool) -> Response:
        target = resolve(request.path, self._backend.registry)
        if len(request.body) > MAX_BODY:
            message = f"Request entity too large: limit is {MAX_BODY}"
            raise ApiError(413, "RequestEntityTooLarge", message)
        try:
            if not begun:
                self._inject(request)
            response = self._dispatch(request, target, backend)
        except ApiError as error:
            self._count(request, target, error.code)
            raise
        self._count(request, target, response.status)
        return response

    def _inject(self, request: Request) -> None:
        if not request.mutating:
            return
        for fault in self.faults:
            error = fault(request)
            if error is not None:
                raise error

    def _dispatch(self, request: Request, target: Target, backend: Backend) -> Response:
        resource = target.resource
        if target.subresource:
            return self._subresources.handle(backend, request, target)
        if resource.verbs == ("create",) and request.method == "POST" and not target.name:
            if resource.qualified == "bindings":
                return bind(backend, request, target)
            review = read_kind(request, resource.api_version, resource.kind)
            answered = reviews.answer(resource, review, request.user, self.authentication)
            return document(answered, negotiate(request.headers.get("accept", "")), 201)
        return handlers.handle(backend, request, target)

    def _count(self, request: Request, target: Target, code: int) -> None:
        resource = target.resource
        self._metrics.count(request.method, resource.group, resource.version, resource.plural, code)


def _name(resource: Resource) -> str:
    """A custom resource's group is part of its name: two groups may have the same plural, or a built-in one."""
    return resource.qualified if resource.custom else resource.plural


def refusal(error: ApiError) -> Response:
    """The response that an error is."""
    response = document(error.status(), Form(), error.code)
    details: JSON = error.details or {}
    if "retryAfterSeconds" not in details:
        return response
    retry = ("retry-after", str(details["retryAfterSeconds"]))
    return Response(response.status, (*response.headers, retry), response.body)
