"""A client of the API server in process, and objects to send, for the tests beside this file."""

import asyncio
from dataclasses import dataclass
from typing import Any

import orjson

from gpuyard.writes import JSON
from gpuyard_cluster.apiserver.consulting import answer
from gpuyard_cluster.apiserver.errors import ApiError
from gpuyard_cluster.apiserver.requests import Request, Response
from gpuyard_cluster.apiserver.server import APIServer
from gpuyard_cluster.apiserver.storage.watches import Watch

START = 1_700_000_000.0
STAMP = "2023-11-14T22:13:20Z"
PODS = "/api/v1/namespaces/default/pods"
CONFIGS = "/api/v1/namespaces/default/configmaps"
LEASES = "/apis/coordination.k8s.io/v1/namespaces/default/leases"
DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments"
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
WIDGETS = "/apis/example.com/v1/namespaces/default/widgets"

MERGE = "application/merge-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"
JSON_PATCH = "application/json-patch+json"
APPLY = "application/apply-patch+yaml"
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"


@dataclass(frozen=True)
class Answer:
    """A response, decoded; `body` is None for bodies that are no JSON object."""

    status: int
    body: Any
    response: Response

    @property
    def causes(self) -> set[tuple[str | None, str]]:
        """(field, reason) of each cause."""
        found = (self.body.get("details") or {}).get("causes") or []
        return {(cause.get("field"), cause["reason"]) for cause in found}

    @property
    def version(self) -> int:
        return int(self.body["metadata"]["resourceVersion"])

    @property
    def names(self) -> list[str]:
        return [item["metadata"]["name"] for item in self.body["items"]]


class Caller:
    """An API server with a clock to set (`time`) and ways to call it."""

    def __init__(self, **settings: Any) -> None:
        self.time = START
        self.server = APIServer(lambda: self.time, **settings)

    def call(
        self, method: str, path: str, body: Any = None, kind: str = "application/json", **query: str
    ) -> Answer:
        """One request; a query parameter whose name is a Python word gets an underscore behind it."""
        sent = body if isinstance(body, bytes) else b"" if body is None else orjson.dumps(body)
        headers = {"content-type": kind, "accept": query.pop("accept", "application/json")}
        params = {key.rstrip("_"): value for key, value in query.items()}
        request = Request(method, path, params, headers, sent)
        if self.server.webhooks is None:
            response = self.server.handle(request)
        else:
            response = asyncio.run(answer(self.server, request))
        decoded = orjson.loads(response.body) if response.body.startswith(b"{") else None
        return Answer(response.status, decoded, response)

    def get(self, path: str, **query: str) -> Answer:
        return self.call("GET", path, **query)

    def post(self, path: str, body: Any, **query: str) -> Answer:
        return self.call("POST", path, body, **query)

    def put(self, path: str, body: Any, **query: str) -> Answer:
        return self.call("PUT", path, body, **query)

    def delete(self, path: str, body: Any = None, **query: str) -> Answer:
        return self.call("DELETE", path, body, **query)

    def patch(self, path: str, body: Any, kind: str = MERGE, **query: str) -> Answer:
        return self.call("PATCH", path, body, kind, **query)

    def make(self, path: str, body: JSON, **query: str) -> JSON:
        """Create an object, and return it as stored."""
        answer = self.post(path, body, **query)
        assert answer.status == 201, answer.body
        made: JSON = answer.body
        return made

    def watch(self, path: str, **query: str) -> Watch:
        response = self.call("GET", path, watch="true", **query).response
        assert response.watch is not None, response.body
        return response.watch


def seen(watch: Watch) -> list[tuple[str, str]]:
    """(type, name) of the events that a watch has ready."""
    return [(event.type, event.object["metadata"].get("name", "")) for event in watch.take()]


def config(name: str, data: JSON | None = None, **metadata: Any) -> JSON:
    return {"metadata": {"name": name, **metadata}, **({"data": data} if data else {})}


def lease(name: str, holder: str = "", **metadata: Any) -> JSON:
    return {"metadata": {"name": name, **metadata}, "spec": {"holderIdentity": holder} if holder else {}}


def pod(name: str, metadata: JSON | None = None, **spec: Any) -> JSON:
    containers = [{"name": "main", "image": "app:1"}]
    return {"metadata": {"name": name, **(metadata or {})}, "spec": {"containers": containers, **spec}}


def deployment(name: str, **spec: Any) -> JSON:
    labels = {"app": name}
    template = {"metadata": {"labels": labels}, "spec": pod("")["spec"]}
    wanted = {"replicas": 2, "selector": {"matchLabels": labels}, "template": template, **spec}
    return {"metadata": {"name": name}, "spec": wanted}


def binding(name: str, node: str, **metadata: Any) -> JSON:
    return {"metadata": {"name": name, **metadata}, "target": {"kind": "Node", "name": node}}


def definition(*versions: str, scope: str = "Namespaced", **version: Any) -> JSON:
    """A CustomResourceDefinition of Widgets with a typed size and a free status; the first version is stored."""
    free = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    spec = {"type": "object", "properties": {"size": {"type": "integer", "minimum": 0}, "free": free}}
    schema = {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec, "status": free}}}
    bodies = [
        {"name": name, "served": True, "storage": index == 0, "schema": schema, **version}
        for index, name in enumerate(versions or ("v1",))
    ]
    names = {"plural": "widgets", "kind": "Widget"}
    return {
        "metadata": {"name": "widgets.example.com"},
        "spec": {"group": "example.com", "scope": scope, "names": names, "versions": bodies},
    }


def widget(name: str, version: str = "v1", **spec: Any) -> JSON:
    return {
        "apiVersion": f"example.com/{version}",
        "kind": "Widget",
        "metadata": {"name": name},
        "spec": spec,
    }


def broken(_request: Request) -> ApiError | None:
    """A fault that fails every write."""
    return ApiError(500, "InternalError", "injected")
