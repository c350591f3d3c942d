"""What must be so before a plugin starts: its Node can be read, and nothing real is beside it."""

from pathlib import Path
from typing import Final

from gpuyard.writes import JSON
from gpuyard_device_plugin import host
from gpuyard_device_plugin.assembly import SetupError
from gpuyard_kube.api import Api
from gpuyard_kube.runtime import Runtime

PATIENCE_SECONDS: Final = 30.0
"""So long the API server may be away: on a node that has just started, pods run before Services lead anywhere, and a
process that ends is started again after ever longer pauses only."""
RETRY_SECONDS: Final = 0.5


async def node(api: Api, runtime: Runtime, name: str, plugin_folder: Path) -> JSON:
    """The Node to serve. SetupError when there is none, or something speaks against a fake plugin on it."""
    path, given_up = f"/api/v1/nodes/{name}", runtime.now() + PATIENCE_SECONDS
    while (reply := await api.read(path)).status >= 500 and runtime.now() < given_up:
        await runtime.sleep_until(runtime.now() + RETRY_SECONDS)
    if not reply.ok:
        raise SetupError(f"node {name}: {reply.reason}; check --node-name and the API server's address")
    found = [*host.findings(plugin_folder), *host.node_findings(reply.body)]
    if found:
        raise SetupError(f"does not start on node {name}: found {'; '.join(found)}")
    return reply.body
