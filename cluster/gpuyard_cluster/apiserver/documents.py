"""Paths that hold no objects: discovery, OpenAPI, version, health, metrics.

Stands for the non-resource handlers of kube-apiserver.
"""

from gpuyard_cluster.apiserver.accept import Form
from gpuyard_cluster.apiserver.health import HEALTH_PATHS, VERSION, Metrics, health
from gpuyard_cluster.apiserver.registry import Registry
from gpuyard_cluster.apiserver.rendering import document
from gpuyard_cluster.apiserver.requests import Request, Response


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
        return None
