"""What a container sees: its environment.

Stands for the container runtime and for `kubectl logs`. A fake container does one thing: when it starts, it prints
its environment, and its devices as a program for them would.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from gpuyard.pods.amounts import containers_of
from gpuyard.writes import JSON
from gpuyard_cluster.kubelet.checkpoint import Started
from gpuyard_cluster.kubelet.device_manager import Holding
from gpuyard_cluster.kubelet.runs import Run
from gpuyard_cluster.logs import LogLine, NoLogsError

Screen = Callable[[Mapping[str, str]], Sequence[str]]
"""What a program prints of the devices that it finds through its environment."""


def blank(_environment: Mapping[str, str]) -> Sequence[str]:
    """The screen of a node without devices."""
    return ()


def environments(pod: JSON, holdings: Iterable[Holding]) -> dict[str, dict[str, str]]:
    """Container -> its environment: what the plugins gave, under what the pod's spec says, as in the kubelet."""
    given: dict[str, dict[str, str]] = {}
    for held in holdings:
        given.setdefault(held.container, {}).update(held.envs)
    return {
        container["name"]: {
            "HOSTNAME": pod["metadata"]["name"],
            **given.get(container["name"], {}),
            **_written(container, pod),
        }
        for _, container in containers_of(pod)
    }


def printed(pod: JSON, started: Started, container: str, screen: Screen, run: Run) -> list[LogLine]:
    """What a container printed in a run: KEY=value lines, sorted, then what it sees of its devices. NoLogsError."""
    if container not in started.environments:
        raise NoLogsError(f"container {container} is not valid for pod {pod['metadata']['name']}")
    environment = started.environments[container]
    lines = [*(f"{key}={value}" for key, value in sorted(environment.items())), *screen(environment)]
    return [LogLine(run.since, line) for line in lines]


def _written(container: JSON, pod: JSON) -> dict[str, str]:
    """`value`, and `valueFrom.fieldRef` of plain paths such as metadata.name; no other source is known here."""
    entries = container.get("env") or ()
    return {found["name"]: str(found.get("value") or _field(found, pod)) for found in entries}


def _field(entry: JSON, pod: JSON) -> str:
    """A plain path such as metadata.name, or one entry as in metadata.labels['key']."""
    path = ((entry.get("valueFrom") or {}).get("fieldRef") or {}).get("fieldPath", "")
    plain, _, key = path.partition("['")
    found: Any = pod
    for part in plain.split(".") + ([key.removesuffix("']")] if key else []):
        found = found.get(part) if isinstance(found, dict) else None
    return found if isinstance(found, str) else ""
