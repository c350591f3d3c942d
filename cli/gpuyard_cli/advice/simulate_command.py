"""`gpuyard simulate`: will it fit, and if not, what would make it fit?"""

import argparse
import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from gpuyard import vocabulary
from gpuyard.narration import few
from gpuyard_cli import output

if TYPE_CHECKING:
    from gpuyard_kube.api import Api

_DESCRIPTION: Final = """\
Place pods on the live cluster without creating anything: where they would go, with which devices; if not all fit,
why, and what would make them fit. Understands Pods, Jobs, Deployments, ReplicaSets, StatefulSets, and PodGroups with
their members, which start together or not at all, in racks and queues. Needs list on queues where objects name one.
Exit code 0: all fits; 1: not all; 2: it cannot be said."""
_SHOWN: Final = 20
"""Pods of one workload whose places are shown."""


def add_to(commands: Any) -> None:
    """Add the command to those of `gpuyard`."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "simulate", help="will it fit? without creating anything", description=_DESCRIPTION
    )
    parser.add_argument(
        "-f",
        "--filename",
        metavar="FILE",
        type=Path,
        action="append",
        required=True,
        help="or a folder, or - for what is piped in; again for more",
    )
    parser.add_argument(
        "--add-nodes",
        metavar="COUNTxPRESET",
        action="append",
        default=[],
        help="as if the cluster had these nodes as well, in no rack: 2xdgx-h100; gpuyard up --help lists presets",
    )
    output.add_to(parser)
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    answer = asyncio.run(_ask(arguments))
    print(output.printed(answer, arguments.output, table))
    return 0 if answer["fits"] else 1


async def _ask(arguments: argparse.Namespace) -> dict[str, Any]:
    # Imported here, as everything that takes long: a signal may come meanwhile.
    from gpuyard_cli.extender_access import body_of, connected
    from gpuyard_cli.inputs import named

    question: dict[str, Any] = {"objects": [obj for path in arguments.filename for obj in named(path)]}
    if arguments.add_nodes:
        from gpuyard_cli.advice.added_nodes import added

        question["addNodes"] = added(arguments.add_nodes)
    async with connected(arguments) as (api, extender):
        # The name of a queue may be in whatever field, and in a PodGroup of the cluster.
        question["queues"] = await _queues(api, needed=vocabulary.QUEUE in str(question["objects"]))
        reply = await extender.ask("/v1/simulations", question)
    return body_of(reply, ", ".join(map(str, arguments.filename)))


async def _queues(api: "Api", *, needed: bool) -> list[Any] | None:
    """The queues of the cluster, which may not know what that is; None where it does not tell, if that will do."""
    from gpuyard.groups import queues
    from gpuyard_cli.extender_access import body_of

    reply = await api.read(queues.PATH)
    return (
        [] if reply.status == 404 or not (reply.ok or needed) else list(body_of(reply, queues.PATH)["items"])
    )


def table(answer: dict[str, Any]) -> Iterator[str]:
    """The answer for people."""
    for i, outcome in enumerate(answer["outcomes"]):
        yield from [""] * (i > 0)
        yield from _outcome(outcome)
    if answer["ignored"]:
        yield from ["", f"left out, since they bring no pods: {few(answer['ignored'], 6)}"]


def _outcome(found: dict[str, Any]) -> Iterator[str]:
    from gpuyard.verdicts import Reason
    from gpuyard_cli.advice.explain_command import remedies
    from gpuyard_cli.advice.reasons import of_groups

    yield _headline(found)
    for place in found["placed"][:_SHOWN]:
        yield f"  {place['pod']:<32}{place['node']:<24}{_devices(place['devices'])}"
    if len(found["placed"]) > _SHOWN:
        yield f"  and {len(found['placed']) - _SHOWN} more: see -o json"
    if found["code"]:
        reason = Reason(found["code"])
        yield f"  {'; '.join(filter(None, [found['pod'], reason.text, found['detail']]))}"
        if not found["why"]:
            yield f"  to change: {reason.change}"
    yield from of_groups(
        [(Reason(why["reason"]), why["nodes"], list(why["details"].items())) for why in found["why"]]
    )
    yield from remedies(found["remedies"])


def _headline(found: dict[str, Any]) -> str:
    if found["fits"]:
        return f"{found['name']} fits"
    if not found["pods"]:  # none that can be understood
        return f"{found['name']} does not fit"
    if found["together"]:
        return f"{found['name']} does not fit: all {found['pods']} start together or none"
    return f"{found['name']} does not fit: {len(found['placed'])} of {found['pods']} pods do"


def _devices(held: dict[str, dict[str, list[str]]]) -> str:
    return "; ".join(
        f"{container}: {resource} {few([name[:12] + '…' for name in ids], 8)}"
        for container, resources in held.items()
        for resource, ids in resources.items()
    )
