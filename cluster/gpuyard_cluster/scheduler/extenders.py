"""Asking an extender: who is asked, what is sent, and what an answer means.

Stands for kube-scheduler's HTTPExtender (extender/v1); whom it preempts is in `process_preemption`. Field names are
Go's, capitalised. An extender that cannot be reached, answers `Error`, or names a node that it was not asked about
fails the attempt, unless it is ignorable; one whose Prioritize fails only has no say in it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from gpuyard.writes import JSON
from gpuyard_cluster.scheduler.cache import Candidate
from gpuyard_cluster.scheduler.cycle import Filtered, Rejection
from gpuyard_cluster.scheduler.pods import PodInfo

_SCORE_FACTOR = 10
"""MaxNodeScore / MaxExtenderPriority: an extender's scores count in tenths of an in-tree score."""


class ExtenderError(Exception):
    """An extender failed: its text becomes the pod's condition, the pod is tried again after a back-off."""


class ExtenderClient(Protocol):
    """The way to an extender. Each call raises ExtenderError when there is no usable answer."""

    async def filter(self, args: JSON) -> JSON:
        """ExtenderArgs -> ExtenderFilterResult."""

    async def prioritize(self, args: JSON) -> list[Any]:
        """ExtenderArgs -> HostPriorityList."""

    async def preempt(self, args: JSON) -> JSON:
        """ExtenderPreemptionArgs -> ExtenderPreemptionResult."""

    async def bind(self, args: JSON) -> JSON:
        """ExtenderBindingArgs -> ExtenderBindingResult."""


@dataclass(frozen=True, slots=True)
class ExtenderConfig:
    """One entry of KubeSchedulerConfiguration.extenders. An empty verb is not supported by the extender."""

    managed_resources: frozenset[str] = frozenset()
    """The extender is asked for pods that name one of these; empty: for all pods."""
    weight: int = 1
    node_cache_capable: bool = True
    """The extender knows the nodes: only their names are sent."""
    filter_verb: str = "filter"
    prioritize_verb: str = "prioritize"
    preempt_verb: str = "preempt"
    bind_verb: str = "bind"
    ignorable: bool = False
    """It is passed over where it fails, other than where it refuses."""


@dataclass(frozen=True, slots=True)
class Extender:
    """A configured extender. `url` names it in messages."""

    config: ExtenderConfig
    client: ExtenderClient
    url: str = "http://extender"

    def interested(self, pod: PodInfo) -> bool:
        """Whether a container or init container names a managed resource, be it with quantity 0."""
        managed = self.config.managed_resources
        return not managed or any(managed & named for named in _named_resources(pod.obj))

    async def filter(self, pod: PodInfo, candidates: Sequence[Candidate]) -> Filtered:
        """Which candidates the extender leaves. ExtenderError."""
        reply = await self.client.filter(self._args(pod, candidates))
        known = {found.node.name: found for found in candidates}
        try:
            return self._filtered(reply, known)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise ExtenderError(f'extender "{self.url}": the answer to filter cannot be decoded') from error

    async def prioritize(self, pod: PodInfo, candidates: Sequence[Candidate]) -> dict[str, int]:
        """Node -> what the extender adds to its score; empty when it gave no usable answer."""
        try:
            reply = await self.client.prioritize(self._args(pod, candidates))
        except ExtenderError:
            return {}
        if not all(_is_score(found) for found in reply):
            return {}
        return {found["Host"]: found["Score"] * self.config.weight * _SCORE_FACTOR for found in reply}

    async def bind(self, pod: PodInfo, node: str) -> None:
        """Have the extender bind the pod. ExtenderError when it did not."""
        args = {"PodName": pod.name, "PodNamespace": pod.namespace, "PodUID": pod.uid, "Node": node}
        reply = await self.client.bind(args)
        if reply.get("Error"):
            raise ExtenderError(str(reply["Error"]))

    def _args(self, pod: PodInfo, candidates: Sequence[Candidate]) -> JSON:
        if self.config.node_cache_capable:
            return {"Pod": sent(pod), "Nodes": None, "NodeNames": [found.node.name for found in candidates]}
        nodes = {"metadata": {}, "items": [found.obj for found in candidates]}
        return {"Pod": sent(pod), "Nodes": nodes, "NodeNames": None}

    def _filtered(self, reply: JSON, known: Mapping[str, Candidate]) -> Filtered:
        if reply.get("Error"):
            raise ExtenderError(str(reply["Error"]))
        kept = self._kept(reply, known)
        failed, for_good = reply.get("FailedNodes") or {}, reply.get("FailedAndUnresolvableNodes") or {}
        # A node in both maps shows the text of the second. One in neither has no text, and nobody is removed there.
        failures = {
            name: Rejection((str(text),), resolvable=name not in for_good)
            for name, text in {**failed, **for_good}.items()
            if name in known
        }
        return Filtered(tuple(known[name] for name in kept), failures)

    def _kept(self, reply: JSON, known: Mapping[str, Candidate]) -> list[str]:
        if not self.config.node_cache_capable:
            items = (reply.get("Nodes") or {}).get("items") or ()
            return [node["metadata"]["name"] for node in items if node["metadata"]["name"] in known]
        names = reply.get("NodeNames") or []
        unknown = next((name for name in names if name not in known), None)
        if unknown is not None:
            problem = f'claims a filtered node "{unknown}" which is not found in the input node list'
            raise ExtenderError(f'extender "{self.url}" {problem}')
        return list(names)


def sent(pod: PodInfo) -> JSON:
    """A pod as it goes over the wire."""
    metadata = {key: value for key, value in pod.obj["metadata"].items() if key != "managedFields"}
    return {**pod.obj, "metadata": metadata}


def _is_score(found: Any) -> bool:
    return isinstance(found, dict) and isinstance(found.get("Host"), str) and type(found.get("Score")) is int


def _named_resources(pod: JSON) -> list[set[str]]:
    spec = pod.get("spec") or {}
    containers = [*(spec.get("containers") or ()), *(spec.get("initContainers") or ())]
    parts = [(found.get("resources") or {}) for found in containers]
    return [{*(part.get("limits") or ()), *(part.get("requests") or ())} for part in parts]
