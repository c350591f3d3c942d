"""A workload on a cluster: what became of each of its pods.

One pod at a time, each once the last has found its place or was refused: how several are served that wait together is
a matter of luck on a real cluster. The nodes have no kubelets: what is compared was decided before one is asked.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from gpuyard import vocabulary
from gpuyard.auditing import accounts
from gpuyard.writes import JSON, Reply, Write
from gpuyard_kube.http import HttpApi
from tests.e2e.differential.workloads import NAMESPACE, Leaving, Workload
from tests.e2e.stories.cluster import node_of, until

NODES, PODS = "/api/v1/nodes", f"/api/v1/namespaces/{NAMESPACE}/pods"


@dataclass(frozen=True)
class Ground:
    """A cluster, its API, and questions to its extender by path."""

    api: HttpApi
    ask: Callable[[str], Awaitable[Reply]]

    async def walk(self, workload: Workload) -> list[str]:
        """For each pod that came: where it is and with which devices, or why it has no place."""
        names = {node["metadata"]["name"] for node in workload.nodes}
        async with self._made_up(workload.nodes, names):
            outcomes = []
            for move in workload.moves:
                if isinstance(move, Leaving):
                    await self._leave(move.name)
                else:
                    outcomes.append(await self._come(move, names))
            for pod in (await self.api.read(PODS)).body["items"]:
                await self._leave(pod["metadata"]["name"])
            return outcomes

    @asynccontextmanager
    async def _made_up(self, nodes: Sequence[JSON], names: set[str]) -> AsyncIterator[None]:
        if not (await self.api.read(f"/api/v1/namespaces/{NAMESPACE}")).ok:
            await self._send("POST", "/api/v1/namespaces", {"metadata": {"name": NAMESPACE}})
        for node in nodes:
            await self._send("POST", NODES, node)
        await until(lambda: self._known(names), "the extender knows the nodes")
        try:
            yield
        finally:
            for name in names:
                await self._send("DELETE", f"{NODES}/{name}")
            await until(lambda: self._unknown(names), "the extender has forgotten the nodes")

    async def _come(self, pod: JSON, nodes: set[str]) -> str:
        name = pod["metadata"]["name"]
        await self._send("POST", PODS, pod)
        await until(lambda: self._decided(name), f"{name} is bound, or refused")
        found = (await self.api.read(f"{PODS}/{name}")).body
        if node_of(found):
            return f"{name}: {node_of(found)} {found['metadata']['annotations'][vocabulary.ALLOCATION]}"
        told = (await self.ask(f"/v1/pods/{NAMESPACE}/{name}/explain")).body["nodes"]
        await self._leave(name)
        ours = sorted(f"{node['node']} {node['reason']}" for node in told if node["node"] in nodes)
        return f"{name}: refused: {', '.join(ours)}"

    async def _decided(self, name: str) -> bool:
        pod = (await self.api.read(f"{PODS}/{name}")).body
        conditions = pod["status"].get("conditions") or ()
        return bool(node_of(pod)) or any(found.get("reason") == "Unschedulable" for found in conditions)

    async def _leave(self, name: str) -> None:
        """Done when the extender has heard of it, and so could hear of the next one."""
        reply = await self.api.read(f"{PODS}/{name}")
        if reply.ok:
            await self._send("DELETE", f"{PODS}/{name}", query={"gracePeriodSeconds": "0"})
            await until(lambda: self._forgotten(reply.body["metadata"]["uid"]), f"{name} holds nothing")

    async def _forgotten(self, uid: str) -> bool:
        return not any(uid in stakes for stakes in (await self._ledger()).values())

    async def _known(self, nodes: set[str]) -> bool:
        return nodes <= (await self._ledger()).keys()

    async def _unknown(self, nodes: set[str]) -> bool:
        return not nodes & (await self._ledger()).keys()

    async def _ledger(self) -> accounts.LedgerAccount:
        reply = await self.ask(accounts.LEDGER_PATH)
        assert reply.ok, reply.reason
        return accounts.ledger_from_json(reply.body)

    async def _send(self, verb: str, path: str, body: JSON | None = None, **more: dict[str, str]) -> None:
        reply = await self.api.send(Write(verb, path, body, **more))
        assert reply.ok, reply.reason


async def both(one: Ground, other: Ground, workload: Workload) -> tuple[list[str], list[str]]:
    """A workload on two clusters at once; where it fails on one, the other is tidied up as well."""
    async with asyncio.TaskGroup() as group:
        walks = [group.create_task(ground.walk(workload)) for ground in (one, other)]
    return walks[0].result(), walks[1].result()
