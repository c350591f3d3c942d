"""Groups that others overtake and that their queue has refused: who of them looks again, and when.

Stands for the inadmissible workloads of Kueue's queues. Laws: who was let in when it looked looks again by itself; of
those that were refused alike ones are judged as one, and no more than LOOK at a time look again, in order; one that
takes no places then lets the next one look.
"""

from collections.abc import Callable

from gpuyard_operator.objects.groups import Key
from gpuyard_operator.queues.queueing import LOOK
from gpuyard_operator.queues.workloads import Workload

Shape = tuple[str, frozenset[tuple[str, int]], frozenset[tuple[str, str]]]


class Overtaken:
    """`admits` says whether a group's queue would let it in now."""

    def __init__(self, admits: Callable[[Workload], bool]) -> None:
        self._admits = admits
        self._refused: dict[Shape, dict[Key, Workload]] = {}
        self._woken = set[Key]()

    def refuse(self, found: Workload) -> None:
        """It has looked, and its queue did not let it in."""
        self._refused.setdefault(_shape(found), {})[found.key] = found

    def drop(self, found: Workload) -> None:
        """It is not what it was."""
        self._woken.discard(found.key)
        self._take(found)

    def pass_on(self, key: Key) -> set[Key]:
        """One has come to a decision without taking places: who looks instead."""
        if key not in self._woken:
            return set()
        self._woken.discard(key)
        return self.wake()

    def wake(self) -> set[Key]:
        """Something is new: who looks again."""
        found = set[Key]()
        for alike in [*self._refused.values()]:
            spare = LOOK - len(self._woken)
            if spare > 0 and self._admits(next(iter(alike.values()))):
                for one in sorted(alike.values(), key=lambda one: one.rank)[:spare]:
                    self._take(one)
                    self._woken.add(one.key)
                    found.add(one.key)
        return found

    def _take(self, found: Workload) -> None:
        shape = _shape(found)
        alike = self._refused.get(shape, {})
        alike.pop(found.key, None)
        if not alike:
            self._refused.pop(shape, None)


def _shape(found: Workload) -> Shape:
    """What decides whether it is let in."""
    return found.queue, frozenset(found.least.items()), found.kinds
