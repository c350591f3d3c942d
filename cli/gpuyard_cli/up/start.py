"""The start of `gpuyard up`: until everything runs and every node offers its devices."""

import asyncio
import contextlib
import sys
from collections import Counter
from collections.abc import AsyncIterator

from gpuyard.hardware.inventory import Inventory
from gpuyard.pods import quantities
from gpuyard.writes import JSON
from gpuyard_cluster.wiring.embedded import EmbeddedYard

_LOOK_SECONDS = 0.05
_PROGRESS_SECONDS = 2.0
"""A start that takes longer says every so often how far it is."""


@contextlib.asynccontextmanager
async def started(yard: EmbeddedYard, nodes: int) -> AsyncIterator[None]:
    """The yard runs, and all of its `nodes` are ready. OSError when it cannot listen where it is told to."""
    progress = asyncio.create_task(_progress(yard, nodes))
    try:
        async with yard:
            await _ready(yard)
            progress.cancel()
            yield
    finally:
        progress.cancel()


async def _ready(yard: EmbeddedYard) -> None:
    """Wait until every node offers what its device plugin has."""
    while True:
        reply = await yard.api.read("/api/v1/nodes")
        offered = {
            node["metadata"]["name"]: node["status"].get("allocatable", {}) for node in reply.body["items"]
        }
        if all(_offers(offered.get(name, {}), node.plugin.inventory) for name, node in yard.nodes.items()):
            return
        await asyncio.sleep(_LOOK_SECONDS)


def _offers(allocatable: JSON, inventory: Inventory) -> bool:
    healthy = Counter(device.resource for device in inventory.devices() if device.healthy)
    return all(quantities.whole(allocatable.get(name, 0)) == count for name, count in healthy.items())


async def _progress(yard: EmbeddedYard, nodes: int) -> None:
    while True:
        await asyncio.sleep(_PROGRESS_SECONDS)
        print(f"starting: {len(yard.nodes)} of {nodes} nodes", file=sys.stderr, flush=True)
