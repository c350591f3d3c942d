"""`gpuyard explain`: why a pod or a pod group waits, what would have to change, and who is ahead in a queue."""

import argparse
import asyncio
from collections.abc import Iterator, Sequence
from typing import Any, Final

from gpuyard.narration import few
from gpuyard_cli import output

_DESCRIPTION: Final = """\
Say why a pod waits: for every node the reason, nodes with one reason in one line, and what would have to change. Also
for pods that the scheduler has not tried, and where some nodes would do. Changes nothing. Exit code 0: explained; 2:
there is no such pod, or nobody can be asked."""

_QUEUE: Final = "Say what of a queue's quota is used, by whom, and who waits in which order and why."


def add_to(commands: Any) -> None:
    """Add the command to those of `gpuyard`."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "explain", help="why a pod, a pod group or a queue waits"
    )
    kinds = parser.add_subparsers(required=True, metavar="KIND")
    for kind, what in (("pod", "one pod"), ("podgroup", "a PodGroup and its members")):
        found: argparse.ArgumentParser = kinds.add_parser(kind, help=what, description=_DESCRIPTION)
        found.add_argument(
            "-n", "--namespace", type=output.object_name, default="default", help="(default: %(default)s)"
        )
        _complete(found, kind)
    queue = kinds.add_parser("queue", help="what a Queue holds and who waits", description=_QUEUE)
    _complete(queue, "queue")


def _complete(parser: argparse.ArgumentParser, kind: str) -> None:
    parser.add_argument("name", metavar="NAME", type=output.object_name)
    output.add_to(parser)
    parser.set_defaults(run=_run, kind=kind)


def _run(arguments: argparse.Namespace) -> int:
    answer = asyncio.run(_ask(arguments))
    print(output.printed(answer, arguments.output, queue_table if arguments.kind == "queue" else table))
    return 0


async def _ask(arguments: argparse.Namespace) -> dict[str, Any]:
    # Imported here, as everything that takes long: a signal may come meanwhile.
    from gpuyard_cli.advice.explaining import explained_group, explained_pod
    from gpuyard_cli.advice.explaining_queues import explained_queue
    from gpuyard_cli.extender_access import connected

    ask = explained_pod if arguments.kind == "pod" else explained_group
    async with connected(arguments) as (api, extender):
        if arguments.kind == "queue":
            return await explained_queue(api, arguments.name)
        return await ask(api, extender, arguments.namespace, arguments.name)


def table(found: dict[str, Any]) -> Iterator[str]:
    """What there is to say, for people."""
    from gpuyard_cli.advice.reasons import causes

    yield _headline(found)
    if found.get("detail"):
        yield f"  {found['detail']}"
    for member in found.get("members") or ():
        place = member.get("node") or (f"a place on {member['seat']} is kept" if "seat" in member else "-")
        yield f"  {member['pod']:<32}{member['phase']:<12}{place}"
    yield from causes(found["nodes"])
    yield from remedies(found.get("remedies") or ())


def queue_table(found: dict[str, Any]) -> Iterator[str]:
    """What there is to say of a queue."""
    yield f"queue {found['queue']}: {len(found['waiting'])} waiting, {len(found['holding'])} with what they need"
    for resource, quota in found["quota"].items():
        yield f"  {resource}: {found['used'][resource]} of {quota} used"
    if found["holding"]:
        yield f"  held by {few(found['holding'], 6)}"
    for position, group in enumerate(found["waiting"], start=1):
        yield f"  {position:>3}. {group['podGroup']}: {group['code'] or 'has its turn'}"
        if group["detail"]:
            yield f"       {group['detail']}"


def remedies(found: Sequence[dict[str, Any]]) -> Iterator[str]:
    """What would help, each with the pods that it speaks of; nothing where nothing would."""
    if found:
        yield from ["", "What would make it fit, each by itself:"]
    for remedy in found:
        named = f": {few(remedy['pods'], 6)}" if remedy["pods"] else ""
        yield f"  - {remedy['text']}{named}"


def _headline(found: dict[str, Any]) -> str:
    from gpuyard.verdicts import Reason

    name = found.get("pod") or found["podGroup"]
    if found["code"]:
        return f"{name} waits: {Reason(found['code']).text}"
    if found.get("fits"):
        return f"{name} would fit on {few(found['fits'])}; its events say what the scheduler made of it"
    if "podGroup" in found:
        return f"{name}: nobody waits of those that are there"
    if found.get("node"):
        return f"{name} does not wait: it is {found['phase']} on {found['node']}"
    return f"{name} is {found['phase']}: nothing keeps it from a node that we know of"
