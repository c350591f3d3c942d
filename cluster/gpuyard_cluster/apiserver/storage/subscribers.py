"""Who is told of the changes of one collection.

Stands for the watch cache's index of watchers (`indexedWatchers` in `cacher.go`): of a thousand kubelets each waits
for the pods of its own node, and a change of one pod is asked about by one of them, not by all. Law: everyone is told
in the order in which they came.
"""

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gpuyard_cluster.apiserver.selection.selection import field_value

if TYPE_CHECKING:
    from gpuyard_cluster.apiserver.storage.storage import Change

Subscriber = Callable[["Change"], None]
_ByValue = dict[str, dict[int, Subscriber]]


@dataclass(frozen=True, slots=True)
class Interest:
    """Only changes of objects whose field has this value, before or after the change."""

    field: str
    value: str


class Subscribers:
    """The subscribers of one collection."""

    def __init__(self) -> None:
        self._turns = itertools.count()
        self._all: dict[int, Subscriber] = {}
        self._indexed: dict[str, _ByValue] = {}

    def add(self, subscriber: Subscriber, interest: Interest | None) -> Callable[[], None]:
        """Tell one more, from now on; the result ends that."""
        turn = next(self._turns)
        if interest is None:
            self._all[turn] = subscriber
            return lambda: self._drop(self._all, turn)
        by_value = self._indexed.setdefault(interest.field, {})
        by_value.setdefault(interest.value, {})[turn] = subscriber

        def remove() -> None:
            held = by_value.get(interest.value, {})
            self._drop(held, turn)
            if not held:
                by_value.pop(interest.value, None)

        return remove

    def concerned(self, change: "Change") -> list[Subscriber]:
        """Those who want to know of a change."""
        if not self._indexed:
            return list(self._all.values())
        found = dict(self._all)
        for field, by_value in self._indexed.items():
            objects = (change.new.obj,) if change.old is None else (change.old.obj, change.new.obj)
            for value in {field_value(obj, field) for obj in objects}:
                found |= by_value.get(value, {})
        return [found[turn] for turn in sorted(found)]

    @staticmethod
    def _drop(held: dict[int, Subscriber], turn: int) -> None:
        held.pop(turn, None)
