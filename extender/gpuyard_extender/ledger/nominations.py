"""The pods for which kube-scheduler makes place, as their status says it.

Stands for the nominator of kube-scheduler's queue, which it rebuilds from there too.
"""

from collections.abc import Iterable

from gpuyard_extender.ledger.pods import Pod, nominated_for
from gpuyard_kube.store import Change, Index


class Nominations(Index[str, Pod]):
    """By node. Those that are `news` are told once, the most important first."""

    def __init__(self) -> None:
        super().__init__(nominated_for)
        self._news: dict[str, Pod] = {}

    def take(self, changes: Iterable[Change[Pod]]) -> set[str]:
        changes = list(changes)
        for change in changes:
            before, after = (nominated_for(pod) if pod else None for pod in (change.before, change.after))
            if after is None or change.after is None:
                self._news.pop(change.uid, None)
            elif after != before:
                self._news[change.uid] = change.after
        return super().take(changes)

    def news(self) -> list[Pod]:
        """Those that were not nominated for this node when this was asked last."""
        found = sorted(self._news.values(), key=lambda pod: -pod.priority)
        self._news.clear()
        return found
