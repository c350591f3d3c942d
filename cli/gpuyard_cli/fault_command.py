"""`gpuyard fault gpu`: lets a fake GPU of a running cluster fail, or recover."""

import argparse
import asyncio
from typing import TYPE_CHECKING, Any, Final

from gpuyard_cli.inputs import InvalidInputError

if TYPE_CHECKING:
    from gpuyard_kube.api import Api

_DESCRIPTION: Final = """\
Let the driver of a node report an XID of one of its fake GPUs, until --recover. The device plugin then calls the GPU
unhealthy: pods that hold it run on, nobody else gets it. XIDs of applications (13, 31, 43, 45, 68, 109) change
nothing, as with NVIDIA's plugin. The same by hand: kubectl annotate node NODE gpuyard.io/xid-INDEX=79, or
gpuyard.io/xid-INDEX- to recover. Exit code 0: the node says so; 2: it cannot be."""


def add_to(commands: Any) -> None:
    """Add the command to those of `gpuyard`."""
    parser: argparse.ArgumentParser = commands.add_parser("fault", help="let a fake GPU fail or recover")
    kinds = parser.add_subparsers(required=True, metavar="KIND")
    gpu: argparse.ArgumentParser = kinds.add_parser(
        "gpu",
        help="one GPU of a node",
        description=_DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    gpu.add_argument("node", metavar="NODE", help="as kubectl get nodes names it")
    gpu.add_argument("index", metavar="INDEX", type=_number, help="of the GPU on the node, from 0")
    what = gpu.add_mutually_exclusive_group(required=True)
    what.add_argument("--xid", metavar="NUMBER", type=_number, help="79: it has fallen off the bus")
    what.add_argument("--recover", action="store_true", help="it is as good as new")
    gpu.add_argument("--kubeconfig", metavar="FILE", help="default: the cluster that kubectl talks to")
    gpu.set_defaults(run=_run)


def _number(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 6):
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number; give 0 or more")
    return int(text)


def _run(arguments: argparse.Namespace) -> int:
    asyncio.run(_inject(arguments))
    text = "recovers" if arguments.recover else f"has XID {arguments.xid}"
    print(f"{arguments.node}: GPU {arguments.index} {text}")
    return 0


async def _inject(arguments: argparse.Namespace) -> None:
    # Imported here, as everything that takes long: a signal may come meanwhile.
    from gpuyard_cli.kind_backend import connected

    async with connected(arguments.kubeconfig) as api:
        await inject(api, arguments.node, arguments.index, arguments.xid)


async def inject(api: "Api", node: str, index: int, xid: int | None) -> None:
    """None: it recovers. InvalidInputError when the node has no such fake GPU."""
    from gpuyard import vocabulary
    from gpuyard.annotations import read_inventory
    from gpuyard_cli import requests
    from gpuyard_cli.backends import RefusedError
    from gpuyard_cli.injections import GPUFault

    reply = await api.read(f"/api/v1/nodes/{node}")
    if not reply.ok:
        raise InvalidInputError(f"node {node}", "", reply.reason, "see kubectl get nodes")
    notes = reply.body["metadata"].get("annotations") or {}
    if (inventory := read_inventory(notes.get(vocabulary.INVENTORY))) is None:
        raise InvalidInputError(
            f"node {node}", "", "it has no fake GPUs", "name one that a device plugin serves"
        )
    known = sorted(gpu.index for gpu in inventory.gpus)
    if index not in known:
        remedy = f"it has {', '.join(map(str, known)) or 'none'}"
        raise InvalidInputError(f"node {node}", "", f"there is no GPU {index}", remedy)
    try:
        await requests.hurt(api, GPUFault(node, index, xid))
    except RefusedError as error:
        raise InvalidInputError(f"node {node}", "", str(error), "may you patch nodes?") from error
