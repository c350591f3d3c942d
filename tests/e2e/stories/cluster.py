"""A cluster as a story sees it: pods in, what became of them out, by the API."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import Any

from gpuyard import annotations, vocabulary
from gpuyard.annotations import Allocation
from gpuyard.writes import JSON, PatchType, Write
from gpuyard_cli.scenarios.invariants import shared_devices
from gpuyard_cli.scenarios.observation import held_devices, is_live, offered
from gpuyard_kube.http import HttpApi
from tests.e2e.stories.hands import Hands

PATIENCE_SECONDS = 120.0
"""Machines can be busy; what is waited for comes within seconds otherwise."""


@dataclass(frozen=True)
class Cluster:
    """Three nodes with 8 GPUs each, and one namespace, in which there is nothing yet."""

    api: HttpApi
    namespace: str
    hands: Hands

    @property
    def path(self) -> str:
        return f"/api/v1/namespaces/{self.namespace}/pods"

    @property
    def groups(self) -> str:
        return f"/apis/{vocabulary.POD_GROUP_API}/namespaces/{self.namespace}/podgroups"

    @property
    def events(self) -> str:
        return f"/api/v1/namespaces/{self.namespace}/events"

    async def create(self, path: str, obj: JSON) -> None:
        reply = await self.api.send(Write("POST", path, obj))
        assert reply.ok, reply.reason

    async def submit(self, name: str, gpus: int = 1, *, group: str = "", node: str = "", **spec: Any) -> None:
        """A pod that asks for whole GPUs and prints its environment; of a gang, or for one node, if need be."""
        container = {
            "name": "main",
            "image": "busybox:1.36",
            "command": ["sh", "-c", "env; exec sleep 3600"],
            "resources": {"limits": {vocabulary.GPU: str(gpus)}},
        }
        wanted: JSON = {"terminationGracePeriodSeconds": 1, "containers": [container], **spec}
        if node:
            wanted["nodeSelector"] = {"kubernetes.io/hostname": node}
        metadata = {"name": name, "labels": {vocabulary.POD_GROUP: group} if group else {}}
        await self.create(self.path, {"metadata": metadata, "spec": wanted})

    async def gather(self, group: str, needed: int) -> None:
        """A gang of which `needed` members must start together."""
        head = {"apiVersion": vocabulary.POD_GROUP_API, "kind": "PodGroup", "metadata": {"name": group}}
        await self.create(self.groups, {**head, "spec": {"minMember": needed}})

    async def pods(self) -> dict[str, JSON]:
        return {pod["metadata"]["name"]: pod for pod in await self.items(self.path)}

    async def items(self, path: str, **query: str) -> list[JSON]:
        reply = await self.api.read(path, **query)
        assert reply.ok, reply.reason
        return list(reply.body["items"])

    async def delete(self, *names: str) -> None:
        """As users do: with the pods' own grace period."""
        await asyncio.gather(*(self.api.send(Write("DELETE", f"{self.path}/{name}")) for name in names))

    async def running(self, names: Iterable[str]) -> dict[str, JSON]:
        """The pods, once all of these run and the kubelet has said with which devices."""
        wanted = sorted(set(names))
        waiting: list[str] = []

        async def all_run() -> bool:
            pods = await self.pods()
            ended = [why_not(pods[name]) for name in wanted if name in pods and not is_live(pods[name])]
            assert not ended, ended
            missing = [name for name in wanted if not (name in pods and runs(pods[name]))]
            waiting[:] = (
                why_not(pods[name]) if name in pods else f"{name}: is not there" for name in missing
            )
            return not missing

        await until(all_run, lambda: "\n".join(["they run", *waiting]))
        return await self.pods()

    async def gone(self, *names: str) -> None:
        """Wait until the pods are no more."""

        async def none_left() -> bool:
            return not set(names) & (await self.pods()).keys()

        await until(none_left, f"{sorted(names)} are gone")

    async def bound(self, *names: str) -> None:
        """Wait until the pods have a node, which is not to say that they run."""

        async def all_bound() -> bool:
            pods = await self.pods()
            return all(node_of(pods[name]) for name in names)

        await until(all_bound, f"{sorted(names)} are bound")

    async def let_go(self) -> None:
        """Wait until no pod has a gate any more."""

        async def all_fallen() -> bool:
            return not any(pod["spec"].get("schedulingGates") for pod in (await self.pods()).values())

        await until(all_fallen, "all gates have fallen")

    async def nodes(self) -> list[str]:
        """The nodes that have GPUs and may be used, in order."""
        nodes = await self.items("/api/v1/nodes")
        usable = [node for node in nodes if offered(node) and not node["spec"].get("unschedulable")]
        return sorted(node["metadata"]["name"] for node in usable)

    async def node(self, name: str) -> JSON:
        reply = await self.api.read(f"/api/v1/nodes/{name}")
        assert reply.ok, reply.reason
        return reply.body

    async def uncordon(self, node: str) -> None:
        body = {"spec": {"unschedulable": None}}
        reply = await self.api.send(Write("PATCH", f"/api/v1/nodes/{node}", body, PatchType.MERGE))
        assert reply.ok, reply.reason

    async def log(self, name: str) -> list[str]:
        reply = await self.api.read(f"{self.path}/{name}/log")
        return str(reply.body.get("message", "")).splitlines()

    async def sound(self) -> None:
        """No device has two owners, and each pod has what was planned for it."""
        found = faults((await self.pods()).values())
        assert found == [], found


async def until(
    holds: Callable[[], Awaitable[bool]], what: str | Callable[[], str], seconds: float = PATIENCE_SECONDS
) -> None:
    """Look until something holds; it fails the test when it does not in time, and says `what`."""
    deadline = asyncio.get_running_loop().time() + seconds
    while not await holds():
        if asyncio.get_running_loop().time() >= deadline:
            raise AssertionError(f"not so after {seconds} s: {what if isinstance(what, str) else what()}")
        await asyncio.sleep(0.05)


def faults(pods: Iterable[JSON]) -> list[str]:
    """Where two live pods hold one device, or a kubelet gave other devices than were planned."""
    live = [pod for pod in pods if is_live(pod) and node_of(pod)]
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


def node_of(pod: JSON) -> str:
    """Where a pod is bound to; empty when it is not."""
    return str((pod.get("spec") or {}).get("nodeName") or "")


def why_not(pod: JSON) -> str:
    """What a pod says of itself, for a test that waited for it in vain."""
    return f"{pod['metadata']['name']} on {node_of(pod) or 'no node'}: {pod.get('status')}"


def runs(pod: JSON) -> bool:
    return bool((pod.get("status") or {}).get("phase") == "Running" and held(pod))
