"""The output of containers.

Stands for `pods/log` of kube-apiserver, which asks the kubelet; here the server asks its `LogSource`.
"""

from collections.abc import Callable

from gpuyard.writes import JSON
from gpuyard_cluster.apiserver.errors import bad_request, not_served
from gpuyard_cluster.apiserver.requests import Request

LogSource = Callable[[JSON, str], bytes | None]
"""(pod, container name) -> everything the container has printed; None before it has started."""

_CONTAINERS = ("initContainers", "containers", "ephemeralContainers")


def no_logs(_pod: JSON, _container: str) -> bytes | None:
    """The source of a server without kubelets: no container ever starts."""
    return None


def read_log(request: Request, pod: JSON, source: LogSource) -> bytes:
    """What the chosen container printed; 400 when there is no such container or it has not started."""
    for option in ("follow", "previous", "timestamps"):
        if request.flag(option):
            raise not_served(f"the option {option} of pods/log")
    for option in ("sinceSeconds", "sinceTime"):
        if request.query.get(option):
            raise not_served(f"the option {option} of pods/log")
    container = _container(pod, request.query.get("container", ""))
    printed = source(pod, container)
    if printed is None:
        name = pod["metadata"]["name"]
        why = "ContainerCreating" if pod["spec"].get("nodeName") else "the pod has no node yet"
        raise bad_request(f'container "{container}" in pod "{name}" is waiting to start: {why}')
    return _cut(request, printed)


def _container(pod: JSON, asked: str) -> str:
    name, spec = pod["metadata"]["name"], pod["spec"]
    known = [container["name"] for key in _CONTAINERS for container in spec.get(key) or []]
    if asked:
        if asked not in known:
            raise bad_request(f"container {asked} is not valid for pod {name}")
        return asked
    if len(spec["containers"]) > 1 or len(known) > 1:
        choices = " ".join(known)
        raise bad_request(f"a container name must be specified for pod {name}, choose one of: [{choices}]")
    return str(known[0])


def _cut(request: Request, printed: bytes) -> bytes:
    tail, limit = request.number("tailLines"), request.number("limitBytes")
    if tail is not None:
        lines = printed.splitlines(keepends=True)
        printed = b"".join(lines[len(lines) - min(tail, len(lines)) :])
    return printed if limit is None else printed[:limit]
