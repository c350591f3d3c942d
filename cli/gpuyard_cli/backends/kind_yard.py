"""A yard on a real cluster: its nodes are played by workers that carry the label for fake GPUs.

Yard nodes map to workers in order; those that join later are cordoned until they do, those not needed get no fake
GPUs and are cordoned. The device plugins start anew with the yard's GPUs; then the kubelets have to offer them.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final

import yaml

from gpuyard import vocabulary
from gpuyard.writes import JSON, PatchType, Reply, Write
from gpuyard.yard import YardNode
from gpuyard_cli.backends.kind_roles import OF_A_SCENARIO, ends, offers, role, told, values
from gpuyard_cli.inputs import InvalidInputError
from gpuyard_kube.http import HttpApi
from gpuyard_kube.runtime import AsyncioRuntime

LOOK_SECONDS: Final = 0.2
PATIENCE_SECONDS: Final = 120.0
"""A plugin starts in seconds, and a kubelet tells what it offers every 10 s; machines can be busy."""

_SYSTEM: Final = f"namespaces/{vocabulary.NAMESPACE}"
_PLUGIN: Final = f"/apis/apps/v1/{_SYSTEM}/daemonsets/{vocabulary.DEVICE_PLUGIN}"
_LOOKED_AT: Final = "gpuyard.io/looked-at"
_STAMP_LOOKS: Final = 10
"""A pod can change before its kubelet has heard of the new ConfigMap: every so many looks it changes again."""
_YARD: Final = f"/api/v1/{_SYSTEM}/configmaps/gpuyard-yard"


class KindYard:
    """The workers of one cluster in the roles of a yard. `document` is the decoded yard.yaml."""

    def __init__(self, api: HttpApi, nodes: Sequence[YardNode], document: Any) -> None:
        self.api, self.runtime = api, AsyncioRuntime()
        self.workers: dict[str, str] = {}
        """yard node -> worker."""
        self._yard, self._document = {node.name: node for node in nodes}, document
        self._namespace = ""
        self._before: dict[str, JSON] = {}
        """path -> the patch that makes an object as it was."""

    async def prepare(self, namespace: str) -> None:
        """Lend the workers to a scenario, which makes `namespace`. InvalidInputError when that cannot be."""
        await self._clear(namespace)
        await self.lend()

    async def lend(self) -> None:
        """Give the workers their roles and wait until they play them. InvalidInputError when they cannot."""
        workers = await self._candidates()
        if len(workers) < len(self._yard):
            problem = (
                f"{len(workers)} nodes have the label {vocabulary.FAKE_GPUS}, {len(self._yard)} are needed"
            )
            raise InvalidInputError("cluster", "nodes", problem, "label more of them, or use a smaller yard")
        names = [node["metadata"]["name"] for node in workers]
        self.workers = dict(zip(self._yard, names, strict=False))
        parts = dict(zip(names, self._yard.values(), strict=False))
        for name in names:
            part = parts.get(name)
            await self._change(_node(name), role(part, cordoned=part is None or part.later))
        await self._change(_YARD, _mounted(self._document))
        await self._restart_plugins()
        await self.until(self._plugins_run, "the device plugins run with this yard")
        await self.until(self._all_offered, "the kubelets offer what the plugins told them")

    async def restore(self) -> None:
        """Make everything as it was before, without waiting for it."""
        if self._namespace:
            path = f"/api/v1/namespaces/{self._namespace}"
            await self.api.send(Write("DELETE", path))
            # At once: the namespace's controller begins 5 s later, and whoever comes next waits for pods that end.
            await self.api.send(Write("DELETE", f"{path}/pods"))
        for path, body in self._before.items():
            await self._patch(path, body)
        if self._before:
            await self._restart_plugins()

    async def reconfigure(self, nodes: Sequence[YardNode], document: Any) -> None:
        """Change what GPUs the nodes have, under running plugins; done when these have said so."""
        await self._patch(_YARD, _mounted(document))
        parts = {self.workers[node.name]: node for node in nodes}
        looks = 0

        async def all_told() -> bool:
            nonlocal looks
            if looks % _STAMP_LOOKS == 0:
                await self._let_look(looks)
            looks += 1
            found = await self._nodes()
            return all(told(found[worker], part) for worker, part in parts.items())

        await self.until(all_told, "the device plugins have read the yard")

    async def uncordon(self, name: str) -> None:
        """Let a node of the yard appear."""
        await self._patch(_node(self.workers[name]), {"spec": {"unschedulable": None}})

    async def until(self, holds: Callable[[], Awaitable[bool]], what: str) -> None:
        """Look until something holds. InvalidInputError when it does not in time."""
        deadline = self.runtime.now() + PATIENCE_SECONDS
        while not await holds():
            if self.runtime.now() > deadline:
                problem = f"not so after {PATIENCE_SECONDS:.0f} s: {what}"
                raise InvalidInputError(
                    "cluster", vocabulary.NAMESPACE, problem, "see the pods and logs there"
                )
            await self.runtime.sleep_until(self.runtime.now() + LOOK_SECONDS)

    async def get(self, path: str, **query: str) -> JSON:
        return _body(path, await self.api.read(path, **query))

    async def _clear(self, namespace: str) -> None:
        """Nothing of an earlier run is left: no namespace, and no pod that ends and still holds devices."""
        path = f"/api/v1/namespaces/{namespace}"
        found = await self.api.read(path)
        if found.ok and OF_A_SCENARIO not in (found.body["metadata"].get("annotations") or {}):
            problem = f"namespace {namespace} is there, and no scenario has made it"
            raise InvalidInputError("cluster", path, problem, "delete it, or run the example elsewhere")
        self._namespace = namespace
        await self.api.send(Write("DELETE", path))

        async def gone() -> bool:
            pods = (await self.get("/api/v1/pods"))["items"]
            return not any(map(ends, pods)) and (await self.api.read(path)).status == 404

        await self.until(gone, f"namespace {namespace} and the pods of an earlier run are gone")

    async def _candidates(self) -> list[JSON]:
        """Worker 2 goes before worker 10."""
        nodes = (await self.get("/api/v1/nodes", labelSelector=vocabulary.FAKE_GPUS))["items"]
        return sorted(nodes, key=lambda node: (len(node["metadata"]["name"]), node["metadata"]["name"]))

    async def _change(self, path: str, patch: JSON) -> None:
        """Patch an object, and remember how it was."""
        self._before[path] = values(await self.get(path), patch)
        await self._patch(path, patch)

    async def _let_look(self, number: int) -> None:
        """A kubelet looks at what a pod mounts when the pod changes, otherwise every minute or so."""
        label = f"app.kubernetes.io/name={vocabulary.DEVICE_PLUGIN}"
        stamp = {"metadata": {"annotations": {_LOOKED_AT: f"{self.runtime.now():.3f}/{number}"}}}
        for pod in (await self.get(f"/api/v1/{_SYSTEM}/pods", labelSelector=label))["items"]:
            await self._patch(f"/api/v1/{_SYSTEM}/pods/{pod['metadata']['name']}", stamp)

    async def _restart_plugins(self) -> None:
        stamp = {"gpuyard.io/restarted": f"{self.runtime.now():.3f}"}
        await self._patch(_PLUGIN, {"spec": {"template": {"metadata": {"annotations": stamp}}}})

    async def _plugins_run(self) -> bool:
        found = await self.get(_PLUGIN)
        status, needed = found["status"], len(self._yard)
        counts = [
            status.get(key) for key in ("desiredNumberScheduled", "updatedNumberScheduled", "numberReady")
        ]
        return status.get("observedGeneration") == found["metadata"]["generation"] and counts == [needed] * 3

    async def _all_offered(self) -> bool:
        nodes = await self._nodes()
        return all(offers(nodes[worker], self._yard[name]) for name, worker in self.workers.items())

    async def _nodes(self) -> dict[str, JSON]:
        return {node["metadata"]["name"]: node for node in (await self.get("/api/v1/nodes"))["items"]}

    async def _patch(self, path: str, body: JSON) -> None:
        _body(path, await self.api.send(Write("PATCH", path, body, PatchType.MERGE)))


def _mounted(document: Any) -> JSON:
    return {"data": {"yard.yaml": yaml.safe_dump(document, sort_keys=False)}}


def _node(name: str) -> str:
    return f"/api/v1/nodes/{name}"


def _body(path: str, reply: Reply) -> JSON:
    if not reply.ok:
        raise InvalidInputError("cluster", path, reply.reason, "is this a cluster with GPUYard's manifests?")
    return reply.body
