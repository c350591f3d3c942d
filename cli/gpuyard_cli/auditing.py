"""Asks all who keep account of devices, compares what they say, and looks again while things settle.

Law: what could not be asked is said by name, with what mends it; what the others said is compared all the same.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final, Protocol

from gpuyard.accounts import LedgerAccount, NodeAccounts
from gpuyard.audit import audit
from gpuyard.evidence import Objects, evidence, plays_gpus
from gpuyard.findings import Finding

SETTLE_SECONDS: Final = 10.0
"""So long accounts may differ: an eviction and a plugin's start take a few seconds, all else milliseconds."""


class SilentError(Exception):
    """A part does not say what it holds. The text is why, and what mends it."""


class Accountants(Protocol):
    """Those who are asked."""

    async def objects(self) -> Objects:
        """What the API server holds."""

    async def ledger(self) -> LedgerAccount:
        """The extender's account. SilentError when none answers."""

    async def node(self, name: str) -> NodeAccounts:
        """The accounts of a node's device plugin and kubelet. SilentError when the plugin does not answer."""


@dataclass(frozen=True, slots=True)
class Audited:
    """What an audit came to. `silent`: a line for each part that did not answer."""

    findings: tuple[Finding, ...] = ()
    silent: tuple[str, ...] = ()

    @property
    def clean(self) -> bool:
        return not (self.findings or self.silent)

    @property
    def lines(self) -> tuple[str, ...]:
        return (*self.silent, *map(str, self.findings))


async def look(asked: Accountants) -> Audited:
    """One look. The objects come first: who is bound meanwhile is found by the next look."""
    objects = await asked.objects()
    silent: list[str] = []
    ledger: LedgerAccount | None = None
    try:
        ledger = await asked.ledger()
    except SilentError as error:
        silent.append(f"extender: {error}")
    plugins: dict[str, NodeAccounts] = {}
    for name in [node["metadata"]["name"] for node in objects.nodes if plays_gpus(node)]:
        try:
            plugins[name] = await asked.node(name)
        except SilentError as error:
            silent.append(f"device plugin of {name}: {error}")
            continue
        if plugins[name].kubelet is None:
            silent.append(f"kubelet of {name}: {plugins[name].problem}; see whether it runs")
    return Audited(audit(evidence(objects, ledger, plugins)), tuple(silent))


async def settled(
    looks: Callable[[], Awaitable[Audited]],
    now: Callable[[], float],
    pass_on: Callable[[], Awaitable[bool]],
    seconds: float = SETTLE_SECONDS,
) -> Audited:
    """Look until nothing is wrong, or for as long as things may take to settle; then what is still wrong."""
    deadline = now() + seconds
    while True:
        found = await looks()
        if found.clean or now() > deadline or not await pass_on():
            return found
