"""`gpuyard-device-plugin cleanup`: takes from a node what its plugin has left there, and nothing else.

Stands for the clean-up that GPU feature discovery lacks. Own is what the inventory on the node explains: a label that
has another value by now was written by somebody else, and stays.
"""

import argparse
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from gpuyard import annotations, vocabulary
from gpuyard.writes import JSON, PatchType, Write
from gpuyard_device_plugin.containers import cdi
from gpuyard_device_plugin.publishing import gfd
from gpuyard_kube import arguments
from gpuyard_kube.api import Api
from gpuyard_kube.http import HttpApi
from gpuyard_kube.servers import NoServerError

COMMAND = "cleanup"
_NOTES = (vocabulary.INVENTORY, vocabulary.CONFIG_PROBLEM)


class CleanupError(Exception):
    """It could not be done; the text is one line for the user."""


def patch(node: JSON) -> JSON:
    """The merge patch that removes from a Node object what its plugin wrote; empty when there is nothing."""
    metadata = node.get("metadata") or {}
    notes, labels = metadata.get("annotations") or {}, metadata.get("labels") or {}
    inventory = annotations.read_inventory(notes.get(vocabulary.INVENTORY))
    written = {} if inventory is None else gfd.labels(inventory)
    gone: dict[str, Any] = {
        "annotations": dict.fromkeys(key for key in _NOTES if key in notes),
        "labels": dict.fromkeys(key for key, value in written.items() if labels.get(key) == value),
    }
    kept = {key: names for key, names in gone.items() if names}
    return {"metadata": kept} if kept else {}


def removed_files(plugin_folder: Path, cdi_folder: Path) -> Iterator[Path]:
    """Removes sockets and specifications of a plugin that runs no more; gives each that was there."""
    for path in [*sorted(plugin_folder.glob("gpuyard-*.sock")), cdi_folder / cdi.FILE]:
        if path.exists():
            path.unlink()
            yield path


async def clean(api: Api, name: str) -> list[str]:
    """Take the plugin's keys from the Node object; their names. CleanupError when that cannot be."""
    path = f"/api/v1/nodes/{name}"
    reply = await api.read(path)
    if not reply.ok:
        raise CleanupError(f"node {name}: {reply.reason}; check --node-name and the API server's address")
    if not (found := patch(reply.body)):
        return []
    # As read: what somebody has changed since is looked at anew by the next run.
    found["metadata"]["resourceVersion"] = reply.body["metadata"].get("resourceVersion")
    reply = await api.send(Write("PATCH", path, found, PatchType.MERGE))
    if not reply.ok:
        raise CleanupError(f"node {name}: {reply.reason}; try again")
    return [key for part in ("annotations", "labels") for key in found["metadata"].get(part, ())]


async def run(argv: Sequence[str]) -> list[str]:
    """Do it; what was removed, one line each. CleanupError when something could not be."""
    given = _parser().parse_args(argv)
    try:
        api = HttpApi(await arguments.server(given.api, given.kubeconfig))
    except NoServerError as error:
        raise CleanupError(str(error)) from error
    try:
        keys = await clean(api, given.node_name)
        files = list(removed_files(given.device_plugin_dir, given.cdi_dir))
    except OSError as error:
        raise CleanupError(f"{error.filename}: {error.strerror}; run it as root on the node") from error
    finally:
        await api.close()
    return [*(f"node {given.node_name}: {key}" for key in keys), *map(str, files)]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=f"gpuyard-device-plugin {COMMAND}",
        description="Removes from a node what its device plugin wrote there. The plugin must not run any more.",
    )
    parser.add_argument(
        "--node-name",
        default=os.environ.get("NODE_NAME"),
        required="NODE_NAME" not in os.environ,
        help="the Node object (default: $NODE_NAME)",
    )
    parser.add_argument("--device-plugin-dir", type=Path, default=Path("/var/lib/kubelet/device-plugins"))
    parser.add_argument("--cdi-dir", type=Path, default=Path("/var/run/cdi"))
    arguments.add_server(parser)
    return parser
