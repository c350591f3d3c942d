"""`gpuyard fault`: lets a fake GPU, all those of a node, or an NVLink of a running cluster fail, or recover."""

import argparse
import asyncio
from typing import TYPE_CHECKING, Any, Final

from gpuyard import vocabulary
from gpuyard_cli import output
from gpuyard_cli.inputs import InvalidInputError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gpuyard_cli.scenarios.injections import DriverFault
    from gpuyard_kube.api import Api

_DESCRIPTION: Final = """\
Let the driver of a node report a fault of its fake GPUs, until --recover; the device plugin follows. Pods that hold a
GPU run on. The same by hand: kubectl annotate node NODE {key}, or the key with - to recover.
{more} Exit code 0: the node says so; 2: it cannot be."""
_XIDS: Final = """\
A GPU with an XID is unhealthy: nobody else gets it. XIDs of applications (13, 31, 43, 45, 68, 109) change nothing, as
with NVIDIA's plugin."""
_OFF_THE_BUS: Final = 79
_LINKS: Final = "Two GPUs without their NVLink are no NVLink pair; each still is one with others."


def add_to(commands: Any) -> None:
    """Add the command to those of `gpuyard`."""
    parser: argparse.ArgumentParser = commands.add_parser("fault", help="let fake GPUs fail or recover")
    kinds = parser.add_subparsers(required=True, metavar="KIND")
    gpu = _kind(kinds, "gpu", "one GPU of a node", f"{vocabulary.XID_PREFIX}INDEX=79", _XIDS)
    gpu.add_argument("index", metavar="INDEX", type=_number, help="of the GPU on the node, from 0")
    _add_effect(gpu, required=True)
    node = _kind(kinds, "node", "all GPUs of a node", f"{vocabulary.XID_PREFIX}all=79", _XIDS)
    _add_effect(node, required=False)
    link = _kind(
        kinds, "link", "the NVLink of two GPUs", f"{vocabulary.NVLINK_PREFIX}I-J={vocabulary.DOWN}", _LINKS
    )
    link.add_argument("first", metavar="I", type=_number, help="index of a GPU")
    link.add_argument("second", metavar="J", type=_number, help="index of another")
    link.add_argument("--recover", action="store_true", help="it is as good as new")
    link.set_defaults(fault=_link)


def _kind(kinds: Any, name: str, what: str, key: str, more: str) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = kinds.add_parser(
        name, help=what, description=_DESCRIPTION.format(key=key, more=more)
    )
    parser.add_argument("node", metavar="NODE", type=output.object_name, help="as kubectl get nodes names it")
    output.add_kubeconfig(parser)
    output.add_format(parser)
    parser.set_defaults(run=_run)
    return parser


def _add_effect(parser: argparse.ArgumentParser, *, required: bool) -> None:
    what = parser.add_mutually_exclusive_group(required=required)
    what.add_argument(
        "--xid",
        metavar="NUMBER",
        type=_number,
        help="79: fallen off the bus" + (" (default)" * (not required)),
    )
    what.add_argument("--recover", action="store_true", help="as good as new")
    parser.set_defaults(fault=_xid)


def _xid(arguments: argparse.Namespace) -> tuple["DriverFault", str]:
    """The fault, and what to say once it is there."""
    from gpuyard_cli.scenarios import injections

    given = _OFF_THE_BUS if arguments.xid is None else arguments.xid
    xid = None if arguments.recover else given
    effect = "recovers" if xid is None else f"has XID {xid}"
    if "index" not in arguments:
        return injections.node_fault(arguments.node, xid), f"every GPU {effect}"
    return injections.gpu_fault(arguments.node, arguments.index, xid), f"GPU {arguments.index} {effect}"


def _link(arguments: argparse.Namespace) -> tuple["DriverFault", str]:
    from gpuyard_cli.scenarios import injections

    ends = arguments.first, arguments.second
    state = "up" if arguments.recover else "down"
    fault = injections.link_fault(arguments.node, ends, down=not arguments.recover)
    return fault, f"the NVLink between GPU {ends[0]} and GPU {ends[1]} is {state}"


def _number(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 6):
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number; give 0 or more")
    return int(text)


def _run(arguments: argparse.Namespace) -> int:
    fault, said = arguments.fault(arguments)
    asyncio.run(_inject(arguments.kubeconfig, fault))
    answer = {"node": arguments.node, "said": said}
    print(output.printed(answer, arguments.output, lambda _: iter([f"{arguments.node}: {said}"])))
    return 0


async def _inject(kubeconfig: str | None, fault: "DriverFault") -> None:
    # Imported here, as everything that takes long: a signal may come meanwhile.
    from gpuyard_cli.backends.kind import connected

    async with connected(kubeconfig) as api:
        await inject(api, fault)


async def inject(api: "Api", fault: "DriverFault") -> None:
    """InvalidInputError when the node has no such fake GPUs, or no NVLink between them."""
    from gpuyard_cli.scenarios import requests
    from gpuyard_cli.scenarios.backends import RefusedError

    where = f"node {fault.node}"
    reply = await api.read(f"/api/v1/nodes/{fault.node}")
    if not reply.ok:
        raise InvalidInputError(where, "", reply.reason, "see kubectl get nodes")
    _check(where, fault, reply.body["metadata"].get("annotations") or {})
    try:
        await requests.hurt(api, fault)
    except RefusedError as error:
        raise InvalidInputError(where, "", str(error), "may you patch nodes?") from error


def _check(where: str, fault: "DriverFault", notes: "Mapping[str, str]") -> None:
    from gpuyard.annotations import read_inventory

    if (inventory := read_inventory(notes.get(vocabulary.INVENTORY))) is None:
        raise InvalidInputError(where, "", "it has no fake GPUs", "name one that a device plugin serves")
    known = {gpu.index: gpu for gpu in inventory.gpus}
    for index in fault.gpus:
        if index not in known:
            remedy = f"it has {', '.join(map(str, sorted(known))) or 'none'}"
            raise InvalidInputError(where, "", f"there is no GPU {index}", remedy)
    domains = [known[index].nvlink for index in fault.gpus]
    if len(domains) == 2 and (None in domains or len(set(domains)) != 1 or len(set(fault.gpus)) != 2):
        first, second = fault.gpus
        linked = [gpu.index for gpu in inventory.gpus if gpu.nvlink is not None and gpu.nvlink == domains[0]]
        remedy = f"GPU {first} is linked with {', '.join(str(i) for i in linked if i != first) or 'none'}"
        problem = f"there is no NVLink between GPU {first} and GPU {second}"
        raise InvalidInputError(where, "", problem, remedy)
