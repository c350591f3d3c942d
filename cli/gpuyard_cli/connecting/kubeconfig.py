"""The kubeconfig of a cluster that lives as long as this process.

Law: a file that somebody else wrote is never touched, least of all ~/.kube/config.
"""

import base64
import contextlib
import os
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import yaml

from gpuyard_cli.connecting import nearby
from gpuyard_cli.inputs import InvalidInputError
from gpuyard_cluster.wiring.security import Credentials

NAME: Final = "gpuyard"
"""Of the cluster, the user and the context."""


def default_path(port: int) -> Path:
    """Where it is when nobody says where: one for each cluster that may run."""
    state = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local/state"
    return Path(state) / "gpuyard" / f"kubeconfig-{port}.yaml"


def check(path: Path) -> None:
    """InvalidInputError when the file may not be written."""
    remedy = "name another file with --kubeconfig"
    if path.resolve() == (Path.home() / ".kube/config").resolve():
        raise InvalidInputError(path, "", "this one is yours", remedy)
    if path.exists():
        server = _ours(path)
        if server is None:
            raise InvalidInputError(path, "", "it exists, and `gpuyard up` has not written it", remedy)
        if _answers(server):
            raise InvalidInputError(
                path, "", f"it is of a cluster that still runs, at {server}", f"end that one, or {remedy}"
            )
    if not path.absolute().parent.is_dir():
        raise InvalidInputError(path, "", "its folder does not exist", "make it, or name another file")


@contextlib.contextmanager
def written(path: Path, url: str, extender: str, credentials: Credentials) -> Iterator[None]:
    """The file is there for as long as the block lasts. OSError when it cannot be written."""
    text = yaml.safe_dump(_document(url, extender, credentials), sort_keys=False)
    path.absolute().parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    beside.touch(mode=0o600)
    beside.write_text(text)
    beside.replace(path)
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            # Somebody else may have written it meanwhile, such as a second cluster.
            if path.read_text() == text:
                path.unlink()


def _document(url: str, extender: str, credentials: Credentials) -> dict[str, Any]:
    user = {
        "client-certificate-data": _base64(credentials.certificate.certificate),
        "client-key-data": _base64(credentials.certificate.key),
        "token": credentials.token,
    }
    cluster = {
        "server": url,
        "certificate-authority-data": _base64(credentials.authority),
        "extensions": [nearby.extension(extender)],
    }
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": NAME, "cluster": cluster}],
        "users": [{"name": NAME, "user": user}],
        "contexts": [{"name": NAME, "context": {"cluster": NAME, "user": NAME}}],
        "current-context": NAME,
    }


def _ours(path: Path) -> str | None:
    """The API server that it names; None when no `gpuyard up` has written it."""
    try:
        [found] = yaml.safe_load(path.read_text())["clusters"]
        return str(found["cluster"]["server"]) if found["name"] == NAME else None
    except (OSError, ValueError, yaml.YAMLError, KeyError, TypeError):
        return None


def _answers(server: str) -> bool:
    """Whether somebody listens there: a process that was killed leaves its file behind."""
    try:
        place = urlsplit(server)
        socket.create_connection((place.hostname or "", place.port or 443), timeout=1).close()
    except (OSError, ValueError):
        return False
    return True


def _base64(content: bytes) -> str:
    return base64.b64encode(content).decode()
