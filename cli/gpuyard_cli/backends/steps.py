"""A scenario on the stepped clock."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from gpuyard.auditing.accounts import LedgerAccount, NodeAccounts
from gpuyard.auditing.evidence import Objects
from gpuyard.writes import JSON
from gpuyard_cli.scenarios import auditing, faults, requests
from gpuyard_cli.scenarios.auditing import Audited
from gpuyard_cli.scenarios.injections import DriverFault, RefusedBinding
from gpuyard_cli.scenarios.observation import Snapshot
from gpuyard_cli.scenarios.yard_files import load_yard
from gpuyard_cluster.wiring.steps import StepsYard
from gpuyard_extender.service import Extender


class StepsBackend:
    """`backends.Backend` over a StepsYard. `after_step` is told the name of each thing that has happened."""

    name = "steps"

    def __init__(self, yard: StepsYard, after_step: Callable[[str], None] | None = None) -> None:
        self._yard, self._after_step = yard, after_step

    def now(self) -> float:
        return self._yard.clock.now()

    async def apply(self, obj: JSON) -> None:
        await requests.create(self._yard.api, obj)

    async def delete(self, kind: str, namespace: str, name: str) -> None:
        await requests.delete(self._yard.api, kind, namespace, name)

    async def join(self, node: str) -> None:
        self._yard.join(node)

    async def refuse(self, namespace: str, fault: RefusedBinding) -> None:
        self._yard.server.faults.append(faults.refused_binding(namespace, fault))

    async def hurt(self, fault: DriverFault) -> None:
        await requests.hurt(self._yard.api, fault)

    async def reconfigure(self, yard: Path) -> None:
        self._yard.reconfigure(load_yard(yard))

    async def pass_on(self) -> bool:
        return self._yard.pass_on()

    async def snapshot(self, namespace: str) -> Snapshot:
        """Everything that is due happens first: what is seen is never half-way."""
        while (happened := self._yard.step()) is not None:
            if self._after_step is not None:
                self._after_step(happened)
        seen = await requests.snapshot(self._yard.api, namespace)
        names = requests.waiting(seen.pods, namespace)
        found = {name: self._yard.explain(namespace, name) for name in names}
        return replace(seen, explained={name: text for name, text in found.items() if text is not None})

    async def audit(self) -> Audited:
        return await auditing.look(StepsAccounts(self._yard))


class StepsAccounts:
    """`auditing.Accountants` of a StepsYard, called directly."""

    def __init__(self, yard: StepsYard) -> None:
        self._yard = yard

    async def objects(self) -> Objects:
        return await requests.everything(self._yard.api)

    async def ledger(self) -> LedgerAccount:
        extender = self._yard.parts["extender"].service
        assert isinstance(extender, Extender)
        return extender.accounts()

    async def nodes(self, names: Sequence[str]) -> Mapping[str, NodeAccounts]:
        return {name: await self._yard.plugin(name).accounts() for name in names}
