"""A real API server with made-up nodes that have no kubelets, and what becomes of the pods that are created there."""

import asyncio
import itertools
import time
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from typing import Any

from benchmarks import clusters
from benchmarks.clusters import JSON
from gpuyard import vocabulary
from gpuyard.writes import PatchType, Write
from gpuyard_cluster.wiring import manifests
from gpuyard_kube.http import HttpApi
from gpuyard_kube.informer import Informer

NAMESPACE = "gpuyard-benchmark"
PODS, NODES = f"/api/v1/namespaces/{NAMESPACE}/pods", "/api/v1/nodes"
_CRD = "CustomResourceDefinition"
AT_ONCE, CPUS, PATIENCE_SECONDS = 16, 256, 300


class Ground:
    """The pods by name: when each was `created`, `bound` and `told` that no node takes it (seconds)."""

    def __init__(self, api: HttpApi, names: list[str]) -> None:
        self.api, self.nodes = api, names
        self._numbers, self._slots = itertools.count(), asyncio.Semaphore(AT_ONCE)
        self.created: dict[str, float] = {}
        self.bound: dict[str, float] = {}
        self.told: dict[str, float] = {}
        self.uids: dict[str, str] = {}
        self._there: set[str] = set()

    @classmethod
    @asynccontextmanager
    async def prepared(cls, api: HttpApi, count: int, empty: bool) -> AsyncIterator["Ground"]:
        """With so many nodes; an `empty` API server has none of our resources yet, and ends after this."""
        await _until(lambda: _is_ready(api), "the API server is ready")
        nodes = [clusters.made_up(node, CPUS) for node in clusters.Cluster(count, 0).nodes]
        ground = cls(api, [node["metadata"]["name"] for node in nodes])
        if empty:
            for found in manifests.load():
                if found["kind"] == _CRD:
                    await ground._send("POST", manifests.COLLECTIONS[_CRD], found)
        await ground._send("POST", "/api/v1/namespaces", {"metadata": {"name": NAMESPACE}})
        await ground._all(ground._send("POST", NODES, node) for node in nodes)
        following = asyncio.create_task(Informer(api, ground, {"pods": PODS}).run())
        try:
            yield ground
        finally:
            following.cancel()
            if not empty:
                await ground.leave()
                await ground._all(ground._send("DELETE", f"{NODES}/{name}") for name in ground.nodes)
                await ground._send("DELETE", f"/api/v1/namespaces/{NAMESPACE}")

    def replace(self, _resource: str, objects: Iterable[JSON]) -> None:
        for pod in objects:
            self.observe("pods", "ADDED", pod)

    def observe(self, _resource: str, event: str, pod: JSON) -> None:
        name, now = pod["metadata"]["name"], time.perf_counter()
        self.uids[name] = pod["metadata"]["uid"]
        self._there.discard(name) if event == "DELETED" else self._there.add(name)
        if pod["spec"].get("nodeName"):
            self.bound.setdefault(name, now)
        if any(found.get("reason") == "Unschedulable" for found in pod["status"].get("conditions") or ()):
            self.told.setdefault(name, now)

    async def come(self, count: int, scheduler: str, model: str = "") -> list[str]:
        """So many pods with one GPU each, of this model, for this scheduler: their names."""
        names = [f"{scheduler}-{next(self._numbers)}" for _ in range(count)]
        await self._all(self._create(name, scheduler, model) for name in names)
        return names

    async def leave(self) -> None:
        """All pods, and done when they are gone."""
        query = {"gracePeriodSeconds": "0"}
        await self._all(self._send("DELETE", f"{PODS}/{name}", query=query) for name in sorted(self._there))
        await self.until(lambda: not self._there, "the pods are gone")

    async def change(self, node: str, value: int) -> None:
        """Something about a node that kube-scheduler looks at."""
        body = {"metadata": {"labels": {"example.com/change": str(value)}}}
        await self._send("PATCH", f"{NODES}/{node}", body, PatchType.MERGE)

    async def until_bound(self, names: list[str]) -> None:
        await self.until(lambda: self.bound.keys() >= set(names), "the pods are bound")

    async def until_ready(self, extender: HttpApi) -> None:
        await _until(lambda: _is_ready(extender), "the extender is ready")

    async def until_explained(self, name: str, extender: HttpApi) -> str | None:
        """The reason code, as soon as the extender has seen the pod."""
        said: JSON = {}

        async def seen() -> bool:
            answer = await extender.read(f"/v1/pods/{NAMESPACE}/{name}/explain")
            said.update(answer.body)
            return answer.ok

        await _until(seen, f"the extender has seen {name}")
        return said["code"]

    async def until(self, holds: Callable[[], bool], what: str) -> None:
        async def looked() -> bool:
            return holds()

        await _until(looked, what)

    async def _create(self, name: str, scheduler: str, model: str) -> None:
        amounts = {"cpu": "1", "memory": "1Gi", vocabulary.GPU: "1"}
        container = {"name": "main", "image": "busybox:1.36", "resources": {"limits": amounts}}
        spec = {"schedulerName": scheduler, **clusters.ONLY_THERE, "containers": [container]}
        wish = {vocabulary.GPU_MODEL: model} if model else {}
        self.created[name] = time.perf_counter()
        await self._send("POST", PODS, {"metadata": {"name": name, "annotations": wish}, "spec": spec})

    async def _all(self, work: Iterable[Any]) -> None:
        async def in_turn(one: Any) -> None:
            async with self._slots:
                await one

        await asyncio.gather(*map(in_turn, work))

    async def _send(self, verb: str, path: str, body: JSON | None = None, *more: Any, **query: Any) -> None:
        reply = await self.api.send(Write(verb, path, body, *more, **query))
        if not reply.ok and reply.status not in (404, 409):
            raise RuntimeError(f"{verb} {path}: {reply.reason}")


async def _is_ready(api: HttpApi) -> bool:
    return (await api.read("/readyz")).ok


async def _until(holds: Callable[[], Any], what: str) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not await holds():
        if time.monotonic() > deadline:
            raise TimeoutError(f"not so after {PATIENCE_SECONDS} s: {what}")
        await asyncio.sleep(0.01)
