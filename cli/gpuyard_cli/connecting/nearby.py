"""Which extender belongs to an API server that has none among its pods: that of `gpuyard up`, beside it.

Stands for the extensions that minikube leaves in a kubeconfig. Law: it is looked for in the files that kubectl reads,
and counts for the server that it stands beside, whatever the context.
"""

import os
from pathlib import Path
from typing import Any, Final

import yaml

EXTENSION: Final = "gpuyard"
"""Its name in the kubeconfig."""


def extension(extender: str) -> dict[str, Any]:
    """The entry of a cluster whose extender listens there."""
    return {"name": EXTENSION, "extension": {"extender": extender}}


def extender_of(server: str, kubeconfig: str | None) -> str | None:
    """The URL of the extender beside the API server with this URL; None when no file names one."""
    files = kubeconfig or os.environ.get("KUBECONFIG") or str(Path.home() / ".kube/config")
    found = (_named(Path(path).expanduser(), server) for path in files.split(os.pathsep))
    return next(filter(None, found), None)


def _named(path: Path, server: str) -> str | None:
    """What cannot be read names nobody: whoever connected by it has said so already."""
    try:
        clusters = yaml.load(path.read_text(), Loader=yaml.CSafeLoader)["clusters"]
        beside = [
            found["extension"]["extender"]
            for cluster in (entry["cluster"] for entry in clusters)
            if str(cluster.get("server")).rstrip("/") == server
            for found in cluster.get("extensions") or ()
            if found.get("name") == EXTENSION
        ]
    except (AttributeError, OSError, ValueError, yaml.YAMLError, KeyError, TypeError):
        return None
    return str(beside[0]) if beside else None
