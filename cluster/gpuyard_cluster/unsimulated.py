"""What a pod relies on and nothing here simulates: said on the pod, never ignored in silence.

Stands for nothing in Kubernetes. Whoever writes a pod's conditions anyway, the scheduler while it waits and the
kubelet from then on, adds this one. Images and what runs in them, networks and the data in volumes are never
simulated, for no pod: what stands here changes when or where a pod runs, or what its containers see.
"""

from collections.abc import Iterator
from typing import Final

from gpuyard.pods.amounts import containers_of
from gpuyard.writes import JSON
from gpuyard_kube.timestamps import rfc3339

CONDITION: Final = "gpuyard.io/NotSimulated"

_SIMPLE_VOLUMES: Final = frozenset({"configMap", "downwardAPI", "emptyDir", "image", "projected", "secret"})
"""They need nobody to provide or attach them: a pod with them starts at once, here as anywhere."""
_OF_PODS: Final = ("resourceClaims", "runtimeClassName", "topologySpreadConstraints")
_OF_CONTAINERS: Final = ("envFrom", "lifecycle", "livenessProbe", "readinessProbe", "startupProbe")
_SOURCES: Final = ("configMapKeyRef", "fileKeyRef", "resourceFieldRef", "secretKeyRef")


def conditions(pod: JSON, now: float) -> list[JSON]:
    """The condition that names all of it; none where there is nothing. The time of an older one stays."""
    ignored = list(_relied_on(pod))
    if not ignored:
        return []
    old = (pod.get("status") or {}).get("conditions") or ()
    since = next((found.get("lastTransitionTime") for found in old if found.get("type") == CONDITION), None)
    return [
        {
            "type": CONDITION,
            "status": "True",
            "reason": "NotSimulated",
            "message": f"the pod runs as if it had none of: {', '.join(ignored)}",
            "lastTransitionTime": since or rfc3339(now),
        }
    ]


def _relied_on(pod: JSON) -> Iterator[str]:
    """Fields, and where they stand in lists, of which."""
    spec = pod["spec"]
    affinity = spec.get("affinity") or {}
    yield from (f"affinity.{name}" for name in ("podAffinity", "podAntiAffinity") if affinity.get(name))
    yield from (name for name in _OF_PODS if spec.get(name))
    for volume in spec.get("volumes") or ():
        yield from (f"{kind} of volume {volume['name']}" for kind in sorted(volume) if _is_hard(kind))
    for _, container in containers_of(pod):
        yield from (f"{what} of container {container['name']}" for what in _of_container(container))


def _is_hard(kind: str) -> bool:
    return kind != "name" and kind not in _SIMPLE_VOLUMES


def _of_container(container: JSON) -> Iterator[str]:
    yield from (name for name in _OF_CONTAINERS if container.get(name))
    if any(port.get("hostPort") for port in container.get("ports") or ()):
        yield "hostPort"
    sources = [entry.get("valueFrom") or {} for entry in container.get("env") or ()]
    yield from (name for name in _SOURCES if any(name in source for source in sources))
