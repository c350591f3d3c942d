"""Where workloads are walked through: an embedded cluster without nodes, and a real one."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from gpuyard_cli.backends import kind as kind_backend
from gpuyard_cli.connecting.extender_proxy import ExtenderProxy
from gpuyard_cluster.wiring.embedded import EmbeddedYard
from gpuyard_cluster.wiring.parts import Options
from gpuyard_kube.http import HttpApi
from tests.e2e.differential.walking import Ground


@asynccontextmanager
async def embedded(seed: int = 0) -> AsyncIterator[Ground]:
    async with EmbeddedYard((), Options(seed=seed)) as yard:
        api, extender = HttpApi.at(yard.url), HttpApi.at(yard.extender_url)
        try:
            yield Ground(api, extender.read)
        finally:
            await api.close()
            await extender.close()


@asynccontextmanager
async def real(kubeconfig: str) -> AsyncIterator[Ground]:
    async with kind_backend.connected(kubeconfig) as api:
        yield Ground(api, ExtenderProxy(api).ask)
