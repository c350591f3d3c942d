"""Who asks for new numbers to tell: the nodes that its refusal names have something else left since.

Sums keep most gangs from asking again, and so from hearing new numbers; what a node says is the extender's to know.
Laws: no more than `A_SECOND` such questions in all, however many wait, the oldest answer first; one about each
answer, when it is `REFRESH_SECONDS` old. So old numbers are, and as much older as the line is long, but never older
than `RETRY_SECONDS`, for which a refusal is believed.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from gpuyard.groups.plans import Unplaceable
from gpuyard_kube.runtime import Runtime
from gpuyard_operator.cache import Cache
from gpuyard_operator.deciding.asking import SETTLE_SECONDS, Answered
from gpuyard_operator.deciding.reasons import named
from gpuyard_operator.deciding.reconcile import REFRESH_SECONDS
from gpuyard_operator.objects.groups import Key
from gpuyard_operator.room.queueing_hints import NEVER, Opening, Trail

A_SECOND: Final = 5
"""So few that nobody who asks for room waits for those who ask for numbers."""


@dataclass(frozen=True, slots=True)
class _Told:
    """An answer, and what the nodes that it names had left then; None where it may not have seen it.

    No nodes where it was asked about.
    """

    answered: Answered
    resources: tuple[str, ...]
    left: dict[str, Sequence[int] | None]


class Outdated:
    """`wake` lets a group look."""

    def __init__(self, runtime: Runtime, wake: Callable[[Key], None], cache: Cache) -> None:
        self._runtime, self._wake, self._cache = runtime, wake, cache
        self._told = dict[Key, _Told]()
        """The oldest first."""
        self._moved, self._turns = Trail(), set[Key]()
        self._runs = False

    def take_turn(self, key: Key) -> bool:
        """Whether a group that looks now is to ask for numbers; the next time it is not."""
        has_turn = key in self._turns
        self._turns.discard(key)
        return has_turn

    def note(self, key: Key, refused: Sequence[Answered]) -> None:
        """The refusals of a group, the last one last."""
        last = next((found for found in reversed(refused) if not found.request.preempt), None)
        known = self._told.get(key)
        if last is None:
            self._told.pop(key, None)
            self._turns.discard(key)
        elif known is None or known.answered is not last:
            self._told.pop(key, None)
            self._told[key] = found = self._read(last)
            if None in found.left.values():
                self._begin()

    def look(self) -> None:
        """Something may have changed."""
        if moved := self._cache.headroom.take_moved():
            self._moved.add(moved, Opening(0, self._runtime.now()), SETTLE_SECONDS)
            if self._told:
                self._begin()

    def _begin(self) -> None:
        if not self._runs:
            self._runs = True
            self._runtime.spawn(self._go_by(), "operator outdated")

    async def _go_by(self) -> None:
        """What one leaves another takes at once: nobody asks before the first moment has passed."""
        pause = 1 / A_SECOND
        await self._runtime.sleep_until(self._runtime.now() + pause)
        while (key := next(filter(self._is_so, self._told), None)) is not None:
            due = self._told[key].answered.at + REFRESH_SECONDS
            if self._runtime.now() >= due:
                self._told[key] = replace(self._told[key], left={})
                self._turns.add(key)
                self._wake(key)
            await self._runtime.sleep_until(max(due, self._runtime.now() + pause))
        self._runs = False

    def _is_so(self, key: Key) -> bool:
        """Whether the numbers of its refusal are other ones now."""
        found = self._told[key]
        now = (left == self._cache.headroom.left(node, found.resources) for node, left in found.left.items())
        return not all(now)

    def _read(self, found: Answered) -> _Told:
        demand, headroom = self._cache.demand(found.request), self._cache.headroom
        resources = tuple(sorted({kind.resource for kind in demand.kinds})) if demand is not None else ()
        unsure = {*self._moved.since(0, found.at - SETTLE_SECONDS)}
        left = {node: None if node in unsure else headroom.left(node, resources) for node in _nodes(found)}
        return _Told(found, resources, left)


def _nodes(found: Answered) -> list[str]:
    """The nodes that people are told of, with what may become other numbers."""
    answer = found.answer
    told = named(answer) if isinstance(answer, Unplaceable) else ()
    return [no.node for no in told if no.node and no.reason not in NEVER]
