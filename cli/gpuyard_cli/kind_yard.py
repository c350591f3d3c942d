"""A yard on a real cluster: its nodes are played by workers that carry the label for fake GPUs.

Yard nodes map to workers in order; those that join later are cordoned until they do, those not needed get no fake
GPUs and are cordoned. The device plugins start anew with the yard's GPUs; then the kubelets have to offer them.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final

import yaml

from gpuyard import annotations, vocabulary
from gpuyard.quantities import whole
from gpuyard.writes import JSON, PatchType, Reply, Write
from gpuyard.yard import YardNode
from gpuyard_cli.inputs import InvalidInputError
from gpuyard_device_plugin import config, node_inventory
from gpuyard_kube.http import HttpApi
from gpuyard_kube.runtime import AsyncioRuntime

LOOK_SECONDS: Final = 0.2
PATIENCE_SECONDS: Final = 120.0
"""A plugin starts in seconds, and a kubelet tells what it offers every 10 s; machines can be busy."""

_SYSTEM: Final = f"namespaces/{vocabulary.NAMESPACE}"
_PLUGIN: Final = f"/apis/apps/v1/{_SYSTEM}/daemonsets/{vocabulary.DEVICE_PLUGIN}"
_YARD: Final = f"/api/v1/{_SYSTEM}/configmaps/gpuyard-yard"


class KindYard:
    """The workers of one cluster in the roles of a yard. `document` is the decoded yard.yaml."""

    def __init__(self, api: HttpApi, nodes: Sequence[YardNode], document: Any) -> None:
        self.api, self.runtime = api, AsyncioRuntime()
        self.workers: dict[str, str] = {}
        """yard node -> worker."""
        self._yard, self._document = {node.name: node for node in nodes}, document

    async def prepare(self, namespace: str) -> None:
        """Give the workers their roles and wait until they play them. InvalidInputError when they cannot."""
        await self._clear(namespace)
        workers = await self._candidates()
        if len(workers) < len(self._yard):
            problem = (
                f"{len(workers)} nodes have the label {vocabulary.FAKE_GPUS}, {len(self._yard)} are needed"
            )
            raise InvalidInputError("cluster", "nodes", problem, "label more of them, or use a smaller yard")
        self.workers = dict(zip(self._yard, workers, strict=False))
        for worker in workers[len(self._yard) :]:
            await self._patch(f"/api/v1/nodes/{worker}", _role(None, cordoned=True))
        for name, worker in self.workers.items():
            await self._patch(f"/api/v1/nodes/{worker}", _role(name, cordoned=self._yard[name].later))
        await self._patch(_YARD, {"data": {"yard.yaml": yaml.safe_dump(self._document, sort_keys=False)}})
        stamp = {"gpuyard.io/restarted": f"{self.runtime.now():.3f}"}
        await self._patch(_PLUGIN, {"spec": {"template": {"metadata": {"annotations": stamp}}}})
        await self.until(self._plugins_run, "the device plugins run with this yard")
        await self.until(self._all_offered, "the kubelets offer what the plugins told them")

    async def uncordon(self, name: str) -> None:
        """Let a node of the yard appear."""
        await self._patch(f"/api/v1/nodes/{self.workers[name]}", {"spec": {"unschedulable": None}})

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
        await self.api.send(Write("DELETE", path))

        async def gone() -> bool:
            pods = (await self.get("/api/v1/pods"))["items"]
            return not any(map(_ends, pods)) and (await self.api.read(path)).status == 404

        await self.until(gone, f"namespace {namespace} and the pods of an earlier run are gone")

    async def _candidates(self) -> list[str]:
        nodes = (await self.get("/api/v1/nodes", labelSelector=vocabulary.FAKE_GPUS))["items"]
        return sorted((node["metadata"]["name"] for node in nodes), key=lambda name: (len(name), name))

    async def _plugins_run(self) -> bool:
        found = await self.get(_PLUGIN)
        status, needed = found["status"], len(self._yard)
        counts = [
            status.get(key) for key in ("desiredNumberScheduled", "updatedNumberScheduled", "numberReady")
        ]
        return status.get("observedGeneration") == found["metadata"]["generation"] and counts == [needed] * 3

    async def _all_offered(self) -> bool:
        nodes = {node["metadata"]["name"]: node for node in (await self.get("/api/v1/nodes"))["items"]}
        return all(_offers(nodes[worker], self._yard[name]) for name, worker in self.workers.items())

    async def _patch(self, path: str, body: JSON) -> None:
        _body(path, await self.api.send(Write("PATCH", path, body, PatchType.MERGE)))


def offered(node: JSON) -> dict[str, int]:
    """What a node offers beside CPU and memory. A kubelet keeps naming a resource whose plugin has gone, with 0."""
    allocatable: Mapping[str, str] = (node.get("status") or {}).get("allocatable") or {}
    return {name: whole(count) for name, count in allocatable.items() if "/" in name and whole(count)}


def _ends(pod: JSON) -> bool:
    planned = vocabulary.ALLOCATION in (pod["metadata"].get("annotations") or {})
    return planned and "deletionTimestamp" in pod["metadata"]


def _offers(node: JSON, role: YardNode) -> bool:
    inventory = node_inventory.build(role.gpus, config.parse(role.plugin_config))
    told = (node["metadata"].get("annotations") or {}).get(vocabulary.INVENTORY)
    counts: dict[str, int] = {}
    for device in inventory.devices():
        counts[device.resource] = counts.get(device.resource, 0) + device.healthy
    return told == annotations.write_inventory(inventory) and offered(node) == counts


def _role(yard_node: str | None, *, cordoned: bool) -> JSON:
    labels = {vocabulary.FAKE_GPUS: str(yard_node is not None).lower(), vocabulary.YARD_NODE: yard_node}
    return {"metadata": {"labels": labels}, "spec": {"unschedulable": True if cordoned else None}}


def _body(path: str, reply: Reply) -> JSON:
    if not reply.ok:
        raise InvalidInputError("cluster", path, reply.reason, "is this a cluster with GPUYard's manifests?")
    return reply.body
