"""`gpuyard uninstall`: the command."""

import argparse
import asyncio
import sys
from typing import Any, Final

from gpuyard_cli import output

_DESCRIPTION: Final = """\
Take GPUYard from a cluster, so that no pod stays held and nothing of it stays on nodes. Take the extender out of
kube-scheduler's configuration first. Pods that were held for their gang start one by one: each is named.
Labels that you set (gpuyard.io/fake-gpus, gpuyard.io/yard-node, racks) stay, and so do PodGroups.
Can be run again at any time. Exit code 0: done; 1: something could not be done; 2: the cluster could not be asked."""


def add_to(commands: Any) -> None:
    """Add the command to those of `gpuyard`."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "uninstall", help="take GPUYard from a cluster", description=_DESCRIPTION
    )
    output.add_kubeconfig(parser)
    parser.add_argument(
        "--crds", action="store_true", help="the definitions, too: deletes every PodGroup of every user"
    )
    parser.add_argument("--dry-run", action="store_true", help="only say what would be done")
    output.add_format(parser)
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    done, failed = asyncio.run(_uninstall(arguments))
    for line in failed:
        print(f"gpuyard: {line}", file=sys.stderr)
    if arguments.output != "table":
        answer = {"dryRun": arguments.dry_run, "done": done, "failed": failed}
        print(output.printed(answer, arguments.output))
    return 1 if failed else 0


async def _uninstall(arguments: argparse.Namespace) -> tuple[list[str], list[str]]:
    """What was done, or would be, and what could not be. People read it as it happens."""
    # Imported here, as everything that takes long: a signal may come meanwhile.
    from gpuyard_cli.backends.kind import connected
    from gpuyard_cli.uninstall.uninstallation import Uninstallation
    from gpuyard_cluster.wiring import manifests
    from gpuyard_kube.runtime import AsyncioRuntime

    said, dry = list[str](), arguments.dry_run
    out = sys.stdout if arguments.output == "table" else sys.stderr

    def tell(text: str) -> None:
        said.append(text)
        print(f"(dry run) {text}" if dry else text, file=out, flush=True)

    async with connected(arguments.kubeconfig) as api:
        work = Uninstallation(api, AsyncioRuntime(), manifests.every(), tell, dry)
        await work.run(definitions=arguments.crds)
    if not said and not work.failed:
        print("nothing of GPUYard is there", file=out)
    return said, work.failed
