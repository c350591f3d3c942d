"""A cluster for gangs: its nodes, its groups and pods, and what is seen and counted of them."""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable

from gpuyard import vocabulary, yard
from gpuyard.groups.nearness import Domain
from gpuyard.writes import JSON, Write
from gpuyard_cluster.apiserver.requests import Request
from gpuyard_cluster.wiring.embedded import EmbeddedYard
from gpuyard_cluster.wiring.feeding import on_loop
from gpuyard_kube.conditions import condition

GPUS, RACK, SMALL = 16, 64, 8
LOOK_SECONDS = 0.05


class Watcher:
    """An Observer of pod groups and pods: when each group was first told something, and when it was admitted."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self.told: dict[str, float] = {}
        self.admitted: dict[str, float] = {}
        self.pods: set[str] = set()
        self.running: set[str] = set()

    def replace(self, resource: str, objects: Iterable[JSON]) -> None:
        for obj in objects:
            self.observe(resource, "ADDED", obj)

    def observe(self, resource: str, event: str, obj: JSON) -> None:
        name, status = obj["metadata"]["name"], obj.get("status") or {}
        if resource == "pods":
            there = event != "DELETED"
            (self.pods.add if there else self.pods.discard)(name)
            runs = there and status.get("phase") == "Running"
            (self.running.add if runs else self.running.discard)(name)
        elif event == "DELETED":
            return
        elif condition(status, "Scheduled"):
            self.told.setdefault(name, self._now())
            if condition(status, "Admitted").get("status") == "True":
                self.admitted.setdefault(name, self._now())


class Site:
    """The cluster, and what is counted in it."""

    def __init__(self, cluster: EmbeddedYard) -> None:
        self.cluster, self.now = cluster, cluster.runtime.now
        self.seen, self.writes = Watcher(self.now), Counter[str]()
        cluster.server.faults.append(self._count)
        watched = {"podgroups": f"/apis/{vocabulary.POD_GROUP_API}/podgroups", "pods": "/api/v1/pods"}
        on_loop(cluster.server, self.seen, watched)

    def _count(self, request: Request) -> None:
        self.writes[request.headers.get("user-agent", "")] += 1

    async def send(self, write: Write) -> None:
        reply = await self.cluster.api.send(write)
        assert reply.ok or reply.status == 404, reply.reason
        await asyncio.sleep(0)  # a client is as slow as the cluster that it speaks to

    async def until(self, holds: Callable[[], bool]) -> None:
        while not holds():
            await asyncio.sleep(LOOK_SECONDS)


def nodes(count: int) -> tuple[yard.YardNode, ...]:
    gpus = {"model": "NVIDIA-A100-SXM4-40GB", "count": GPUS}
    found = [
        {"name": f"node-{number}", "gpus": gpus, "labels": {vocabulary.RACK: f"rack-{number // RACK}"}}
        for number in range(count)
    ]
    return yard.parse({"nodes": found})


def pod(name: str, group: str) -> JSON:
    limits = {vocabulary.GPU: "1", "cpu": "1"}
    container = {"name": "main", "image": "busybox:1.36", "resources": {"limits": limits}}
    metadata = {"name": name, "labels": {vocabulary.POD_GROUP: group}}
    return {"metadata": metadata, "spec": {"restartPolicy": "Never", "containers": [container]}}


def group(name: str, members: int) -> JSON:
    wish = {vocabulary.TOPOLOGY: Domain.SAME_RACK.value} if members > SMALL else {}
    metadata = {"name": name, "annotations": wish}
    kind = {"apiVersion": vocabulary.POD_GROUP_API, "kind": "PodGroup"}
    return {**kind, "metadata": metadata, "spec": {"minMember": members}}
