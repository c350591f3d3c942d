"""Faults that a scenario injects into the embedded API server."""

from gpuyard_cli.scenarios.injections import RefusedBinding
from gpuyard_cluster.apiserver.errors import ApiError, forbidden
from gpuyard_cluster.apiserver.requests import Request
from gpuyard_cluster.apiserver.server import Fault


def refused_binding(namespace: str, fault: RefusedBinding) -> Fault:
    """Refuse the Binding of a pod, as often as the fault says."""
    path = f"/api/v1/namespaces/{namespace}/pods/{fault.pod}/binding"
    left = fault.times

    def ask(request: Request) -> ApiError | None:
        nonlocal left
        if request.path != path or left == 0:
            return None
        if left is not None:
            left -= 1
        return forbidden("pods", fault.pod, "the scenario refuses its Binding")

    return ask
