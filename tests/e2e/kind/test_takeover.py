"""An extender on a laptop takes over from the one in the cluster, and hands back when it ends."""

import asyncio
import os
import signal
import socket
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from gpuyard import vocabulary
from tests.e2e.kind.cluster import play
from tests.e2e.stories.cluster import Cluster, until

LEASE = f"/apis/coordination.k8s.io/v1/namespaces/{vocabulary.NAMESPACE}/leases/{vocabulary.EXTENDER}"
COMMAND = Path(sys.executable).with_name("gpuyard-extender")


async def holder(cluster: Cluster) -> str:
    reply = await cluster.api.read(LEASE)
    return str(reply.body["spec"].get("holderIdentity"))


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("", 0))
        return int(found.getsockname()[1])


@asynccontextmanager
async def laptop(kubeconfig: str, host: str, port: int, *options: str) -> AsyncIterator[Process]:
    arguments = ("--kubeconfig", kubeconfig, "--host", host, "--port", str(port), "--advertise", host)
    process = await asyncio.create_subprocess_exec(COMMAND, *arguments, *options, stderr=PIPE, stdout=DEVNULL)
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


def reachable() -> str:
    """The address at which the nodes reach this machine."""
    host = os.environ.get("GPUYARD_E2E_HOST")
    if host is None:
        pytest.skip("the nodes of this cluster cannot reach this machine")
    return host


async def there_and_back(cluster: Cluster, kubeconfig: str, host: str, *options: str, **spec: Any) -> None:
    """One pod before an extender on a laptop takes over, one meanwhile, one when it has handed back."""
    port = free_port()
    await cluster.submit("before", **spec)
    await cluster.running(["before"])
    async with laptop(kubeconfig, host, port, *options) as process:

        async def taken_over() -> bool:
            return f"@{host}:{port}" in await holder(cluster)

        await until(taken_over, "the laptop holds the Lease")
        await cluster.submit("meanwhile", **spec)
        await cluster.running(["meanwhile"])
        process.send_signal(signal.SIGINT)
        _, said = await asyncio.wait_for(process.communicate(), 20)
    assert process.returncode == 0
    assert "Bind meanwhile" in said.decode()
    assert f"@{host}:{port}" not in await holder(cluster)
    await cluster.submit("after", **spec)
    await cluster.running(["before", "meanwhile", "after"])
    await cluster.sound()


def test_kube_scheduler_follows_to_a_laptop_and_back_without_a_failed_attempt(kubeconfig: str) -> None:
    host = reachable()

    async def story(cluster: Cluster) -> None:
        await there_and_back(cluster, kubeconfig, host)
        events = await cluster.items(cluster.events)
        assert [event["message"] for event in events if event["reason"] == "FailedScheduling"] == []

    play(kubeconfig, "laptop", story)
