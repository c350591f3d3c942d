"""An extender for tests that answers what it was told to, and remembers what it was asked."""

from collections.abc import Callable
from typing import Any

from gpuyard.writes import JSON, Write
from gpuyard_cluster.clock import Steps
from gpuyard_cluster.scheduler.extenders import ExtenderError
from gpuyard_kube.api import Api


class ScriptedExtender:
    """Keeps all nodes, gives no scores and binds, unless told otherwise."""

    def __init__(self, api: Api, steps: Steps) -> None:
        self._api, self._steps = api, steps
        self.calls: list[tuple[str, JSON]] = []
        self.on_filter: Callable[[JSON], JSON] = lambda args: {"NodeNames": args["NodeNames"], "Error": ""}
        self.on_prioritize: Callable[[JSON], list[Any]] = lambda args: []
        self.on_preempt: Callable[[JSON], JSON] = lambda args: {
            "NodeNameToMetaVictims": args["NodeNameToMetaVictims"]
        }
        self.bind_error: Callable[[JSON], str] = lambda args: ""
        self.bind_seconds = 0.0
        self.filter_seconds = 0.0

    def verbs(self) -> list[str]:
        return [verb for verb, _ in self.calls]

    async def filter(self, args: JSON) -> JSON:
        self.calls.append(("filter", args))
        await self._steps.sleep_until(self._steps.now() + self.filter_seconds)
        self.calls.append(("filtered", args))
        return self.on_filter(args)

    async def prioritize(self, args: JSON) -> list[Any]:
        self.calls.append(("prioritize", args))
        return self.on_prioritize(args)

    async def preempt(self, args: JSON) -> JSON:
        self.calls.append(("preempt", args))
        return self.on_preempt(args)

    async def bind(self, args: JSON) -> JSON:
        self.calls.append(("bind", args))
        await self._steps.sleep_until(self._steps.now() + self.bind_seconds)
        error = self.bind_error(args)
        if error == "unreachable":
            raise ExtenderError("connection refused")
        if error:
            return {"Error": error}
        path = f"/api/v1/namespaces/{args['PodNamespace']}/pods/{args['PodName']}/binding"
        metadata = {"uid": args["PodUID"], "annotations": {"planned": "yes"}}
        reply = await self._api.send(
            Write("POST", path, {"metadata": metadata, "target": {"name": args["Node"]}})
        )
        return {"Error": reply.reason}
