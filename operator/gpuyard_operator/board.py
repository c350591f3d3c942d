"""All queues with the groups that hold and want something of them, kept as the objects change.

Stands for the cache and the queue manager of Kueue. What is used is the sum of what each group holds, and that is
read from its objects anew whenever one of them changes: nothing is counted up or down by itself, so nothing drifts.
"""

from collections.abc import Callable, Collection, Iterable
from dataclasses import replace
from typing import Final

from gpuyard import vocabulary
from gpuyard.groups import queues
from gpuyard.verdicts import Reason, Rejection
from gpuyard.writes import JSON, Write
from gpuyard_operator import applications, queueing
from gpuyard_operator.applications import Application
from gpuyard_operator.books import Book
from gpuyard_operator.scene import View
from gpuyard_operator.shelf import Key, Shelf, by_name
from gpuyard_operator.standing import Standing

LONGEST: Final = 253
"""Characters of a name that can be one, and of one that is repeated."""


class Board:
    """`view_of` tells the objects of a group. `settle` first, whenever a standing is to be known."""

    def __init__(self, view_of: Callable[[Key], View]) -> None:
        self._view_of = view_of
        self._queues, self._products = Shelf(by_name), dict[str, str]()
        self._about = applications.About(lambda name: self.book(name).queue, self._products.get)
        self._books: dict[str, Book] = {}
        self._busy: dict[str, Book] = {}
        """Those with groups: there may be thousands of queues that nobody uses."""
        self._found: dict[Key, Application] = {}
        self._intended: dict[Key, JSON] = {}
        self._dirty: set[Key] = set()
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
        moved += [book.expire(now) for book in self._busy.values()]
        self._dirty.clear()
        if not any(moved):
            return set()
        before, self._standings = self._standings, self._judged()
        either = before.keys() | self._standings.keys()
        return {key for key in either if before.get(key) != self._standings.get(key)}

    def standing(self, key: Key) -> Standing | None:
        """What its queue says to a group; None where it has none."""
        found = self._found.get(key)
        if found is None:
            return None
        book = self._books[found.queue]
        if book.queue is None:
            detail = f"there is no Queue {found.queue:.{LONGEST}}, which {vocabulary.QUEUE} names"
            return Standing(refusal=Rejection("", Reason.NO_SUCH_QUEUE, detail))
        return self._standings.get(key) or queueing.beyond(book.queue)

    def book(self, name: str) -> Book:
        """The book of a queue; an empty one where nobody knows it."""
        return self._books.get(name, Book())

    def queue(self, name: str) -> JSON | None:
        """The object of a queue, as last seen."""
        return self._queues.newest(("", name))

    def _judged(self) -> dict[Key, Standing]:
        return queueing.judge([line for book in self._busy.values() if (line := book.line()) is not None])

    def _file(self, key: Key, now: float) -> bool:
        """Whether the application of a group is another than before."""
        view, intended = self._view_of(key), self._intended.get(key)
        if intended is not None and view.reservation is None:
            view = replace(view, reservation=intended)
        before, found = self._found.get(key), applications.read(key, view, self._about, now)
        if before == found:
            return False
        if before is not None:
            self._books[before.queue].take(key)
            del self._found[key]
        if found is not None:
            self._books.setdefault(found.queue, Book()).put(found, now)
            self._found[key] = found
        names = {each.queue for each in (before, found) if each is not None}
        self._keep(names)
        self.changed |= names
        return True

    def _keep(self, names: Iterable[str]) -> None:
        """Of books that were written in or struck out of. PodGroups may name queues that never were."""
        for name in names:
            book = self._books[name]
            if book.groups:
                self._busy[name] = book
            else:
                self._busy.pop(name, None)
                if book.queue is None:
                    del self._books[name]

    def _learn(self, touched: Collection[Key]) -> set[Key]:
        """Queues that have changed; their own status is none of it. Their groups are all entered anew."""
        concerned = set[Key]()
        for key in touched:
            obj, book = self._queues.newest(key), self._books.setdefault(key[1], Book())
            queue = queues.from_object(obj) if obj is not None else None
            if queue != book.queue:
                book.queue = queue
                concerned |= book.groups.keys()
                self.changed.add(key[1])
        for key in concerned:
            self._books[self._found.pop(key).queue].take(key)
        self._keep({name for _, name in touched})
        self._dirty |= concerned
        return concerned

    def _node(self, node: JSON) -> None:
        metadata = node.get("metadata") or {}
        product = str((metadata.get("labels") or {}).get(vocabulary.PRODUCT_LABEL) or "")
        if product != self._products.setdefault(str(metadata.get("name")), ""):
            self._products[str(metadata.get("name"))] = product
            self._dirty.update(self._found)
