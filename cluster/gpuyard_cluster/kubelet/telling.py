"""What a kubelet tells people about a pod: the events that `kubectl describe pod` shows.

Stands for the kubelet's calls of its event recorder. Law: what is told follows from the difference of two statuses,
so that nothing is told twice and nothing is told that was not written.
"""

from collections.abc import Iterator

from gpuyard.writes import JSON
from gpuyard_cluster.kubelet.pod_status import CANNOT_CREATE
from gpuyard_kube.recording import Told


def of_write(pod: JSON, status: JSON) -> list[Told]:
    """The events of a change of the pod's status to `status`."""
    if status.get("reason") and "containerStatuses" not in status:
        return [Told(pod, status["reason"], status["message"], warning=True)]
    found = [*_parts(pod, status, "initContainers"), *_parts(pod, status, "containers")]
    return [told for container, part, new in found for told in _changes(pod, container, part, new)]


def _parts(pod: JSON, status: JSON, field: str) -> Iterator[tuple[JSON, str, tuple[JSON, JSON]]]:
    """Container, its path, and its old and new status."""
    key = f"{field.removesuffix('s')}Statuses"
    old = {found["name"]: found for found in (pod.get("status") or {}).get(key) or ()}
    new = {found["name"]: found for found in status.get(key) or ()}
    for container in pod["spec"].get(field) or ():
        name = container["name"]
        if name in new:
            yield container, f"spec.{field}{{{name}}}", (old.get(name) or {}, new[name])


def _changes(pod: JSON, container: JSON, part: str, statuses: tuple[JSON, JSON]) -> Iterator[Told]:
    old, new = statuses
    name, image = container["name"], container.get("image", "")
    if _runs(new) > _runs(old):
        text = f'Container image "{image}" already present on machine and can be accessed by the pod'
        yield Told(pod, "Pulled", text, part=part)
        yield Told(pod, "Created", "Container created", part=part)
        yield Told(pod, "Started", "Container started", part=part)
    waits, waited = (state.get("waiting") or {} for state in (new["state"], old.get("state") or {}))
    if waits.get("reason") == CANNOT_CREATE and waits != waited:
        yield Told(pod, "Failed", f"Error: {waits['message']}", warning=True, part=part)
    if waits.get("reason") == "CrashLoopBackOff" and not waited:
        metadata = pod["metadata"]
        whose = f"{metadata['name']}_{metadata['namespace']}({metadata['uid']})"
        text = f"Back-off restarting failed container {name} in pod {whose}"
        yield Told(pod, "BackOff", text, warning=True, part=part)
    killed = pod["metadata"].get("deletionTimestamp") and "terminated" in new["state"]
    if killed and "running" in (old.get("state") or {}):
        yield Told(pod, "Killing", f"Stopping container {name}", part=part)


def _runs(status: JSON) -> int:
    """How many runs of a container have begun."""
    state = status.get("state") or {}
    begun = "running" in state or "terminated" in state or bool(status.get("lastState"))
    return int(status.get("restartCount", 0)) + begun
