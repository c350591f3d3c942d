"""Notices when room may have come into being: only then a gang that did not fit is planned again.

Stands for the queueing hints of kube-scheduler: a node that appears or changes, a pod that frees its node, places
that are given up. What takes room away is of no interest.
"""

from collections.abc import Iterable
from typing import Any

from gpuyard import vocabulary
from gpuyard.pods.phases import has_ended
from gpuyard.writes import JSON
from gpuyard_operator.shelf import uid_of


class Changes:
    """`count` says how many were seen."""

    def __init__(self) -> None:
        self.count = 0
        self._holding: set[str] = set()
        self._nodes: dict[str, Any] = {}

    def observe(self, resource: str, event: str, obj: JSON) -> None:
        """One event of pods, nodes or reservations; of other resources nothing is to be learnt."""
        match resource:
            case "pods":
                self._pod(obj, gone=event == "DELETED")
            case "nodes":
                self._node(obj, gone=event == "DELETED")
            case "reservations" if event == "DELETED":
                self.count += 1

    def replace(self, resource: str, objects: Iterable[JSON]) -> None:
        """All objects of a resource: pods that are missing have freed their nodes."""
        listed = list(objects)
        for obj in listed:
            self.observe(resource, "MODIFIED", obj)
        if resource == "pods":
            lost = self._holding - {uid_of(pod) for pod in listed}
            self._holding -= lost
            self.count += bool(lost)

    def _pod(self, pod: JSON, gone: bool) -> None:
        uid = uid_of(pod)
        bound = bool((pod.get("spec") or {}).get("nodeName"))
        ended = gone or has_ended(pod)
        if bound and not ended:
            self._holding.add(uid)
        elif uid in self._holding:
            self._holding.remove(uid)
            self.count += 1

    def _node(self, node: JSON, gone: bool) -> None:
        name = uid_of(node)
        if gone:
            self._nodes.pop(name, None)
            return
        offer = _offer(node)
        if self._nodes.get(name) != offer:
            self._nodes[name] = offer
            self.count += 1


def _offer(node: JSON) -> tuple[Any, ...]:
    """What of a node decides what fits on it; heartbeats are no part of it."""
    metadata, spec, status = (node.get(part) or {} for part in ("metadata", "spec", "status"))
    ready = [c.get("status") for c in status.get("conditions") or () if c.get("type") == "Ready"]
    inventory = (metadata.get("annotations") or {}).get(vocabulary.INVENTORY)
    placing = (metadata.get("labels"), spec.get("taints"), spec.get("unschedulable"))
    return inventory, *placing, status.get("allocatable"), ready
