"""What `gpuyard top` and `gpuyard capture` follow of a cluster, and the refusal of who may not."""

from typing import Final

from gpuyard.writes import JSON
from gpuyard_cli.inputs import InvalidInputError
from gpuyard_kube.api import Api

PATHS: Final = {"nodes": "/api/v1/nodes", "pods": "/api/v1/pods"}


async def listed(api: Api, path: str, **query: str) -> JSON:
    """The list. InvalidInputError where it may not be had."""
    reply = await api.read(path, **query)
    if not reply.ok:
        remedy = "use a kubeconfig that may list and watch nodes and pods"
        raise InvalidInputError("cluster", path, reply.reason, remedy)
    return reply.body
