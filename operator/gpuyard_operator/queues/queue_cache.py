"""All queues with the groups that hold and want something of them, kept as the objects change.

Stands for the cache and the queue manager of Kueue. What is used is the sum of what each group holds, and that is
read from its objects anew whenever one of them changes: nothing is counted up or down by itself, so nothing drifts.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import islice
from typing import Final

from gpuyard import vocabulary
from gpuyard.groups import queues, reservations
from gpuyard.verdicts import Reason, Rejection
from gpuyard.writes import JSON, Write
from gpuyard_kube.store import Change, Store
from gpuyard_operator.deciding.admission import Admission
from gpuyard_operator.deciding.view import View
from gpuyard_operator.objects.groups import Key
from gpuyard_operator.objects.nodes import NodeFacts
from gpuyard_operator.queues import queueing, workloads
from gpuyard_operator.queues.overtaken import Overtaken
from gpuyard_operator.queues.queue_state import QueueState
from gpuyard_operator.queues.queueing import Judgement
from gpuyard_operator.queues.workloads import Workload

LONGEST: Final = 253
"""Characters of a name that can be one, and of one that is repeated."""


class QueueCache:
    """`view_of` tells the objects of a group. `settle` first, whenever an admission is to be known."""

    def __init__(self, view_of: Callable[[Key], View]) -> None:
        self._view_of = view_of
        self.objects, self._products = Store[JSON](lambda obj: obj), dict[str, str]()
        self._about = workloads.About(lambda name: self.state(name).queue, self._products.get)
        self._states: dict[str, QueueState] = {}
        self._busy: dict[str, QueueState] = {}
        """Those with groups: there may be thousands of queues that nobody uses."""
        self._found: dict[Key, Workload] = {}
        self._intended: dict[Key, JSON] = {}
        self._dirty: set[Key] = set()
        self._judgement, self._firsts = Judgement(), dict[Key, Admission]()
        self._overtaken = Overtaken(lambda found: self._judgement.overtaken(found).refusal is None)
        self.changed: set[str] = set()
        """The names of the queues whose use or line has changed; whoever tells of them takes them away."""

    def has(self, key: Key) -> bool:
        """Whether a group is in a queue, as far as that was settled."""
        return key in self._found

    def touch(self, keys: Iterable[Key]) -> None:
        """There is something new about these groups."""
        self._dirty.update(keys)

    def intend(self, key: Key, writes: Iterable[Write] = (), *, asks: bool = True) -> set[Key]:
        """A Reservation among the writes that are about to be done counts from now on, until the next call.

        Who has to look, where the group does not take places and does not ask for any.
        """
        before = self._intended.pop(key, None)
        written = [write.body for write in writes if isinstance(write.body, dict)]
        made = (body for body in written if body.get("kind") == "Reservation")
        found = next((body for body in made if reservations.holds_places(body)), None)
        if found is not None:
            self._intended[key] = found
        if found != before:
            self._dirty.add(key)
        return set() if asks or found is not None else self._overtaken.pass_on(key)

    def learn(self, changes: Iterable[Change[JSON]]) -> set[Key]:
        """Some queues have changed: the groups that have to look again. Their own status is none of it."""
        names = {it["metadata"]["name"] for change in changes if (it := change.after or change.before)}
        concerned = set[Key]()
        for name in names:
            obj, state = self.queue(name), self._states.setdefault(name, QueueState())
            queue = queues.from_object(obj) if obj is not None else None
            if queue != state.queue:
                state.queue = queue
                concerned |= state.groups.keys()
                self.changed.add(name)
        for key in concerned:
            self._take(key)
        self._keep(names)
        self._dirty |= concerned
        return concerned

    def learn_nodes(self, changes: Iterable[Change[NodeFacts]]) -> set[Key]:
        """Some nodes have changed: a group that has to look for all, where it may be news for any.

        A node that is gone is what it was: pods may still hold something there.
        """
        news = False
        for node in (change.after for change in changes if change.after is not None):
            news |= node.product != self._products.get(node.name, "")
            self._products[node.name] = node.product
        if not news:
            return set()
        self._dirty.update(self._found)
        return set(islice(self._found, 1))

    def settle(self, now: float) -> set[Key]:
        """Take in all that is new: the groups to which their queue may say something else than before."""
        moved = {key for key in self._dirty if self._file(key, now)}
        expired = set[Key]().union(*(state.expire(now) for state in self._busy.values()))
        self._dirty.clear()
        if not (moved or expired):
            return set()
        lines = (line for state in self._busy.values() if (line := state.line()) is not None)
        self._judgement = Judgement(lines)
        before, self._firsts = self._firsts, self._judgement.firsts()
        either = before.keys() | self._firsts.keys()
        changed = {key for key in either if before.get(key) != self._firsts.get(key)}
        return changed | expired | set(filter(self._is_overtaken, moved)) | self._overtaken.wake()

    def admission(self, key: Key) -> Admission | None:
        """What its queue says to a group; None where it has none."""
        found = self._found.get(key)
        if found is None:
            return None
        state = self._states[found.queue]
        if state.queue is None:
            detail = f"there is no Queue {found.queue:.{LONGEST}}, which {vocabulary.QUEUE} names"
            return Admission(refusal=Rejection("", Reason.NO_SUCH_QUEUE, detail))
        if state.is_overtaken(found):
            return queueing.never(state.queue, found) or self._judged(found)
        return self._firsts.get(key) or queueing.beyond(state.queue)

    def state(self, name: str) -> QueueState:
        """The state of a queue; an empty one where nobody knows it."""
        return self._states.get(name, QueueState())

    def queue(self, name: str) -> JSON | None:
        """The object of a queue, as last seen."""
        return self.objects.named("", name)

    def _is_overtaken(self, key: Key) -> bool:
        found = self._found.get(key)
        return found is not None and self._states[found.queue].is_overtaken(found)

    def _judged(self, found: Workload) -> Admission:
        admission = self._judgement.overtaken(found)
        if admission.refusal is not None:
            self._overtaken.refuse(found)
        return admission

    def _file(self, key: Key, now: float) -> bool:
        """Whether the workload of a group is another than before."""
        view, intended = self._view_of(key), self._intended.get(key)
        if intended is not None and view.reservation is None:
            view = replace(view, reservation=intended)
        before, found = self._found.get(key), workloads.read(key, view, self._about, now)
        if before == found:
            return False
        if before is not None:
            self._take(key)
        if found is not None:
            self._states.setdefault(found.queue, QueueState()).put(found, now)
            self._found[key] = found
        names = {each.queue for each in (before, found) if each is not None}
        self._keep(names)
        self.changed |= names
        return True

    def _take(self, key: Key) -> None:
        found = self._found.pop(key)
        self._states[found.queue].take(key)
        self._overtaken.drop(found)

    def _keep(self, names: Iterable[str]) -> None:
        """Of queues that groups were entered into or struck out of. PodGroups may name queues that never were."""
        for name in names:
            state = self._states[name]
            if state.groups:
                self._busy[name] = state
            else:
                self._busy.pop(name, None)
                if state.queue is None:
                    del self._states[name]
