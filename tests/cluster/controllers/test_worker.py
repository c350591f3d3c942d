from collections.abc import Coroutine, Iterable
from typing import Any

from gpuyard_cluster.apiserver.direct import DirectApi
from gpuyard_cluster.apiserver.server import APIServer
from gpuyard_cluster.clock import Steps
from gpuyard_cluster.controllers.worker import Worker
from tests.stepping import settle


class Writer(Worker):
    """Writes down what it is told, now or at a time."""

    def __init__(self, steps: Steps, unseen: Iterable[str] = ()) -> None:
        super().__init__(DirectApi(APIServer(steps.now)), steps, "writer", unseen)
        self._due: list[tuple[float, str]] = []
        self.written: list[tuple[float, str]] = []

    def tell(self, word: str, when: float) -> None:
        self._due = sorted([*self._due, (when, word)])
        self._changed.fire()

    def list_comes(self, resource: str) -> None:
        self._unseen.discard(resource)
        self._changed.fire()

    def _next(self) -> Coroutine[Any, Any, None] | None:
        if not self._due or self._due[0][0] > self._runtime.now():
            return None
        return self._write(self._due.pop(0)[1])

    def _next_at(self) -> float | None:
        return self._due[0][0] if self._due else None

    async def _write(self, word: str) -> None:
        self.written.append((self._runtime.now(), word))


def test_one_thing_is_done_after_the_other_each_when_it_is_due() -> None:
    steps = Steps()
    writer, now = Writer(steps), steps.now()
    writer.start()
    for word, delay in (("later", 5.0), ("a", 0.0), ("b", 0.0)):
        writer.tell(word, now + delay)
    settle(steps)
    assert writer.written == [(now, "a"), (now, "b")]
    assert steps.next_at() == now + 5.0
    steps.advance_to(now + 5.0)
    settle(steps)
    assert writer.written[2:] == [(now + 5.0, "later")]


def test_nothing_is_done_before_each_list_has_come() -> None:
    steps = Steps()
    writer = Writer(steps, ["pods", "nodes"])
    writer.start()
    writer.tell("a", steps.now())
    for resource in ("pods", "nodes"):
        settle(steps)
        assert not writer.written
        assert steps.next_at() is None
        writer.list_comes(resource)
    settle(steps)
    assert [word for _, word in writer.written] == ["a"]


def test_nothing_is_done_once_it_is_stopped() -> None:
    steps = Steps()
    writer = Writer(steps)
    writer.start()
    settle(steps)
    writer.stop()
    writer.tell("a", steps.now())
    settle(steps)
    assert not writer.written
