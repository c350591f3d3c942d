"""What a container sees: its environment.

Stands for the container runtime and for `kubectl logs`. A fake container does one thing: it prints its environment.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from gpuyard.amounts import containers_of
from gpuyard.writes import JSON
from gpuyard_cluster.kubelet.device_manager import Holding


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


def printed(environment: Mapping[str, str]) -> str:
    """The log of a container: KEY=value lines, sorted."""
    return "".join(f"{key}={value}\n" for key, value in sorted(environment.items()))


def _written(container: JSON, pod: JSON) -> dict[str, str]:
    """`value`, and `valueFrom.fieldRef` of plain paths such as metadata.name; no other source is known here."""
    entries = container.get("env") or ()
    return {found["name"]: str(found.get("value") or _field(found, pod)) for found in entries}


def _field(entry: JSON, pod: JSON) -> str:
    path = ((entry.get("valueFrom") or {}).get("fieldRef") or {}).get("fieldPath", "")
    found: Any = pod
    for part in path.split("."):
        found = found.get(part) if isinstance(found, dict) else None
    return found if isinstance(found, str) else ""
