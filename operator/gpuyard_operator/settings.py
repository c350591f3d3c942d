"""What the operator is told at its start, as values.

Stands for the flags of a controller manager.
"""

import argparse
import ssl
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from gpuyard import vocabulary
from gpuyard.writes import JSON
from gpuyard_kube import arguments, logs
from gpuyard_kube.servers import Server
from gpuyard_operator.planner import Trust


@dataclass(frozen=True, slots=True)
class Settings:
    """Where the API server is (a URL, or a kubeconfig; neither: the usual places) and where the extender."""

    extender: str
    api: str | None = None
    kubeconfig: str | None = None
    server: Server | None = None
    """The API server itself, where whoever starts the operator knows it already."""
    lease: JSON | None = None
    """The Lease that it leads by: events about what it lacks are about that."""
    trust: Trust = Trust()
    host: str = "127.0.0.1"
    port: int = 0
    """Where the process tells what it measures; 0: any free port."""
    preempts: bool = True
    """Whether pods of lower priority are evicted for those that fit then. On, for kube-scheduler does the same where
    counts are lacking: whoever gives pods priorities counts on it, and where nobody does, nobody is evicted."""
    namespace: str = vocabulary.NAMESPACE
    """Where the Lease is."""
    log_format: str = "text"


def read(argv: Sequence[str] | None = None) -> Settings:
    """The settings that a command line gives."""
    given = parser().parse_args(argv)
    return Settings(
        given.extender,
        given.api,
        given.kubeconfig,
        trust=Trust(given.token_file, given.extender_ca),
        host=given.host,
        port=given.port,
        preempts=given.preemption,
        namespace=given.namespace,
        log_format=given.log_format,
    )


def parser() -> argparse.ArgumentParser:
    """The arguments of the command `gpuyard-operator`."""
    found = argparse.ArgumentParser(
        prog="gpuyard-operator", description="Starts the pods of a PodGroup together or not at all."
    )
    arguments.add_server(found)
    found.add_argument(
        "--extender", metavar="URL", type=arguments.url, required=True, help="the scheduler extender"
    )
    found.add_argument(
        "--token-file", metavar="FILE", type=Path, help="a token for the extender, read for each question"
    )
    found.add_argument(
        "--extender-ca",
        metavar="FILE",
        type=_authority,
        help="the authority of the extender's certificate (PEM)",
    )
    found.add_argument("--host", default="127.0.0.1", help="address to be asked at (default: %(default)s)")
    found.add_argument(
        "--port", type=arguments.port, default=8083, help="0: any free port (default: %(default)s)"
    )
    found.add_argument(
        "--preemption",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="evict pods of lower priority for gangs, and for pods whose shape does not fit (default: yes)",
    )
    found.add_argument(
        "--namespace", default=vocabulary.NAMESPACE, help="where the Lease is (default: %(default)s)"
    )
    found.add_argument("--log-format", choices=logs.FORMATS, default="text", help="(default: %(default)s)")
    return found


def _authority(text: str) -> Path:
    try:
        ssl.create_default_context(cafile=text)
    except OSError as error:  # an SSLError is one
        problem = f"{text}: {error.strerror or error}; give a file with a certificate (PEM)"
        raise argparse.ArgumentTypeError(problem) from error
    return Path(text)
