"""`gpuyard audit`: the audit of a running cluster, as a table or as JSON."""

import argparse
import asyncio
import sys
import textwrap
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from gpuyard_cli import output

if TYPE_CHECKING:
    from gpuyard.auditing.findings import Finding
    from gpuyard_cli.scenarios.auditing import Audited

_DESCRIPTION: Final = """\
Compare, for every node, what the kubelet, the pods' status, the plans, the extender and the device plugin say of who
holds which devices. Changes nothing. Exit code 0: they agree; 1: they do not; 2: somebody could not be asked."""
_LOOK_SECONDS: Final = 0.5
"""Between two looks while things settle."""
_NEARBY: Final = """\
note: of `gpuyard up` the pods' status, the plans and the extender are compared; its kubelets and device plugins are
parts of its process, which nobody can ask"""


def add_to(commands: Any) -> None:
    """Add the command to those of `gpuyard`."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "audit", help="compare all accounts of who holds which devices", description=_DESCRIPTION
    )
    output.add_to(parser)
    parser.set_defaults(run=_run)


def exit_code(audited: "Audited") -> int:
    """2 goes before 1: nobody can say what the silent would have said."""
    return 2 if audited.silent else 1 if audited.findings else 0


def to_json(audited: "Audited") -> dict[str, Any]:
    """One object: "findings" and "silent", both empty when all is well."""
    return {"findings": [finding.to_json() for finding in audited.findings], "silent": list(audited.silent)}


def table(audited: "Audited") -> Iterator[str]:
    """A line for each finding, and under it what each account says."""
    for finding in audited.findings:
        yield from _rows(finding)
    if audited.clean:
        yield "all accounts agree"
    elif count := len(audited.findings):
        yield f"{count} finding{'s' if count > 1 else ''}"


def _rows(finding: "Finding") -> Iterator[str]:
    yield f"{finding.flaw.value:<18}{finding.node or '-':<24}{finding.subject}: {finding.flaw.text}"
    width = max(map(len, finding.says), default=0)
    for who, what in finding.says.items():
        yield textwrap.indent(f"{who:<{width}}  {' '.join(what) or '-'}", " " * 18)


def _run(arguments: argparse.Namespace) -> int:
    audited = asyncio.run(_audit(arguments))
    for line in audited.silent:
        print(f"gpuyard: {line}", file=sys.stderr)
    print(output.printed(to_json(audited), arguments.output, lambda _: table(audited)))
    return exit_code(audited)


async def _audit(arguments: argparse.Namespace) -> "Audited":
    # Imported here, as everything that takes long: a signal may come meanwhile.
    from gpuyard_cli.backends.live_accounts import LiveAccounts
    from gpuyard_cli.connecting.extender_proxy import NearbyExtender
    from gpuyard_cli.extender_access import connected
    from gpuyard_cli.scenarios.auditing import SETTLE_SECONDS, look, settled

    async with connected(arguments) as (api, extender):
        if isinstance(extender, NearbyExtender):
            print(_NEARBY, file=sys.stderr)
        accounts = LiveAccounts(api, extender)

        async def wait() -> bool:
            if sys.stderr.isatty():
                print(
                    f"\rlooking again, for up to {SETTLE_SECONDS:.0f} s ...\r",
                    end="",
                    file=sys.stderr,
                    flush=True,
                )
            await asyncio.sleep(_LOOK_SECONDS)
            return True

        return await settled(lambda: look(accounts), asyncio.get_running_loop().time, wait)
