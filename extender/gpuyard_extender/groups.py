"""Pod groups and who belongs to them.

Stands for the PodGroup of scheduler-plugins (`scheduling.x-k8s.io`), whose label names the group of a pod.
"""

from dataclasses import dataclass

from gpuyard.writes import JSON
from gpuyard_extender.pods import Pod


@dataclass(frozen=True, slots=True)
class Group:
    """One PodGroup: `needed` members start together or not at all (minMember)."""

    name: str
    needed: int


def read(obj: JSON) -> Group | None:
    """The group in an API object; None when the object cannot be used."""
    try:
        return Group(str(obj["metadata"]["name"]), int((obj.get("spec") or {}).get("minMember") or 1))
    except (AttributeError, KeyError, TypeError, ValueError):
        return None


class Members:
    """Live members by namespace and group."""

    def __init__(self) -> None:
        self._pods: dict[tuple[str, str], dict[str, Pod]] = {}

    def of(self, namespace: str, group: str) -> tuple[Pod, ...]:
        """Members that have neither failed nor are terminating, by name: the order in which they are placed."""
        found = self._pods.get((namespace, group), {}).values()
        return tuple(sorted(found, key=lambda pod: (pod.name, pod.uid)))

    def changed(self, before: Pod | None, after: Pod | None) -> None:
        """A pod was seen to change."""
        if before is not None and before.group is not None:
            key = (before.namespace, before.group)
            self._pods.get(key, {}).pop(before.uid, None)
            if not self._pods.get(key):
                self._pods.pop(key, None)
        if (
            after is not None
            and after.group is not None
            and not after.terminating
            and after.phase != "Failed"
        ):
            self._pods.setdefault((after.namespace, after.group), {})[after.uid] = after
