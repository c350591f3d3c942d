"""Asks all who keep account of devices, compares what they say, and looks again while things settle.

Law: what could not be asked is said by name, with what mends it; what the others said is compared all the same.
"""

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from gpuyard.auditing.accounts import LedgerAccount, NodeAccounts
from gpuyard.auditing.audit import audit
from gpuyard.auditing.evidence import Objects, evidence, plays_gpus
from gpuyard.auditing.findings import Finding

SETTLE_SECONDS: Final = 10.0
"""So long accounts may differ: an eviction and a plugin's start take a few seconds, all else milliseconds."""


@dataclass(frozen=True, slots=True)
class Silent:
    """The answer of a part that does not say what it holds: why, and what mends it."""

    why: str


class Accountants(Protocol):
    """Those who are asked."""

    async def objects(self) -> Objects:
        """What the API server holds."""

    async def ledger(self) -> LedgerAccount | Silent:
        """The extender's account."""

    async def nodes(self, names: Sequence[str]) -> Mapping[str, NodeAccounts | Silent]:
        """The accounts of these nodes' device plugins and kubelets."""


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
    ledger = await asked.ledger()
    told = await asked.nodes([node["metadata"]["name"] for node in objects.nodes if plays_gpus(node)])
    plugins = {name: found for name, found in told.items() if isinstance(found, NodeAccounts)}
    known = None if isinstance(ledger, Silent) else ledger
    return Audited(audit(evidence(objects, known, plugins)), tuple(_silent(ledger, told)))


def _silent(ledger: LedgerAccount | Silent, told: Mapping[str, NodeAccounts | Silent]) -> Iterator[str]:
    if isinstance(ledger, Silent):
        yield f"extender: {ledger.why}"
    for name, found in told.items():
        if isinstance(found, Silent):
            yield f"device plugin of {name}: {found.why}"
        elif found.kubelet is None:
            yield f"kubelet of {name}: {found.problem}; see whether it runs"


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
