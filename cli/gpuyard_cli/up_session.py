"""What happens between the start of `gpuyard up` and its end."""

import asyncio
import functools
import time
from pathlib import Path

from gpuyard_cli import kubeconfig
from gpuyard_cli.imported.cluster import Imported, restore
from gpuyard_cli.run_command import EXAMPLES
from gpuyard_cli.up_controls import UpControls
from gpuyard_cli.up_screen import Running, screen
from gpuyard_cli.up_start import started
from gpuyard_cluster.apiserver.documents.health import VERSION
from gpuyard_cluster.wiring.embedded import EmbeddedYard
from gpuyard_cluster.wiring.parts import Options
from gpuyard_cluster.wiring.security import LockedDoor
from gpuyard_kube.runtime import AsyncioRuntime


async def serve(chosen: Imported, port: int, file: Path | None, began: float) -> None:
    """Run the chosen cluster until cancelled; `file` is where its kubeconfig is wanted, if anywhere."""
    door = LockedDoor(AsyncioRuntime().now(), port)
    controls = functools.partial(UpControls, folder=EXAMPLES)
    yard = EmbeddedYard(chosen.nodes, Options(controls=controls), door)
    async with started(yard, len(chosen.nodes)):
        await restore(yard.api, chosen)
        path = (file or kubeconfig.default_path(int(yard.url.rpartition(":")[2]))).absolute()
        with kubeconfig.written(path, yard.url, yard.extender_url, door.admin):
            print(screen(_running(yard, path, chosen), time.monotonic() - began), flush=True)
            await asyncio.Event().wait()


def _running(yard: EmbeddedYard, path: Path, chosen: Imported) -> Running:
    return Running(
        version=VERSION["gitVersion"],
        url=yard.url,
        extender=yard.extender_url,
        kubeconfig=path,
        nodes=[(name, node.plugin.inventory) for name, node in yard.nodes.items()],
        notes=chosen.notes.lines(),
    )
