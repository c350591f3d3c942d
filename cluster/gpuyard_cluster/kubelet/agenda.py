"""What is to be looked at, now or at a moment to come.

Stands for the kubelet's work queue. A key is looked at once however often it was added, and looking is harmless.
"""


class Agenda:
    """Keys that are due, in the order of their adding, and keys that will be."""

    def __init__(self) -> None:
        self._due: dict[str, None] = {}
        self._later: dict[str, float] = {}

    def add(self, key: str) -> None:
        """Look at `key` as soon as possible."""
        self._due[key] = None

    def add_later(self, when: float, key: str) -> None:
        """Look at `key` at `when` (seconds since the epoch), or before if that was planned already."""
        self._later[key] = min(when, self._later.get(key, when))

    def pop(self, now: float) -> str | None:
        """The next key to look at; None when nothing is due."""
        for key in [key for key, when in self._later.items() if when <= now]:
            del self._later[key]
            self._due[key] = None
        if not self._due:
            return None
        key = next(iter(self._due))
        del self._due[key]
        return key

    def next_at(self) -> float | None:
        """When something becomes due by itself; None when nothing will."""
        return min(self._later.values(), default=None)
