"""What happens between the start of `gpuyard up` and its end."""

import argparse
import asyncio
import functools
import time
from pathlib import Path

from gpuyard_cli import output
from gpuyard_cli.connecting import kubeconfig
from gpuyard_cli.imported.cluster import Imported, restore
from gpuyard_cli.run_command import EXAMPLES
from gpuyard_cli.up.controls import UpControls
from gpuyard_cli.up.screen import Running, screen, to_json
from gpuyard_cli.up.start import started
from gpuyard_cluster.apiserver.documents.health import VERSION
from gpuyard_cluster.wiring.embedded import EmbeddedYard
from gpuyard_cluster.wiring.parts import Options
from gpuyard_cluster.wiring.security import LockedDoor
from gpuyard_kube.runtime import AsyncioRuntime


async def serve(chosen: Imported, arguments: argparse.Namespace, began: float) -> None:
    """Run the chosen cluster until cancelled, and say so as the command's arguments want it said."""
    door = LockedDoor(AsyncioRuntime().now(), arguments.port)
    controls = functools.partial(UpControls, folder=EXAMPLES)
    yard = EmbeddedYard(chosen.nodes, Options(policy=arguments.policy, controls=controls), door)
    async with started(yard, len(chosen.nodes)):
        await restore(yard.api, chosen)
        path = (arguments.kubeconfig or kubeconfig.default_path(int(yard.url.rpartition(":")[2]))).absolute()
        with kubeconfig.written(path, yard.url, yard.extender_url, door.admin):
            running, seconds = _running(yard, path, chosen), time.monotonic() - began
            told = output.printed(to_json(running), arguments.output, lambda _: screen(running, seconds))
            print(told, flush=True)
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
