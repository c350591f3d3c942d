"""Disruption budgets, as preemption looks at them.

Stands for kube-scheduler's filterPodsWithPDBViolation. Other than for an eviction, an empty selector matches nothing
here, and nothing matches a pod without labels.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from gpuyard.writes import JSON
from gpuyard_cluster.apiserver.selection import label_selectors
from gpuyard_cluster.scheduler.pods import PodInfo


@dataclass(frozen=True, slots=True)
class Budget:
    """One PodDisruptionBudget: `allowed` pods may go now; `disrupted` ones are counted as gone already."""

    namespace: str
    selector: JSON
    allowed: int
    disrupted: frozenset[str]

    @classmethod
    def of(cls, obj: JSON) -> "Budget":
        status = obj.get("status") or {}
        return cls(
            namespace=obj["metadata"]["namespace"],
            selector=(obj.get("spec") or {}).get("selector") or {},
            allowed=int(status.get("disruptionsAllowed") or 0),
            disrupted=frozenset(status.get("disruptedPods") or ()),
        )

    def counts(self, pod: PodInfo) -> bool:
        """Whether the pod's going takes something of the budget."""
        if pod.namespace != self.namespace or pod.name in self.disrupted or not pod.labels:
            return False
        terms = self.selector.get("matchLabels") or self.selector.get("matchExpressions")
        return bool(terms) and label_selectors.matches(self.selector, pod.labels)


def violating(pods: Iterable[PodInfo], budgets: Sequence[Budget]) -> set[str]:
    """The UIDs of those for whom nothing is left of a budget when all before them go first."""
    left, found = [budget.allowed for budget in budgets], set()
    for pod in pods:
        for number, budget in enumerate(budgets):
            if budget.counts(pod):
                left[number] -= 1
                if left[number] < 0:
                    found.add(pod.uid)
    return found
