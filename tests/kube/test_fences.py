"""Who does not lead writes nothing, and who ends knows when nothing is being written."""

from gpuyard.writes import Reply, Write
from gpuyard_cluster.clock import Steps
from gpuyard_kube.fences import FencedApi
from tests.stepping import settle

WRITE = Write("POST", "/leases")


class PlainApi:
    """Takes so many seconds for a write."""

    def __init__(self, clock: Steps, seconds: float = 0.0) -> None:
        self._clock, self._seconds = clock, seconds

    async def send(self, write: Write) -> Reply:
        if self._seconds:
            await self._clock.sleep_until(self._clock.now() + self._seconds)
        return Reply(201, {})

    async def read(self, path: str, **query: str) -> Reply:
        return Reply(404, {})


def test_only_who_may_writes_and_everybody_reads() -> None:
    clock, may = Steps(), False
    fenced = FencedApi(PlainApi(clock), clock, lambda: may)
    assert clock.complete(fenced.send(WRITE)).status == 503
    assert clock.complete(fenced.read("/leases")).status == 404
    may = True
    assert clock.complete(fenced.send(WRITE)).ok


def test_it_is_quiet_when_the_last_write_is_answered_and_nobody_waits_longer_than_told() -> None:
    clock = Steps()
    fenced, heard = FencedApi(PlainApi(clock, 1.0), clock, lambda: True), list[tuple[float, bool]]()
    began = clock.now()

    async def write() -> None:
        await fenced.send(WRITE)

    async def listen(seconds: float) -> None:
        heard.append((seconds, await fenced.quiet(began + seconds)))

    clock.spawn(write(), "write")
    for seconds in (0.5, 5.0):
        clock.spawn(listen(seconds), "listen")
    settle(clock)
    assert heard == []
    for moment in (0.5, 1.0):
        clock.advance_to(began + moment)
        settle(clock)
    assert heard == [(0.5, False), (5.0, True)]
