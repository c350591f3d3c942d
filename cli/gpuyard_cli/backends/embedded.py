"""A scenario in real time, on the embedded cluster."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from gpuyard.auditing import accounts
from gpuyard.auditing.accounts import LedgerAccount, NodeAccounts
from gpuyard.auditing.evidence import Objects
from gpuyard.writes import JSON
from gpuyard_cli.scenarios import auditing, faults, requests
from gpuyard_cli.scenarios.auditing import Audited, Silent
from gpuyard_cli.scenarios.injections import DriverFault, RefusedBinding
from gpuyard_cli.scenarios.observation import Snapshot
from gpuyard_cli.scenarios.yard_files import load_yard
from gpuyard_cluster.wiring.embedded import EmbeddedYard
from gpuyard_kube.http import HttpApi

LOOK_SECONDS, QUIET_SECONDS = 0.02, 0.1
"""Between two looks at the cluster: at least, and at most while nothing is written there. A look costs as much as a
pod, and examples that run side by side would do little else."""


class EmbeddedBackend:
    """`backends.Backend` over an EmbeddedYard, which is asked over HTTP as any client would."""

    name = "embedded"

    def __init__(self, yard: EmbeddedYard, api: HttpApi, extender: HttpApi) -> None:
        self._yard, self._api, self._extender = yard, api, extender
        self._looked_at = 0

    def now(self) -> float:
        return self._yard.runtime.now()

    async def apply(self, obj: JSON) -> None:
        await requests.create(self._api, obj)

    async def delete(self, kind: str, namespace: str, name: str) -> None:
        await requests.delete(self._api, kind, namespace, name)

    async def join(self, node: str) -> None:
        await self._yard.join(node)

    async def refuse(self, namespace: str, fault: RefusedBinding) -> None:
        self._yard.server.faults.append(faults.refused_binding(namespace, fault))

    async def hurt(self, fault: DriverFault) -> None:
        await requests.hurt(self._api, fault)

    async def reconfigure(self, yard: Path) -> None:
        self._yard.reconfigure(load_yard(yard))

    async def pass_on(self) -> bool:
        latest = self.now() + QUIET_SECONDS
        await asyncio.sleep(LOOK_SECONDS)
        while self._yard.server.revision == self._looked_at and self.now() < latest:
            await asyncio.sleep(LOOK_SECONDS)
        return True

    async def snapshot(self, namespace: str) -> Snapshot:
        self._looked_at = self._yard.server.revision
        seen = await requests.snapshot(self._api, namespace)
        explained: dict[str, JSON] = {}
        for name in requests.waiting(seen.pods, namespace):
            reply = await self._extender.read(f"/v1/pods/{namespace}/{name}/explain")
            if reply.ok:
                explained[name] = reply.body
        return replace(seen, explained=explained)

    async def audit(self) -> Audited:
        return await auditing.look(EmbeddedAccounts(self._yard, self._api, self._extender))


class EmbeddedAccounts:
    """`auditing.Accountants` of an EmbeddedYard: API server and extender over HTTP, plugins of this process."""

    def __init__(self, yard: EmbeddedYard, api: HttpApi, extender: HttpApi) -> None:
        self._yard, self._api, self._extender = yard, api, extender

    async def objects(self) -> Objects:
        return await requests.everything(self._api)

    async def ledger(self) -> LedgerAccount | Silent:
        reply = await self._extender.read(accounts.LEDGER_PATH)
        return accounts.ledger_from_json(reply.body) if reply.ok else Silent(reply.reason)

    async def nodes(self, names: Sequence[str]) -> Mapping[str, NodeAccounts]:
        return {name: await self._yard.nodes[name].plugin.accounts() for name in names}
