"""A device plugin and its kubelet in a long storm: pods come and go, GPUs fail and are pulled, both start anew.

Everything is real but the hardware: gRPC on unix sockets, the scheduler, the extender. The same seed makes the same
deeds; what they meet differs from run to run, as it would.
"""

import asyncio
import gc
import os
import random
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

from gpuyard import vocabulary, yard
from gpuyard.writes import JSON, Write
from gpuyard.yard import YardNode
from gpuyard_cli.scenarios import requests
from gpuyard_cli.scenarios.injections import gpu_fault, link_fault, node_fault
from gpuyard_cli.scenarios.observation import is_live
from gpuyard_cluster.wiring.embedded import EmbeddedYard
from gpuyard_cluster.wiring.node import EmbeddedNode

NAMESPACE = "default"
NODE = "node-1"
GPUS = 4
MOST_PODS = 8
WATCHED = ("gpuyard_cluster.kubelet", "gpuyard_device_plugin", "gpuyard_extender")
BOUNDED = "gpuyard_extender.reporting.history"
"""It is to grow, up to its bound in bytes (tests/extender)."""
PODS = f"/api/v1/namespaces/{NAMESPACE}/pods"


def nodes(count: int = GPUS) -> tuple[YardNode, ...]:
    """The one node, with so many GPUs."""
    gpus = {"model": "NVIDIA-A100-SXM4-40GB", "count": count, "topology": "nvswitch"}
    return yard.parse({"nodes": [{"name": NODE, "gpus": gpus}]})


class Soak:
    """Deeds on a running yard of `nodes()`, drawn with a seed. `done` counts them."""

    def __init__(self, cluster: EmbeddedYard, seed: int) -> None:
        self._yard, self._api, self._random = cluster, cluster.api, random.Random(seed)
        self._names = list[str]()
        self._number = 0
        self.done: Counter[str] = Counter()
        self._deeds: dict[str, tuple[int, Callable[[], Awaitable[None]]]] = {
            "allocate": (40, self._submit),
            "free": (38, self._delete),
            "health": (16, self._injure),
            "plug": (2, self._plug),
            "kill": (2, self._kill),
            "register": (2, self._restart_kubelet),
        }

    async def go_on(self, events: int) -> None:
        """Do so many deeds, now and then with time for their effects."""
        weights = [weight for weight, _ in self._deeds.values()]
        for deed in self._random.choices(list(self._deeds), weights, k=events):
            await self._deeds[deed][1]()
            self.done[deed] += 1
            await asyncio.sleep(self._random.choice((0, 0, 0.002, 0.01)))

    async def calm_down(self) -> None:
        """All GPUs are there and whole, and no pod is."""
        self._yard.reconfigure(nodes())
        for fault in (
            *(gpu_fault(NODE, index) for index in range(GPUS)),
            link_fault(NODE, (0, 1), down=False),
            node_fault(NODE),
        ):
            await requests.hurt(self._api, fault)
        while self._names:
            await self._delete()

    async def live(self) -> list[JSON]:
        """The pods that have not ended."""
        return [pod for pod in (await self._api.read(PODS)).body["items"] if is_live(pod)]

    async def submit(self, name: str, gpus: int) -> None:
        container = {
            "name": "main",
            "image": "busybox:1.36",
            "resources": {"limits": {vocabulary.GPU: str(gpus)}},
        }
        spec = {"containers": [container], "restartPolicy": "Never", "terminationGracePeriodSeconds": 0}
        reply = await self._api.send(Write("POST", PODS, {"metadata": {"name": name}, "spec": spec}))
        assert reply.ok, reply.reason

    async def delete(self, name: str) -> None:
        await self._api.send(Write("DELETE", f"{PODS}/{name}", query={"gracePeriodSeconds": "0"}))

    async def _submit(self) -> None:
        if len(self._names) >= MOST_PODS:
            return await self._delete()
        self._number += 1
        self._names.append(f"pod-{self._number}")
        await self.submit(self._names[-1], self._random.choice((1, 1, 1, 2)))
        return None

    async def _delete(self) -> None:
        if self._names:
            await self.delete(self._names.pop(self._random.randrange(len(self._names))))

    async def _injure(self) -> None:
        down, xid = self._random.random() < 0.5, self._random.choice((None, None, 13, 79))
        gpu = gpu_fault(NODE, self._random.randrange(GPUS), xid)
        node = node_fault(NODE, self._random.choice((None, None, None, 79)))
        await requests.hurt(
            self._api, self._random.choice((gpu, gpu, link_fault(NODE, (0, 1), down=down), node))
        )

    async def _plug(self) -> None:
        self._yard.reconfigure(nodes(self._random.randint(GPUS - 2, GPUS)))

    async def _kill(self) -> None:
        await self._node.stop_plugin()
        self._node.start_plugin()

    async def _restart_kubelet(self) -> None:
        await self._node.stop_kubelet()
        await self._node.start_kubelet()

    @property
    def _node(self) -> EmbeddedNode:
        node = self._yard.nodes[NODE]
        assert isinstance(node, EmbeddedNode)
        return node


@dataclass(frozen=True)
class Kept:
    """What this process keeps at a moment of rest."""

    descriptors: int
    """Files and sockets that are open."""
    objects: int
    """Values of kubelet, device plugin and extender."""
    resident_kib: int

    @staticmethod
    def now() -> "Kept":
        gc.collect()
        modules = (str(type(found).__module__) for found in gc.get_objects())
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        return Kept(
            len(os.listdir("/proc/self/fd")),
            sum(module.startswith(WATCHED) and module != BOUNDED for module in modules),
            pages * os.sysconf("SC_PAGE_SIZE") // 1024,
        )
