"""`gpuyard uninstall`: the command."""

import argparse
import asyncio
import sys
from typing import Any, Final

_DESCRIPTION: Final = """\
Take GPUYard from a cluster, so that no pod stays held and nothing of it stays on nodes. Take the extender out of
kube-scheduler's configuration first. Pods that were held for their gang start one by one: each is named.
Labels that you set (gpuyard.io/fake-gpus, gpuyard.io/yard-node, racks) stay, and so do PodGroups.
Can be run again at any time. Exit code 0: done; 1: something could not be done; 2: the cluster could not be asked."""


def add_to(commands: Any) -> None:
    """Add the command to those of `gpuyard`."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "uninstall",
        help="take GPUYard from a cluster",
        description=_DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--kubeconfig", metavar="FILE", help="default: the cluster that kubectl talks to")
    parser.add_argument(
        "--crds", action="store_true", help="the definitions, too: deletes every PodGroup of every user"
    )
    parser.add_argument("--dry-run", action="store_true", help="only say what would be done")
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    failed = asyncio.run(_uninstall(arguments.kubeconfig, crds=arguments.crds, dry=arguments.dry_run))
    for line in failed:
        print(f"gpuyard: {line}", file=sys.stderr)
    return 1 if failed else 0


async def _uninstall(kubeconfig: str | None, *, crds: bool, dry: bool) -> list[str]:
    # Imported here, as everything that takes long: a signal may come meanwhile.
    from gpuyard_cli.kind_backend import connected
    from gpuyard_cli.uninstall import Uninstallation
    from gpuyard_cluster.wiring import manifests
    from gpuyard_kube.runtime import AsyncioRuntime

    said: list[str] = []

    def tell(text: str) -> None:
        said.append(text)
        print(f"(dry run) {text}" if dry else text, flush=True)

    async with connected(kubeconfig) as api:
        work = Uninstallation(api, AsyncioRuntime(), manifests.every(), tell, dry)
        await work.run(definitions=crds)
    if not said and not work.failed:
        print("nothing of GPUYard is there")
    return work.failed
