"""Pod groups and who belongs to them.

Stands for the PodGroup of scheduler-plugins (`scheduling.x-k8s.io`), whose label names the group of a pod.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from gpuyard.groups import nearness, queues
from gpuyard.groups.gangs import Member
from gpuyard.groups.nearness import Nearness
from gpuyard.pods import memberships
from gpuyard.verdicts import SCHEDULED, WITHHELD, Reason, Rejection
from gpuyard.writes import JSON
from gpuyard_extender.ledger.pods import Pod
from gpuyard_kube.conditions import condition


@dataclass(frozen=True, slots=True)
class Group:
    """One PodGroup: `needed` members start together or not at all (minMember)."""

    name: str
    needed: int
    withheld: Rejection | None = None
    """Why it may not start, whatever room there is: its queue does not let it in, or it is over. The operator says
    so in the condition Scheduled."""
    nearness: Nearness | Rejection | None = None
    queue: str = ""
    """The name of its queue, where it says one itself."""


def read(obj: JSON) -> Group | None:
    """The group in an API object; None when the object cannot be used."""
    try:
        name, needed = str(obj["metadata"]["name"]), memberships.min_member(obj)
        return Group(name, needed, _withheld(obj), _nearness(obj), queues.queue_of(obj, ()))
    except (AttributeError, KeyError, TypeError, ValueError):
        return None


def _withheld(obj: JSON) -> Rejection | None:
    said = condition(obj.get("status") or {}, SCHEDULED)
    code = WITHHELD.get(str(said.get("reason")))
    return Rejection("", code, str(said.get("message", ""))) if code else None


def _nearness(obj: JSON) -> Nearness | Rejection | None:
    try:
        return nearness.parse(obj["metadata"].get("annotations") or {})
    except ValueError as error:
        return Rejection("", Reason.INVALID_REQUEST, str(error))


def placeable(pods: Iterable[Pod]) -> list[Member]:
    """The pods as members to be placed, without those whose request is refused whatever the node."""
    return [Member(pod.request, pod.fit) for pod in pods if not isinstance(pod.request, Rejection)]


def membership(pod: Pod) -> tuple[str, str] | None:
    """Namespace and name of the group of a live member: one that has neither failed nor is on its way out."""
    live = not pod.terminating and pod.phase != "Failed"
    return (pod.namespace, pod.group) if live and pod.group is not None else None
