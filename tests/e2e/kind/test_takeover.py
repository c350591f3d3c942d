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

import pytest

from gpuyard import vocabulary
from tests.e2e.kind.cluster import empty
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


def test_kube_scheduler_follows_to_a_laptop_and_back_without_a_failed_attempt(kubeconfig: str) -> None:
    host = os.environ.get("GPUYARD_E2E_HOST")
    if host is None:
        pytest.skip("the nodes of this cluster cannot reach this machine")

    async def story() -> None:
        async with empty(kubeconfig, "laptop") as cluster:
            port = free_port()
            await cluster.submit("before")
            await cluster.running(["before"])
            async with laptop(kubeconfig, host, port) as process:
                await until(lambda: _holds(cluster, f"@{host}:{port}"), "the laptop holds the Lease")
                await cluster.submit("meanwhile")
                await cluster.running(["meanwhile"])
                process.send_signal(signal.SIGINT)
                _, said = await asyncio.wait_for(process.communicate(), 20)
            assert process.returncode == 0
            assert "Bind meanwhile" in said.decode()
            assert f"@{host}:{port}" not in await holder(cluster)
            await cluster.submit("after")
            await cluster.running(["before", "meanwhile", "after"])
            await cluster.sound()
            events = (await cluster.api.read(f"/api/v1/namespaces/{cluster.namespace}/events")).body["items"]
            assert [event["message"] for event in events if event["reason"] == "FailedScheduling"] == []

    asyncio.run(story())


async def _holds(cluster: Cluster, identity: str) -> bool:
    return identity in await holder(cluster)
