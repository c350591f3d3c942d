"""What the extender is told at its start, as values, and the spans of time that it keeps.

Stands for the flags of a Kubernetes component.
"""

import argparse
import ipaddress
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from gpuyard.policies import profiles, registry
from gpuyard.policies.candidates import Policy
from gpuyard.policies.installed import PolicyError
from gpuyard.yard_fields import InvalidYardError
from gpuyard_extender.transport.certificates import Files
from gpuyard_kube import arguments, documents, logs
from gpuyard_kube.documents import InvalidDocumentError

SCORE_STEP: Final = 151
"""Points between two ranks. kube-scheduler multiplies a score by 10: one rank outweighs all in-tree scores together,
of which 949 were seen to lie between the best and the worst node of a pod."""

BARRIER_SECONDS: Final = 3.0
"""How long members of a gang are held at Bind; kube-scheduler gives up on an extender after 5 s."""

BARRIER_ALONE_SECONDS: Final = 2.0
"""How long, as long as the first seat of those to bind is not among them. Members whose back-offs have come apart
would miss each other for ever if all came in the same rhythm: so the first comes in a slower one, and meets them."""

RESERVATION_SECONDS: Final = 60.0
"""How long a planned gang keeps its places."""

TENTATIVE_SECONDS: Final = 5.0
"""How long a pod counts on the node that it was ranked onto: its Bind follows within milliseconds, or not at all."""

PUSH_SECONDS: Final = 5.0
"""How long kube-scheduler, told whom it may remove for a pod, is left to do so."""

NOMINATED_SECONDS: Final = 30.0
"""How long room is kept for a pod once its victims may have taken all their time to end."""

SENT_SECONDS: Final = 60.0
"""How long a pod counts on the node that its Binding named, until it is seen there."""


@dataclass(frozen=True, slots=True)
class Settings:
    """Where the API server is (a URL, or a kubeconfig; neither: the usual places), and what one extender does."""

    policy: str | Policy = "pack"
    """One of `gpuyard.policies.registry.names()`, or a profile (`gpuyard.policies.profiles`)."""
    api: str | None = None
    kubeconfig: str | None = None
    host: str = "127.0.0.1"
    port: int = 8081
    """Where it listens; 0: any free port."""
    advertise: str | None = None
    """The address by which it becomes the cluster's active extender; None: it is asked by whoever knows it."""
    takes_over: bool = True
    """Whether it takes the Lease from another one, or waits until that is free."""
    files: Files | None = None
    """Those that it serves TLS with; None: plain HTTP."""
    decisions: str | None = None
    """The file that every decision is noted in; `-` for standard output."""
    log_format: str = "text"


def read(argv: Sequence[str] | None = None) -> Settings:
    """The settings that a command line gives; ends the process with a clear line when they do not go together."""
    given = parser().parse_args(argv)
    _check(given)
    return Settings(
        _policy(given.policy, given.profiles),
        given.api,
        given.kubeconfig,
        given.host,
        given.port,
        str(given.advertise) if given.advertise else None,
        takes_over=not given.stand_by,
        files=Files(given.tls_cert, given.tls_key, given.client_ca) if given.tls_cert else None,
        decisions=given.decisions,
        log_format=given.log_format,
    )


def _check(given: argparse.Namespace) -> None:
    """End with a clear line when the arguments do not go together."""
    if given.stand_by and not given.advertise:
        parser().error("--stand-by waits for a Lease, which needs an address: add --advertise IP")
    if (given.tls_cert is None) != (given.tls_key is None):
        parser().error("a certificate is of no use without its key: give both --tls-cert and --tls-key")
    if given.client_ca and not given.tls_cert:
        parser().error("--client-ca checks certificates, which needs TLS: add --tls-cert and --tls-key")


def _policy(name: str, file: Path | None) -> str | Policy:
    """What --policy names: a profile in the file, if there is one, or a policy."""
    known = _profiles(file) if file else {}
    choices = [*known, *registry.names()]
    if name not in choices:
        parser().error(f"--policy {name}: invalid choice; use one of {', '.join(choices)}")
    if name not in known:
        try:
            registry.named(name)
        except PolicyError as fault:
            parser().error(f"--policy: {fault}")
    return known.get(name, name)


def _profiles(file: Path) -> Mapping[str, Policy]:
    try:
        return profiles.parse(documents.only(file))
    except (InvalidDocumentError, InvalidYardError, PolicyError) as fault:
        return parser().error(f"--profiles {file}: {fault}")


def parser() -> argparse.ArgumentParser:
    """The arguments of the command `gpuyard-extender`."""
    found = argparse.ArgumentParser(
        prog="gpuyard-extender",
        description="Scheduler extender for GPUs: filter, prioritize, bind, gang plans, explain.",
    )
    arguments.add_server(found)
    found.add_argument("--host", default="127.0.0.1", help="address to listen on (default: %(default)s)")
    found.add_argument(
        "--port", type=arguments.port, default=8081, help="0: any free port (default: %(default)s)"
    )
    found.add_argument(
        "--advertise",
        metavar="IP",
        type=ipaddress.ip_address,
        help="be the cluster's active extender, reached at this address: takes over Lease and EndpointSlice",
    )
    found.add_argument(
        "--stand-by", action="store_true", help="with --advertise: wait until the Lease is free instead"
    )
    _add_tls(found)
    _add_policy(found)
    found.add_argument(
        "--decisions",
        metavar="FILE",
        help="note every decision there, a JSON line each (docs/decisions.md); - for standard output",
    )
    found.add_argument("--log-format", choices=logs.FORMATS, default="text", help="(default: %(default)s)")
    return found


def _add_tls(found: argparse.ArgumentParser) -> None:
    found.add_argument("--tls-cert", metavar="FILE", type=Path, help="serve TLS with this certificate (PEM)")
    found.add_argument("--tls-key", metavar="FILE", type=Path, help="the key of --tls-cert")
    found.add_argument(
        "--client-ca",
        metavar="FILE",
        type=Path,
        help="answer the verbs only to clients with a certificate of this authority",
    )


def _add_policy(found: argparse.ArgumentParser) -> None:
    found.add_argument(
        "--policy",
        metavar="NAME",
        default=Settings().policy,
        help=f"which of the nodes that fit is best: {', '.join(registry.names())}, or a profile of --profiles"
        " (default: %(default)s)",
    )
    found.add_argument(
        "--profiles",
        metavar="FILE",
        type=Path,
        help="policies by weight under names of your own, YAML or JSON (docs/how-to/write-a-policy.md)",
    )
