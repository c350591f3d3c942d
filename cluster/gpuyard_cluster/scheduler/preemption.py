"""Whom a pod that fits nowhere may remove, and for which node.

Stands for the PostFilter plugin DefaultPreemption and its Evaluator, in 1.36's words. Candidates are the nodes where
removing pods helps by in-tree counting; extenders that have the verb decide whom, and whether at all.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Final

from gpuyard_cluster.scheduler import victims
from gpuyard_cluster.scheduler.attempt import Unschedulable
from gpuyard_cluster.scheduler.budgets import Budget
from gpuyard_cluster.scheduler.cache import ClusterCache
from gpuyard_cluster.scheduler.cycle import unschedulable_message
from gpuyard_cluster.scheduler.dry_run import DryRun, dry_run
from gpuyard_cluster.scheduler.extenders import Extender, ExtenderError
from gpuyard_cluster.scheduler.pods import PodInfo
from gpuyard_cluster.scheduler.process_preemption import process_preemption
from gpuyard_cluster.scheduler.victims import Victims

_BEFORE: Final = "no new claims to deallocate, "
"""What the PostFilter of DynamicResources, which comes first, says of every pod without claims."""
_NOT_HELPFUL: Final = "Preemption is not helpful for scheduling"


@dataclass(frozen=True, slots=True)
class Preemption:
    """The node that the pod gets, and who has to leave it first."""

    node: str
    victims: tuple[PodInfo, ...]


@dataclass(frozen=True, slots=True)
class Spared:
    """Nobody is removed. `hopeless`: what was promised to the pod before is of no use to it."""

    message: str
    hopeless: bool = False


class DefaultPreemption:
    """`budgets` by key, as they are when a pod is looked at."""

    def __init__(
        self,
        cache: ClusterCache,
        budgets: Mapping[str, Budget],
        extenders: Sequence[Extender],
        random: Random,
    ) -> None:
        self._cache, self._budgets, self._extenders, self._random = cache, budgets, extenders, random

    async def post_filter(self, pod: PodInfo, failed: Unschedulable) -> Preemption | Spared:
        """What can be done for a pod that was refused everywhere."""
        if not failed.total:
            return Spared("", hopeless=True)
        if why := self._ineligible(pod, failed):
            return Spared(f"{_BEFORE}preemption: {why}")
        nodes = [name for name, why in failed.failures.items() if why.resolvable]
        tried = dry_run(pod, nodes, self._cache, list(self._budgets.values()), self._random)
        if not tried.candidates:
            return _without_candidates(tried, failed.total)
        try:
            found = await self._ask_extenders(pod, tried.candidates)
        except ExtenderError as error:
            return Spared(f"preemption: {error}")
        if not found:
            return Spared(f"{_BEFORE}preemption: no candidate node for preemption")
        node = victims.pick(found, self._random)
        return Preemption(node, found[node].pods)

    def _ineligible(self, pod: PodInfo, failed: Unschedulable) -> str:
        """Why the pod may remove nobody now; empty when it may."""
        if not pod.preempts:
            return "not eligible due to preemptionPolicy=Never."
        node = self._cache.nominator.node_of(pod.uid)
        refusal = failed.failures.get(node)
        if refusal and refusal.resolvable and self._cache.making_room(node, pod.priority):
            return "not eligible due to a terminating pod on the nominated node."
        return ""

    async def _ask_extenders(self, pod: PodInfo, found: Mapping[str, Victims]) -> Mapping[str, Victims]:
        """The candidates that are left, each extender with the answer of the one before. ExtenderError."""
        for extender in self._extenders:
            if not (found and extender.config.preempt_verb and extender.interested(pod)):
                continue
            try:
                found = _checked(extender, await process_preemption(extender, pod, found, self._cache))
            except ExtenderError:
                if not extender.config.ignorable:
                    raise
        return found


def _checked(extender: Extender, found: Mapping[str, Victims]) -> Mapping[str, Victims]:
    """An answer without victims for a node is an error, or, of an ignorable extender, none for that node."""
    empty = [name for name, there in found.items() if not there.pods]
    if empty and not extender.config.ignorable:
        raise ExtenderError(f'expected at least one victim pod on node "{empty[0]}"')
    return {name: there for name, there in found.items() if there.pods}


def _without_candidates(tried: DryRun, total: int) -> Spared:
    if tried.errors:
        # Sorted: upstream's order is random, and each new text wakes the pod at once.
        text = tried.errors[0] if len(tried.errors) == 1 else f"[{', '.join(sorted(tried.errors))}]"
        return Spared(f"preemption: {text}")
    counts = Counter(text for texts in tried.refusals for text in texts)
    if total > len(tried.refusals):
        counts[_NOT_HELPFUL] = total - len(tried.refusals)
    return Spared(f"{_BEFORE}preemption: {unschedulable_message(total, counts)}", hopeless=True)
