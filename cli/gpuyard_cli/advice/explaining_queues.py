"""What a queue holds and who waits in its line, from lists of the API server: the operator need not be asked."""

from gpuyard.writes import JSON
from gpuyard_cli.inputs import InvalidInputError
from gpuyard_cli.scenarios import requests
from gpuyard_kube.api import Api
from gpuyard_kube.runtime import AsyncioRuntime
from gpuyard_operator.cache import PATHS
from gpuyard_operator.explaining import explain_queue


async def explained_queue(api: Api, name: str) -> JSON:
    """See `explain_queue`. InvalidInputError when there is no such queue."""
    listed = {resource: await requests.items(api, path) for resource, path in PATHS.items()}
    found = explain_queue(name, listed, AsyncioRuntime().now())
    if found is None:
        raise InvalidInputError(f"queue {name}", "", "there is none", "see kubectl get queues.gpuyard.io")
    return found
