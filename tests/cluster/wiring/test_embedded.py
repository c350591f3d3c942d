"""The cluster in real time: it serves its API, its nodes run pods, and it leaves nothing behind."""

import asyncio
import gc
import os
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from gpuyard import yard
from gpuyard.narration import Beat
from gpuyard.writes import Write
from gpuyard.yard import YardNode
from gpuyard_cluster.wiring import direct_node, manifests
from gpuyard_cluster.wiring.embedded import EmbeddedYard
from gpuyard_cluster.wiring.parts import Options
from gpuyard_device_plugin.config.config import InvalidConfigError

PODS = "/api/v1/namespaces/default/pods"
GPUS = {"model": "NVIDIA-A100-SXM4-40GB", "count": 1}
POD = {
    "metadata": {"name": "one"},
    "spec": {
        "containers": [{"name": "main", "image": "busybox", "resources": {"limits": {"nvidia.com/gpu": "1"}}}]
    },
}


def nodes(*found: dict[str, Any]) -> tuple[YardNode, ...]:
    return yard.parse({"nodes": [{"gpus": GPUS, **node} for node in found]})


async def until(what: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(30):
        while not await what():
            await asyncio.sleep(0.02)


def in_use() -> tuple[set[str], int]:
    """Names of this process's threads, and how many sockets it has; those of gRPC's own pools live on."""
    # gRPC ends its poller, a thread and two sockets, when the last of its objects is collected.
    gc.collect()
    sockets = 0
    for number in os.listdir("/proc/self/fd"):
        try:
            sockets += os.readlink(f"/proc/self/fd/{number}").startswith("socket:")
        except FileNotFoundError:  # the folder itself was open while it was listed
            continue
    return {thread.name for thread in threading.enumerate()}, sockets


async def test_it_serves_its_api_over_http_and_runs_pods(folder: Path) -> None:
    async with (
        EmbeddedYard(nodes({"name": "n" * 63})) as cluster,  # the path of a unix socket has room for 107
        aiohttp.ClientSession(cluster.url) as client,
    ):
        async with client.get("/version") as answer:
            assert (answer.status, (await answer.json())["major"]) == (200, "1")
        async with client.post(PODS, json=POD) as answer:
            assert answer.status == 201

        async def runs() -> bool:
            async with client.get(f"{PODS}/one") as answer:
                return bool((await answer.json())["status"]["phase"] == "Running")

        await until(runs)
        async with client.get(f"{PODS}/one/log") as answer:
            assert "NVIDIA_VISIBLE_DEVICES=GPU-" in await answer.text()
        async with client.get(f"{cluster.extender_url}/v1/pods/default/one/explain") as answer:
            assert (await answer.json())["code"] is None


async def test_a_node_of_the_yard_joins_when_it_is_told_to(folder: Path) -> None:
    async with EmbeddedYard(nodes({"name": "a"}, {"name": "b", "joins": "later"})) as cluster:

        async def names() -> set[str]:
            return {
                found["metadata"]["name"] for found in (await cluster.api.read("/api/v1/nodes")).body["items"]
            }

        async def has(*wanted: str) -> bool:
            return await names() == set(wanted)

        await until(lambda: has("a"))
        await cluster.join("b")
        await until(lambda: has("a", "b"))


async def test_in_a_large_cluster_all_parts_call_each_other_directly(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It says so, gives out devices all the same, and lets a kubelet die."""
    monkeypatch.setattr(direct_node, "ABOVE", 0)
    beats: list[Beat] = []

    async with EmbeddedYard(nodes({"name": "node-1"}), Options(narrate=beats.append)) as cluster:
        assert any("call each other directly" in beat.text for beat in beats)

        async def phase(name: str) -> tuple[str, list[Any]]:
            pod = (await cluster.api.read(f"{PODS}/{name}")).body["status"]
            held = [status.get("allocatedResourcesStatus") for status in pod.get("containerStatuses", ())]
            return pod["phase"], held

        async def runs() -> bool:
            return (await phase("one"))[0] == "Running"

        assert (await cluster.api.send(Write("POST", PODS, POD))).ok
        await until(runs)
        before = await phase("one")
        assert before[1][0][0]["resources"][0]["resourceID"].startswith("GPU-")
        await cluster.nodes["node-1"].stop_kubelet()
        await cluster.nodes["node-1"].start_kubelet()
        again = {**POD, "metadata": {"name": "two"}}
        assert (await cluster.api.send(Write("POST", PODS, again))).ok

        async def waits() -> bool:
            status = (await cluster.api.read(f"{PODS}/two")).body["status"]
            return any(found.get("reason") == "Unschedulable" for found in status.get("conditions", ()))

        await until(waits)
        assert await phase("one") == before


def test_it_leaves_no_task_no_thread_no_socket_and_no_folder_behind(folder: Path) -> None:
    async def once() -> set[str]:
        async with EmbeddedYard(nodes({"name": "node-1"}, {"name": "node-2"})):
            assert [found.name[:5] for found in folder.iterdir()] == ["yard-"]
        await asyncio.sleep(0)
        return {task.get_name() for task in asyncio.all_tasks() if task is not asyncio.current_task()}

    async def all_ways_out() -> None:
        assert await once() == set()
        with pytest.raises(ZeroDivisionError):
            async with EmbeddedYard(nodes({"name": "node-1"})):
                raise ZeroDivisionError
        assert list(folder.iterdir()) == []

    asyncio.run(once())
    before = in_use()
    asyncio.run(all_ways_out())
    assert in_use() == before


def test_a_plugin_configuration_that_cannot_be_used_ends_what_was_started(folder: Path) -> None:
    async def enter() -> None:
        with pytest.raises(InvalidConfigError, match="version: 'v9' is unknown; use v1"):
            async with EmbeddedYard(nodes({"name": "good"}, {"name": "bad", "plugin": {"version": "v9"}})):
                pass
        assert asyncio.all_tasks() == {asyncio.current_task()}

    asyncio.run(enter())
    before = in_use()
    asyncio.run(enter())
    assert in_use() == before
    assert list(folder.iterdir()) == []


def test_manifests_that_the_server_refuses_end_what_was_started(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = {"kind": "CustomResourceDefinition", "metadata": {"name": "x"}, "spec": {}}
    monkeypatch.setattr(manifests, "load", lambda: (broken,))

    async def enter() -> None:
        with pytest.raises(ValueError, match="CustomResourceDefinition x: "):
            async with EmbeddedYard(nodes({"name": "node-1"})):
                pass

    asyncio.run(enter())
    assert list(folder.iterdir()) == []


def test_it_can_be_interrupted_while_it_starts(folder: Path) -> None:
    async def enter() -> None:
        async with EmbeddedYard(nodes({"name": "node-1"})):
            pytest.fail("it was interrupted before")

    async def interrupt() -> None:
        starting = asyncio.create_task(enter())
        await until(lambda: operator_starts())
        starting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await starting
        assert asyncio.all_tasks() == {asyncio.current_task()}

    async def operator_starts() -> bool:
        return any(thread.name == "operator" for thread in threading.enumerate())

    asyncio.run(interrupt())
    assert not any(thread.name == "operator" for thread in threading.enumerate())
    assert list(folder.iterdir()) == []
