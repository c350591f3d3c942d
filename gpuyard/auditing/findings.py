"""What an audit finds, as data: which law of accounting is broken, where, and what each account says.

Stands for nothing in Kubernetes. The flaws are a closed list; texts are for people, codes for programs.
"""

import enum
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from gpuyard.writes import JSON

STATUS: Final = "status"
KUBELET: Final = "kubelet"
PLUGIN: Final = "plugin"
PLAN: Final = "plan"
LEDGER: Final = "ledger"
INVENTORY: Final = "inventory"
"""The accounts: a pod's status, PodResources, the device plugin, a pod's plan, the extender, a node's inventory."""


class Flaw(enum.StrEnum):
    """Every flaw there is."""

    ACCOUNTS_DISAGREE = "AccountsDisagree"
    SEVERAL_OWNERS = "SeveralOwners"
    HELD_FOR_NOBODY = "HeldForNobody"
    PLAN_NOT_SERVED = "PlanNotServed"
    NO_PLAN = "NoPlan"
    OVER_COMMITTED = "OverCommitted"
    GANG_IN_PART = "GangInPart"
    INSTANCES_DIFFER = "InstancesDiffer"

    @property
    def text(self) -> str:
        """What it means, in one sentence."""
        return _TEXTS[self]


_TEXTS: Final[Mapping[Flaw, str]] = {
    Flaw.ACCOUNTS_DISAGREE: "the accounts name different devices",
    Flaw.SEVERAL_OWNERS: "one device has several owners",
    Flaw.HELD_FOR_NOBODY: "devices are held for a pod that has ended, or is not here",
    Flaw.PLAN_NOT_SERVED: "the kubelet gave other devices than were planned",
    Flaw.NO_PLAN: "the pod has GPUs that the extender did not plan",
    Flaw.OVER_COMMITTED: "more devices are asked for than there are",
    Flaw.GANG_IN_PART: "a gang is bound in part and has not started",
    Flaw.INSTANCES_DIFFER: "a MIG instance is there for nobody, or one that a pod holds is not there",
}


@dataclass(frozen=True, slots=True)
class Finding:
    """One flaw. `subject` is a pod, a container, a device, a resource or a PodGroup; `node` empty: of no one node.

    `says`: who says what; nothing where they say that there is nothing.
    """

    flaw: Flaw
    node: str
    subject: str
    says: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def __str__(self) -> str:
        said = "; ".join(f"{who}: {' '.join(what) or 'nothing'}" for who, what in self.says.items())
        where = f" on {self.node}" if self.node else ""
        return f"{self.flaw.value}: {self.subject}{where}: {self.flaw.text} ({said})"

    def to_json(self) -> JSON:
        says = {who: list(what) for who, what in self.says.items()}
        return {"flaw": self.flaw.value, "node": self.node, "subject": self.subject, "says": says}


def said(found: Iterable[str]) -> tuple[str, ...]:
    """What an account says, in an order that does not depend on chance."""
    return tuple(sorted(set(found)))
