"""The command-line arguments that every component shares: where the API server is, and what an address looks like."""

import argparse
from urllib.parse import urlsplit

from gpuyard_kube.servers import NoServerError, Server, server_of

REMEDY = "give --kubeconfig FILE or --api URL"


def add_server(parser: argparse.ArgumentParser) -> None:
    """`--kubeconfig FILE` or `--api URL`; neither: the usual places."""
    server = parser.add_mutually_exclusive_group()
    server.add_argument(
        "--kubeconfig", metavar="FILE", help="default: the usual kubeconfig, else the pod's service account"
    )
    server.add_argument(
        "--api", metavar="URL", type=url, help="an API server over plain HTTP without authentication"
    )


async def server(api: str | None, kubeconfig: str | None) -> Server:
    """The API server that these two arguments name. NoServerError, with the remedy, when they name none."""
    if api:
        return Server(api)
    try:
        return await server_of(kubeconfig)
    except NoServerError as error:
        raise NoServerError(f"no API server: {error}; {REMEDY}") from error


def url(text: str) -> str:
    """An argument that is the URL of a server, without a slash at its end."""
    parts = urlsplit(text)
    if parts.scheme not in ("http", "https") or not parts.netloc:
        raise argparse.ArgumentTypeError(f"{text!r} is not a URL; write it as http://127.0.0.1:8080")
    return text.rstrip("/")


def port(text: str) -> int:
    """An argument that is a port to listen on; 0: any free one."""
    if not text.isdecimal() or int(text) > 65535:
        raise argparse.ArgumentTypeError(f"{text!r} is not a port; give a number from 0 to 65535")
    return int(text)
