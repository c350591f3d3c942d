"""A real cluster as a test gets it: a namespace of its own, in a cluster that rests."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from gpuyard import vocabulary
from gpuyard.writes import Write
from gpuyard_cli.backends import kind as kind_backend
from gpuyard_cli.backends.live_accounts import LiveAccounts
from gpuyard_cli.scenarios.observation import offered
from gpuyard_kube.http import HttpApi
from tests.e2e.agreement import agree
from tests.e2e.kind.hands import KindHands
from tests.e2e.stories.cluster import Cluster, plan, until

WORKERS, GPUS = 3, 24
"""As kind-config.yaml and manifests/yard.yaml have it."""


@dataclass(frozen=True)
class KindCluster(Cluster):
    """The same with what only a kind cluster can do."""

    hands: KindHands


@asynccontextmanager
async def empty(kubeconfig: str, namespace: str) -> AsyncIterator[KindCluster]:
    """A namespace of a cluster that offers all its GPUs; it is audited, and deleted afterwards."""
    async with kind_backend.connected(kubeconfig) as api:
        cluster = KindCluster(api, namespace, KindHands(api, kubeconfig))
        await until(lambda: rests(api), f"every device plugin runs, and {GPUS} GPUs are free")
        await until(lambda: _is_free(api, namespace), f"there is no namespace {namespace}")
        await cluster.create("/api/v1/namespaces", {"metadata": {"name": namespace}})
        try:
            yield cluster
            await agree(LiveAccounts(api))
        finally:
            path = f"/api/v1/namespaces/{namespace}"
            await api.send(Write("DELETE", path))
            # At once, too: a namespace's controller waits 5 s before it looks at what is in it.
            await api.send(Write("DELETE", f"{path}/pods"))


def play(kubeconfig: str, namespace: str, story: Callable[[KindCluster], Awaitable[None]]) -> None:
    """What happens in a namespace of a cluster at rest."""

    async def whole() -> None:
        async with empty(kubeconfig, namespace) as cluster:
            await story(cluster)

    asyncio.run(whole())


async def plugins_ready(api: HttpApi) -> bool:
    """Whether the device plugin of every worker, in its newest version, has registered."""
    path = f"/apis/apps/v1/namespaces/{vocabulary.NAMESPACE}/daemonsets/{vocabulary.DEVICE_PLUGIN}"
    found = (await api.read(path)).body
    status = found["status"]
    counts = [status.get(key) for key in ("desiredNumberScheduled", "updatedNumberScheduled", "numberReady")]
    return status.get("observedGeneration") == found["metadata"]["generation"] and counts == [WORKERS] * 3


async def rests(api: HttpApi) -> bool:
    """Whether all GPUs are offered, and nobody holds any."""
    if not await plugins_ready(api):
        return False
    pods = (await api.read("/api/v1/pods")).body["items"]
    nodes = (await api.read("/api/v1/nodes")).body["items"]
    counts = [offered(n).get(vocabulary.GPU, 0) for n in nodes if not n["spec"].get("unschedulable")]
    return sum(counts) == GPUS and not any(plan(pod) for pod in pods)


async def _is_free(api: HttpApi, namespace: str) -> bool:
    return (await api.read(f"/api/v1/namespaces/{namespace}")).status == 404
