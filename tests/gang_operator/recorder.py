"""The API server in process, with a record of the operator's writes and failures on demand."""

from collections.abc import Callable
from pathlib import Path

import yaml

from gpuyard.writes import JSON, PatchType, Reply, Write
from gpuyard_cluster.apiserver.direct import DirectApi
from gpuyard_cluster.apiserver.server import APIServer

CRDS = Path(__file__).parents[2] / "manifests" / "crds"
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


class Recorder:
    """`Api` of the operator. `fails` makes a write fail with 500."""

    def __init__(self, now: Callable[[], float]) -> None:
        self.server = APIServer(now)
        self._api = DirectApi(self.server)
        self.writes: list[Write] = []
        self.fails: Callable[[Write], bool] = lambda write: False
        for path in sorted(CRDS.glob("*.yaml")):
            self.create(DEFINITIONS, yaml.safe_load(path.read_text()))

    async def send(self, write: Write) -> Reply:
        self.writes.append(write)
        return Reply(500, {"message": "injected"}) if self.fails(write) else await self._api.send(write)

    async def read(self, path: str, **query: str) -> Reply:
        return await self._api.read(path, **query)

    # --- other clients
    def create(self, path: str, obj: JSON) -> JSON:
        return self._do(Write("POST", path, obj))

    def patch(self, path: str, body: JSON) -> JSON:
        return self._do(Write("PATCH", path, body, PatchType.MERGE))

    def delete(self, path: str) -> None:
        self._do(
            Write("DELETE", path, {"kind": "DeleteOptions", "apiVersion": "v1", "gracePeriodSeconds": 0})
        )

    def put(self, path: str, obj: JSON) -> JSON:
        return self._do(Write("PUT", path, obj))

    def get(self, path: str) -> JSON | None:
        reply = _now(self._api.read(path))
        return reply.body if reply.ok else None

    def list(self, path: str) -> list[JSON]:
        reply = _now(self._api.read(path))
        assert reply.ok, reply.reason
        items: list[JSON] = reply.body["items"]
        return items

    def _do(self, write: Write) -> JSON:
        reply = _now(self._api.send(write))
        assert reply.ok, reply.reason
        return reply.body


def _now(call: "object") -> Reply:
    """The result of a call that is answered on the spot."""
    try:
        call.send(None)  # type: ignore[attr-defined]
    except StopIteration as end:
        reply: Reply = end.value
        return reply
    raise AssertionError("the call waits")
