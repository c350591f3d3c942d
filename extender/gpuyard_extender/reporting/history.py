"""The last decisions, with the nodes that they were about: for people who look at them while the extender runs.

Stands for the scheduler's events, with what events leave out. Laws: it is bounded in bytes, the oldest decision goes
first; noting one costs the same in a large cluster, because of each list of nodes only the beginning is kept.
"""

import json
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from gpuyard_extender.reporting.decisions import Decision
from gpuyard_extender.reporting.packing import packed

MOST_BYTES: Final = 8 * 1024 * 1024
_OVERHEAD: Final = 300
"""What an entry weighs besides its content."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One decision. `number` counts from 1; `detail` is JSON, with the nodes."""

    number: int
    uid: str
    detail: bytes

    @property
    def line(self) -> bytes:
        """The same without the nodes."""
        found = json.loads(self.detail)
        del found["nodes"], found["order"]
        return packed(found)

    @property
    def weight(self) -> int:
        return _OVERHEAD + len(self.detail)


class History:
    """Decisions, the oldest first."""

    def __init__(self, most: int = MOST_BYTES) -> None:
        self._most, self._entries = most, deque[Entry]()
        self.noted = self.weight = 0

    def note(self, decision: Decision) -> None:
        self.noted += 1
        told = decision.to_json() | {"nodes": decision.nodes, "order": decision.order}
        entry = Entry(self.noted, decision.uid, packed(told))
        self._entries.append(entry)
        self.weight += entry.weight
        while self.weight > self._most:
            self.weight -= self._entries.popleft().weight

    def of(self, uid: str) -> Iterable[bytes]:
        """What was decided of one pod, as `Entry.detail`."""
        return (entry.detail for entry in self._entries if entry.uid == uid)

    def since(self, number: int, most: int) -> Iterator[Entry]:
        """The newest after that number, at most so many, the oldest first."""
        count = min(most, self.noted - number, len(self._entries))
        return (self._entries[place] for place in range(len(self._entries) - count, len(self._entries)))
