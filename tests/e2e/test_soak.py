"""After a long storm nothing is held for nobody, and nothing has piled up. `make soak`: 2,000 events of it."""

import asyncio
import os
from contextlib import AsyncExitStack

from gpuyard_cli.backends.embedded import EmbeddedAccounts
from gpuyard_cluster.wiring.embedded import EmbeddedYard
from gpuyard_kube.http import HttpApi
from tests.e2e.agreement import agree
from tests.e2e.soak import GPUS, Kept, Soak, nodes
from tests.e2e.stories.cluster import runs, until

EVENTS = int(os.environ.get("GPUYARD_SOAK_EVENTS", "100"))
SEED = 20
SPARE_DESCRIPTORS, SPARE_OBJECTS = 8, 200
KIB_AN_EVENT = 96
"""What an API server keeps of one: pods' events for an hour, and the latest changes for watches, up to a bound."""


async def rest(soak: Soak) -> Kept:
    """All GPUs are had by new pods, which go again; what is kept then."""
    await soak.calm_down()
    await until(lambda: _live(soak, 0), "all pods are gone")
    names = [f"rest-{number}" for number in range(GPUS)]
    for name in names:
        await soak.submit(name, 1)
    await until(lambda: _live(soak, GPUS), f"{GPUS} new pods have all GPUs")
    for name in names:
        await soak.delete(name)
    await until(lambda: _live(soak, 0), "all pods are gone again")
    return Kept.now()


async def _live(soak: Soak, count: int) -> bool:
    pods = await soak.live()
    return len(pods) == count and all(map(runs, pods))


async def story() -> None:
    async with EmbeddedYard(nodes()) as cluster, AsyncExitStack() as ends:
        soak, api, extender = Soak(cluster, SEED), HttpApi.at(cluster.url), HttpApi.at(cluster.extender_url)
        ends.push_async_callback(api.close)
        ends.push_async_callback(extender.close)
        await soak.go_on(EVENTS // 4)
        before = await rest(soak)
        await soak.go_on(EVENTS - EVENTS // 4)
        after = await rest(soak)
        await agree(EmbeddedAccounts(cluster, api, extender))
    assert after.descriptors <= before.descriptors + SPARE_DESCRIPTORS
    assert after.objects <= before.objects + SPARE_OBJECTS
    assert after.resident_kib <= before.resident_kib + EVENTS * KIB_AN_EVENT
    assert sum(soak.done.values()) == EVENTS


def test_after_a_storm_all_accounts_agree_and_nothing_has_piled_up() -> None:
    asyncio.run(story())
