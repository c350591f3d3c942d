"""Pods that claim several groups: which of them a group does not get, and which group does.

Stands for no part of any gang scheduler known: there such pods are missed in silence. Law: a pod belongs to the group
that it claims first (`gpuyard.pods.memberships`), and counts here until it has ended or is gone.
"""

from collections import Counter
from collections.abc import Iterable, Mapping

from gpuyard_kube.store import Change
from gpuyard_operator.objects.groups import Key
from gpuyard_operator.objects.pods import PodFacts


class Contested:
    def __init__(self) -> None:
        self._at: dict[Key, dict[str, str]] = {}
        """Group -> UID of a pod that it does not get -> name of the group that does."""

    def of(self, key: Key) -> Mapping[str, int]:
        """How many pods that claim a group belong to which other ones."""
        return Counter(self._at.get(key, {}).values())

    def take(self, changes: Iterable[Change[PodFacts]]) -> set[Key]:
        """Some pods have changed: the groups that do not get them, or did not."""
        concerned = set[Key]()
        for change in changes:
            before, after = _lost(change.before), _lost(change.after)
            for key, _ in before.items() - after.items():
                self._drop(key, change.uid)
            for key, owner in after.items():
                self._at.setdefault(key, {})[change.uid] = owner
            concerned |= {key for key, _ in before.items() ^ after.items()}
        return concerned

    def _drop(self, key: Key, uid: str) -> None:
        del self._at[key][uid]
        if not self._at[key]:
            del self._at[key]


def _lost(pod: PodFacts | None) -> Mapping[Key, str]:
    """The groups that a pod claims in vain, and to which it belongs instead."""
    if pod is None or pod.group is None:
        return {}
    return dict.fromkeys(pod.passed_over, pod.group[1])
