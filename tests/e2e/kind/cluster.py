"""A real cluster as a test uses it: pods in, what became of them out, by the API alone."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from gpuyard import annotations, vocabulary
from gpuyard.annotations import Allocation
from gpuyard.writes import JSON, Write
from gpuyard_cli import kind_backend
from gpuyard_cli.invariants import shared_devices
from gpuyard_cli.kind_roles import offered
from gpuyard_cli.observation import held_devices, is_live
from gpuyard_kube.http import HttpApi

PATIENCE_SECONDS = 90.0
"""Machines can be busy; what is waited for comes within seconds otherwise."""

PARTS = f"/api/v1/namespaces/{vocabulary.NAMESPACE}/pods"


@dataclass(frozen=True)
class Cluster:
    """One namespace of it, in which there is nothing yet."""

    api: HttpApi
    namespace: str

    @property
    def path(self) -> str:
        return f"/api/v1/namespaces/{self.namespace}/pods"

    async def create(self, path: str, obj: JSON) -> None:
        reply = await self.api.send(Write("POST", path, obj))
        assert reply.ok, reply.reason

    async def submit(self, name: str, gpus: int = 1, *, group: str = "", scheduler: str = "") -> None:
        """A pod that asks for whole GPUs and prints its environment; of a gang, if need be."""
        container = {
            "name": "main",
            "image": "busybox:1.36",
            "command": ["sh", "-c", "env; exec sleep 3600"],
            "resources": {"limits": {vocabulary.GPU: str(gpus)}},
        }
        spec: JSON = {"terminationGracePeriodSeconds": 1, "containers": [container]}
        if scheduler:
            spec["schedulerName"] = scheduler
        metadata = {"name": name, "labels": {vocabulary.POD_GROUP: group} if group else {}}
        await self.create(self.path, {"metadata": metadata, "spec": spec})

    async def pods(self) -> dict[str, JSON]:
        items = (await self.api.read(self.path)).body["items"]
        return {pod["metadata"]["name"]: pod for pod in items}

    async def delete(self, name: str) -> None:
        await self.api.send(Write("DELETE", f"{self.path}/{name}"))

    async def running(self, names: Iterable[str]) -> dict[str, JSON]:
        """The pods, once all of these run and the kubelet has said with which devices."""
        wanted = set(names)

        async def all_run() -> bool:
            pods = await self.pods()
            return all(name in pods and _runs(pods[name]) for name in wanted)

        await until(all_run, f"{sorted(wanted)} run")
        return await self.pods()

    async def kill(self, part: str) -> None:
        """End all pods of a part of GPUYard at once, without a chance to say goodbye."""
        found = await self.api.read(PARTS, labelSelector=f"app.kubernetes.io/name={part}")
        for pod in found.body["items"]:
            name, query = pod["metadata"]["name"], {"gracePeriodSeconds": "0"}
            await self.api.send(Write("DELETE", f"{PARTS}/{name}", query=query))

    async def log(self, name: str) -> list[str]:
        reply = await self.api.read(f"{self.path}/{name}/log")
        return str(reply.body.get("message", "")).splitlines()


@asynccontextmanager
async def empty(kubeconfig: str, namespace: str) -> AsyncIterator[Cluster]:
    """A namespace of a cluster that offers all its GPUs; it is deleted afterwards."""
    async with kind_backend.connected(kubeconfig) as api:
        cluster = Cluster(api, namespace)
        await until(
            lambda: _rests(api, namespace), f"there is no namespace {namespace} and 24 GPUs are offered"
        )
        await cluster.create("/api/v1/namespaces", {"metadata": {"name": namespace}})
        try:
            yield cluster
        finally:
            await api.send(Write("DELETE", f"/api/v1/namespaces/{namespace}"))


async def until(holds: Callable[[], Awaitable[bool]], what: str) -> None:
    """Look until something holds; it fails the test when it does not in time."""
    deadline = asyncio.get_running_loop().time() + PATIENCE_SECONDS
    while not await holds():
        assert asyncio.get_running_loop().time() < deadline, f"not so after {PATIENCE_SECONDS} s: {what}"
        await asyncio.sleep(0.1)


def faults(pods: Iterable[JSON]) -> list[str]:
    """Where two live pods hold one device, or a kubelet gave other devices than were planned."""
    live = [pod for pod in pods if is_live(pod) and (pod.get("spec") or {}).get("nodeName")]
    unlike = [f"{pod['metadata']['name']}: {held_devices(pod)}" for pod in live if plan(pod) != held(pod)]
    return [*shared_devices(live), *unlike]


def plan(pod: JSON) -> set[str]:
    """The device ids that the extender planned."""
    found = annotations.read_allocation(pod["metadata"].get("annotations", {}).get(vocabulary.ALLOCATION))
    allocation: Allocation = found or {}
    return {device for resources in allocation.values() for ids in resources.values() for device in ids}


def held(pod: JSON) -> set[str]:
    """The device ids that the kubelet gave."""
    return {device for ids in held_devices(pod).values() for device in ids}


def _runs(pod: JSON) -> bool:
    return bool(pod["status"].get("phase") == "Running" and held(pod))


async def _rests(api: HttpApi, namespace: str) -> bool:
    if (await api.read(f"/api/v1/namespaces/{namespace}")).status != 404:
        return False
    pods = (await api.read("/api/v1/pods")).body["items"]
    nodes = (await api.read("/api/v1/nodes")).body["items"]
    gpus = sum(offered(n).get(vocabulary.GPU, 0) for n in nodes if not n["spec"].get("unschedulable"))
    return gpus == 24 and not any(plan(pod) for pod in pods)
