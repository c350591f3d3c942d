"""Paths that hold no objects: discovery, OpenAPI, version, health, metrics.

Stands for the non-resource handlers of kube-apiserver.
"""

from gpuyard_cluster.apiserver.documents import discovery, openapi
from gpuyard_cluster.apiserver.documents.health import HEALTH_PATHS, VERSION, Metrics, health
from gpuyard_cluster.apiserver.errors import not_served
from gpuyard_cluster.apiserver.kinds.registry import Registry
from gpuyard_cluster.apiserver.requests import JSON_TYPE, Request, Response
from gpuyard_cluster.apiserver.verbs.unserved import UNSERVED_PATHS
from gpuyard_cluster.apiserver.wire.accept import Form, negotiate
from gpuyard_cluster.apiserver.wire.rendering import document

AGGREGATED = "APIGroupDiscoveryList"
_AGGREGATED_TYPE = f"{JSON_TYPE};g=apidiscovery.k8s.io;v=v2;as={AGGREGATED}"
_SCHEMAS_V2 = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf"
"""As kubectl asks for OpenAPI v2 before it applies a List. It passes over kinds that are not described there, and
each item is validated here when it is written: so a document without any kind, which is no byte, is enough. The type
of the answer has no @, which Go cannot parse."""
_DEEPEST = 3
"""Slashes in the longest discovery path, `/apis/<group>/<version>`."""


class Documents:
    """Answers about what is served."""

    def __init__(self, registry: Registry, metrics: Metrics) -> None:
        self._registry = registry
        self._metrics = metrics

    def answer(self, request: Request) -> Response | None:
        """The document at the request's path; None when it has to be a path of objects."""
        path = request.path.rstrip("/")
        if path == "/version":
            return document(VERSION, Form())
        if path.startswith(HEALTH_PATHS):
            return health(request)
        if path == "/metrics":
            return self._metrics.response()
        if path.startswith("/openapi/v3"):
            described = openapi.document(path, self._registry.all())
            return None if described is None else document(described, Form())
        if path == "/openapi/v2" and _SCHEMAS_V2 in request.headers.get("accept", ""):
            return Response(200, (("content-type", _SCHEMAS_V2.replace("@", ".")),), b"")
        if path in UNSERVED_PATHS:
            raise not_served(path or "the list of paths at /")
        return self._discovery(path, request)

    def _discovery(self, path: str, request: Request) -> Response | None:
        if not path.startswith("/api") or path.count("/") > _DEEPEST:
            return None
        form = negotiate(request.headers.get("accept", ""))
        aggregated = form.shape == AGGREGATED
        found = discovery.document(path, self._registry.all(), aggregated=aggregated)
        if found is None:
            return None
        response = document(found, form)
        if found.get("kind") != AGGREGATED:
            return response
        return Response(200, (("content-type", _AGGREGATED_TYPE),), response.body)
