"""All queues with the groups that hold and want something of them, kept as the objects change.

Stands for the cache and the queue manager of Kueue. What is used is the sum of what each group holds, and that is
read from its objects anew whenever one of them changes: nothing is counted up or down by itself, so nothing drifts.
"""

from bisect import bisect_left, insort
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace

from gpuyard import queues, vocabulary
from gpuyard.queues import Queue
from gpuyard.verdicts import Reason, Rejection
from gpuyard.writes import JSON, Write
from gpuyard_operator import applications, queueing
from gpuyard_operator.applications import Application
from gpuyard_operator.queueing import LOOK, Line
from gpuyard_operator.scene import View
from gpuyard_operator.shelf import Key, Shelf, by_name
from gpuyard_operator.standing import Standing

Ranks = list[tuple[int, int, Key]]


@dataclass(slots=True)
class _Book:
    """One queue: `queue` is None where only groups know of it."""

    queue: Queue | None = None
    used: Counter[str] = field(default_factory=Counter)
    keys: set[Key] = field(default_factory=set)
    admitted: int = 0
    firm: Ranks = field(default_factory=list)
    others: Ranks = field(default_factory=list)


class Board:
    """`view_of` tells the objects of a group. `settle` first, whenever a standing is to be known."""

    def __init__(self, view_of: Callable[[Key], View]) -> None:
        self._view_of = view_of
        self._queues, self._products = Shelf(by_name), dict[str, str]()
        self._about = applications.About(self._queue, self._products.get)
        self._books: dict[str, _Book] = {}
        self._found: dict[Key, Application] = {}
        self._intended: dict[Key, JSON] = {}
        self._dirty: set[Key] = set()
        self._redefined = False
        self._standings: dict[Key, Standing] = {}
        self.changed: set[str] = set()
        """The names of the queues whose use or line has changed; whoever tells of them takes them away."""

    def touch(self, keys: Iterable[Key]) -> None:
        """There is something new about these groups."""
        self._dirty.update(keys)

    def intend(self, key: Key, writes: Iterable[Write]) -> None:
        """A Reservation among the writes that are about to be done counts from now on, until the next call."""
        before = self._intended.pop(key, None)
        posted = (write.body for write in writes if write.method == "POST" and isinstance(write.body, dict))
        found = next((body for body in posted if body.get("kind") == "Reservation"), None)
        if found is not None:
            self._intended[key] = found
        if found != before:
            self._dirty.add(key)

    def observe(self, resource: str, event: str, obj: JSON) -> set[Key]:
        """One event of queues or nodes: the groups that have to look again."""
        if resource == "nodes":
            self._node(obj)
        if resource != "queues":
            return set()
        return self._learn(self._queues.drop(obj) if event == "DELETED" else self._queues.put(obj))

    def replace(self, resource: str, objects: Iterable[JSON], as_of: int | None) -> set[Key]:
        """All objects of queues or nodes."""
        if resource == "queues":
            return self._learn(self._queues.replace(objects, as_of=as_of))
        if resource == "nodes":
            for node in objects:
                self._node(node)
        return set()

    def settle(self, now: float) -> set[Key]:
        """Take in all that is new: the groups to which their queue says something else than before."""
        moved = [self._file(key, now) for key in self._dirty]
        moved += [self._expire(book, now) for book in self._books.values()]
        self._dirty.clear()
        if not any(moved) and not self._redefined:
            return set()
        self._redefined = False
        before, self._standings = self._standings, queueing.judge([*self._lines()])
        either = before.keys() | self._standings.keys()
        return {key for key in either if before.get(key) != self._standings.get(key)}

    def standing(self, key: Key) -> Standing | None:
        """What its queue says to a group; None where it has none."""
        found = self._found.get(key)
        if found is None:
            return None
        book = self._books[found.queue]
        if book.queue is None:
            detail = f"there is no Queue {found.queue}, which {vocabulary.QUEUE} names"
            return Standing(refusal=Rejection("", Reason.NO_SUCH_QUEUE, detail))
        return self._standings.get(key) or queueing.beyond(book.queue)

    def status(self, name: str) -> JSON | None:
        """The status of a queue; None where there is no such queue."""
        book = self._books.get(name)
        if book is None or book.queue is None:
            return None
        used = {resource: queues.text(resource, book.used[resource]) for resource in sorted(book.queue.quota)}
        return {"used": used, "admitted": book.admitted, "pending": len(book.firm) + len(book.others)}

    def line(self, name: str) -> tuple[Key, ...]:
        """Who waits in a queue, in order; those that are in nobody's way last."""
        book = self._books.get(name, _Book())
        return tuple(key for *_, key in (*book.firm, *book.others))

    def queue(self, name: str) -> JSON | None:
        """The object of a queue, as last seen."""
        return self._queues.newest(("", name))

    def _lines(self) -> Iterator[Line]:
        for book in self._books.values():
            if book.queue is not None and (book.firm or book.others):
                used = {name: book.used[name] for name in book.queue.quota if book.used[name]}
                firm, others = (
                    tuple(self._found[key] for *_, key in ranks) for ranks in (book.firm[:LOOK], book.others)
                )
                yield Line(replace(book.queue, used=used), firm, others)

    def _file(self, key: Key, now: float) -> bool:
        """Whether the application of a group is another than before."""
        view, intended = self._view_of(key), self._intended.get(key)
        if intended is not None and view.reservation is None:
            view = replace(view, reservation=intended)
        before, found = self._found.get(key), applications.read(view, self._about, now)
        if before is not None:
            self._take_out(before)
        if found is not None:
            self._put_in(found, now)
        return before != found

    def _put_in(self, found: Application, now: float) -> None:
        book = self._books.setdefault(found.queue, _Book())
        self._found[found.key] = found
        book.keys.add(found.key)
        book.used.update(found.holds)
        book.admitted += bool(found.holds)
        if found.waiting:
            could = book.queue is not None and queues.admits(book.queue, found.least) is None
            insort(book.firm if could and now < found.firm_until else book.others, found.rank)
        self.changed.add(found.queue)

    def _take_out(self, found: Application) -> None:
        book = self._books[found.queue]
        del self._found[found.key]
        book.keys.remove(found.key)
        book.used.subtract(found.holds)
        book.admitted -= bool(found.holds)
        for ranks in (book.firm, book.others):
            at = bisect_left(ranks, found.rank)
            if ranks[at : at + 1] == [found.rank]:
                del ranks[at]
        self.changed.add(found.queue)

    def _expire(self, book: _Book, now: float) -> bool:
        """Whether one of the first firm groups is firm no more."""
        late = [rank for rank in book.firm[:LOOK] if self._found[rank[-1]].firm_until <= now]
        for rank in late:
            book.firm.remove(rank)
            insort(book.others, rank)
        return bool(late)

    def _queue(self, name: str) -> Queue | None:
        book = self._books.get(name)
        return book.queue if book else None

    def _learn(self, touched: Iterable[Key]) -> set[Key]:
        """Queues that have changed; their own status is none of it."""
        concerned = set[Key]()
        for key in touched:
            obj, book = self._queues.newest(key), self._books.setdefault(key[1], _Book())
            queue = queues.from_object(obj) if obj is not None else None
            if queue != book.queue:
                book.queue, self._redefined = queue, True
                concerned |= book.keys
                self.changed.add(key[1])
        self._dirty |= concerned
        return concerned

    def _node(self, node: JSON) -> None:
        metadata = node.get("metadata") or {}
        name, product = (
            str(metadata.get("name")),
            (metadata.get("labels") or {}).get(vocabulary.PRODUCT_LABEL),
        )
        if product != self._products.get(name):
            self._products[name] = str(product)
            self._dirty.update(self._found)
