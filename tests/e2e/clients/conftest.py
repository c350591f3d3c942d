"""A whole embedded cluster behind TLS, for clients that know nothing but a kubeconfig."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest

from gpuyard import yard
from gpuyard_cli.connecting import kubeconfig as kubeconfigs
from gpuyard_cluster.wiring.embedded import EmbeddedYard
from gpuyard_cluster.wiring.security import LockedDoor

NODES = yard.parse(
    {
        "nodes": [
            {"name": name, "gpus": {"model": "NVIDIA-A100-SXM4-40GB", "count": 2}}
            for name in ("node-1", "node-2")
        ]
    }
)


class _Thread(threading.Thread):
    """The cluster on a loop of its own, for clients that block; `ready` when it is up, or has failed."""

    def __init__(self, path: Path) -> None:
        super().__init__(name="embedded cluster")
        self._path, self._loop = path, asyncio.new_event_loop()
        self._ended = asyncio.Event()
        self.ready = threading.Event()
        self.failure: BaseException | None = None

    def run(self) -> None:
        try:
            self._loop.run_until_complete(self._serve())
        except Exception as error:  # noqa: BLE001 the fixture raises it
            self.failure = error
        finally:
            self._loop.close()
            self.ready.set()

    def end(self) -> None:
        self._loop.call_soon_threadsafe(self._ended.set)
        self.join()

    async def _serve(self) -> None:
        door = LockedDoor(datetime.now(UTC).timestamp())
        async with EmbeddedYard(NODES, door=door) as cluster:
            with kubeconfigs.written(self._path, cluster.url, cluster.extender_url, door.admin):
                self.ready.set()
                await self._ended.wait()


@contextmanager
def served(folder: Path) -> Iterator[Path]:
    """What `gpuyard up` writes; behind it are two nodes of two GPUs."""
    path = folder / "kubeconfig"
    cluster = _Thread(path)
    cluster.start()
    cluster.ready.wait()
    if cluster.failure:
        raise cluster.failure
    yield path
    cluster.end()
    if cluster.failure:
        raise cluster.failure


@pytest.fixture(scope="module")
def kubeconfig(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A cluster for the tests of one client."""
    with served(tmp_path_factory.mktemp("clients")) as path:
        yield path
