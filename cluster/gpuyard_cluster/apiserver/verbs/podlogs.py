"""The output of containers.

Stands for `pods/log` of kube-apiserver, which asks the kubelet; here the server asks its `LogSource`.
"""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime

from gpuyard.writes import JSON
from gpuyard_cluster.apiserver.errors import bad_request
from gpuyard_cluster.apiserver.requests import Request
from gpuyard_cluster.logs import LogLine, NoLogsError
from gpuyard_kube.timestamps import seconds

LogSource = Callable[[JSON, str, bool], Sequence[LogLine]]
"""(pod, container name, whether of the run before) -> all that it printed. NoLogsError before it has started."""

_CONTAINERS = ("initContainers", "containers", "ephemeralContainers")


def no_logs(_pod: JSON, _container: str, _previous: bool) -> Sequence[LogLine]:
    """The source of a server without kubelets: no container ever starts."""
    raise NoLogsError


def read_log(request: Request, pod: JSON, source: LogSource, now: float) -> bytes:
    """What the chosen container printed; 400 when there is no such container or it has not started."""
    container, previous = container_of(request, pod), bool(request.flag("previous"))
    try:
        lines = source(pod, container, previous)
    except NoLogsError as error:
        raise _refusal(pod, container, str(error) if previous else "") from error
    since = _since(request, now)
    kept = [line for line in lines if line.at >= since]
    tail, limit = request.number("tailLines"), request.number("limitBytes")
    if tail is not None:
        kept = kept[len(kept) - min(tail, len(kept)) :]
    printed = rendered(request, kept)
    return printed if limit is None else printed[:limit]


def rendered(request: Request, lines: Sequence[LogLine]) -> bytes:
    """Lines as the request wants them."""
    stamped = request.flag("timestamps")
    return "".join(
        f"{_stamp(line.at)} {line.text}\n" if stamped else f"{line.text}\n" for line in lines
    ).encode()


def container_of(request: Request, pod: JSON) -> str:
    """The container that the request names, or the only one."""
    name, spec, asked = pod["metadata"]["name"], pod["spec"], request.query.get("container", "")
    known = [container["name"] for key in _CONTAINERS for container in spec.get(key) or []]
    if asked:
        if asked not in known:
            raise bad_request(f"container {asked} is not valid for pod {name}")
        return asked
    if len(spec["containers"]) > 1 or len(known) > 1:
        choices = " ".join(known)
        raise bad_request(f"a container name must be specified for pod {name}, choose one of: [{choices}]")
    return str(known[0])


def _refusal(pod: JSON, container: str, why: str) -> Exception:
    if why:
        return bad_request(why)
    name = pod["metadata"]["name"]
    why = "ContainerCreating" if pod["spec"].get("nodeName") else "the pod has no node yet"
    return bad_request(f'container "{container}" in pod "{name}" is waiting to start: {why}')


def _since(request: Request, now: float) -> float:
    """The time before which lines are left out."""
    span, moment = request.number("sinceSeconds"), request.query.get("sinceTime")
    if span is not None and moment:
        raise bad_request("at most one of `sinceTime` or `sinceSeconds` may be specified")
    if span is not None:
        return now - span
    found = seconds(moment) if moment else 0.0
    if found is None:
        raise bad_request(
            f'invalid value "{moment}" for the query parameter sinceTime: not a time of RFC 3339'
        )
    return found


def _stamp(at: float) -> str:
    return f"{datetime.fromtimestamp(at, UTC):%Y-%m-%dT%H:%M:%S.%f}000Z"
