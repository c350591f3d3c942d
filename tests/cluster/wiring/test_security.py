"""A cluster that lets in nobody who cannot prove who they are: its own parts neither."""

import asyncio
import threading
from pathlib import Path

import aiohttp
import pytest

from gpuyard import yard
from gpuyard.writes import Write
from gpuyard_cluster.apiserver.errors import ApiError
from gpuyard_cluster.apiserver.requests import Request
from gpuyard_cluster.wiring import identities, operator
from gpuyard_cluster.wiring.embedded import EmbeddedYard
from gpuyard_cluster.wiring.operator import OperatorFailedError
from gpuyard_cluster.wiring.security import Door, LockedDoor
from gpuyard_kube.runtime import AsyncioRuntime

NODES = yard.parse({"nodes": [{"name": "n1", "gpus": {"model": "Tesla-T4", "count": 1}}]})
PODS = "/api/v1/namespaces/default/pods"
CONTAINER = {"name": "main", "image": "busybox", "resources": {"limits": {"nvidia.com/gpu": "1"}}}
POD = {"metadata": {"name": "one"}, "spec": {"containers": [CONTAINER]}}


def locked() -> LockedDoor:
    return LockedDoor(AsyncioRuntime().now())


def test_every_part_writes_under_its_own_name(folder: Path) -> None:
    writers = set[str]()

    def note(request: Request) -> ApiError | None:
        writers.add(request.user.name)
        return None

    async def work() -> None:
        cluster = EmbeddedYard(NODES, door=locked())
        cluster.server.faults.append(note)
        async with cluster:
            assert (await cluster.api.send(Write("POST", PODS, POD))).ok
            async with asyncio.timeout(30):
                while (await cluster.api.read(f"{PODS}/one")).body["status"]["phase"] != "Running":
                    await asyncio.sleep(0.02)

    asyncio.run(work())
    parts = (
        identities.SCHEDULER,
        identities.EXTENDER,
        identities.kubelet("n1"),
        identities.device_plugin("n1"),
    )
    assert {"kubernetes-admin", *(part.name for part in parts)} <= writers
    assert list(folder.iterdir()) == []


async def test_strangers_are_refused_and_the_administrator_is_known_by_token(folder: Path) -> None:
    door = locked()
    async with (
        EmbeddedYard((), door=door) as cluster,
        aiohttp.ClientSession(
            cluster.url, connector=aiohttp.TCPConnector(ssl=door.client_context())
        ) as client,
    ):
        async with client.get(PODS) as answer:
            assert answer.status == 401
        proof = {"Authorization": f"Bearer {door.admin.token}"}
        async with client.get(PODS, headers=proof) as answer:
            assert answer.status == 200


def test_an_open_door_asks_for_nothing() -> None:
    door = Door()
    assert (door.server_context(), door.client_context(), door.proof(identities.EXTENDER)) == (None, None, {})


def test_an_operator_that_cannot_start_ends_everything(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def fails(*_: object) -> None:
        raise ValueError("no such resource")

    monkeypatch.setattr(operator, "_imported", lambda: fails)

    async def work() -> None:
        with pytest.raises(OperatorFailedError, match="the operator could not start: no such resource"):
            async with EmbeddedYard(()):
                pytest.fail("it goes on")
        assert asyncio.all_tasks() == {asyncio.current_task()}

    asyncio.run(work())
    assert not any(thread.name == "operator" for thread in threading.enumerate())
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize(
    ("part", "name"),
    [
        ("kubelet n1", "system:node:n1"),
        ("plugin n1", "system:serviceaccount:gpuyard-system:gpuyard-device-plugin"),
        ("extender", "system:serviceaccount:gpuyard-system:gpuyard-extender"),
        ("operator", "system:serviceaccount:gpuyard-system:gpuyard-operator"),
        ("scheduler", "system:kube-scheduler"),
        ("garbage collector", "system:kube-controller-manager"),
    ],
)
def test_parts_are_whom_they_are_on_a_real_cluster(part: str, name: str) -> None:
    assert identities.of_part(part).name == name
