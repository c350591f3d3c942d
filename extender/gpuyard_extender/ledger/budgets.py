"""Disruption budgets: which pods they cover, and how many of these may go.

Stands for the disruption budget lister that kube-scheduler's preemption reads.
"""

from dataclasses import dataclass

from gpuyard.pods import affinity
from gpuyard.pods.affinity import Requirement
from gpuyard.writes import JSON
from gpuyard_extender.ledger.pods import Pod

PLURAL = "poddisruptionbudgets"
PATH = f"/apis/policy/v1/{PLURAL}"


@dataclass(frozen=True, slots=True)
class Budget:
    """One PodDisruptionBudget. `wishes` None: it selects no pod; empty: all of its namespace."""

    namespace: str
    name: str
    wishes: tuple[Requirement, ...] | None
    allowed: int

    @property
    def key(self) -> str:
        return f"{self.namespace}/{self.name}"

    def covers(self, pod: Pod) -> bool:
        if self.wishes is None or pod.namespace != self.namespace:
            return False
        return all(wish.matches(pod.labels) for wish in self.wishes)


def read(obj: JSON) -> Budget | None:
    """The budget in an API object; None when the object cannot be used."""
    try:
        metadata, selector = obj["metadata"], (obj.get("spec") or {}).get("selector")
        allowed = int((obj.get("status") or {}).get("disruptionsAllowed") or 0)
        wishes = None if selector is None else affinity.selected(selector)
        return Budget(str(metadata["namespace"]), str(metadata["name"]), wishes, allowed)
    except (AttributeError, KeyError, TypeError, ValueError):
        return None
