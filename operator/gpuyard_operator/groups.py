"""A PodGroup (scheduling.x-k8s.io/v1alpha1), read from its object.

Of its spec nothing but minMember counts. `scheduleTimeoutSeconds` is accepted with any value (absent, 0 as
mpi-operator always writes, negative) and has no effect: a waiting gang holds nothing, so nothing need time out.
`minResources` is not trusted either: clients write it inconsistently with their pods, and the plan looks at the pods
themselves. What we add is an annotation, for typed clients drop fields of the spec that they do not know.
"""

from dataclasses import dataclass, field
from typing import Any

from gpuyard import nearness, vocabulary
from gpuyard.nearness import Nearness
from gpuyard.writes import JSON


@dataclass(frozen=True, slots=True)
class Group:
    """One PodGroup. `min_member` is at least 1: absent, 0 and negative mean that each member starts alone."""

    namespace: str
    name: str
    uid: str
    min_member: int = 1
    terminating: bool = False
    restarts: bool = False
    """When fewer than minMember are left of a started group, all are evicted, to start together again."""
    nearness: Nearness | None = None
    fault: str = ""
    """What cannot be understood of its wishes; its members wait until that is mended."""
    status: JSON = field(default_factory=dict)

    def condition(self, kind: str) -> JSON | None:
        """The condition of that type in the status, or None."""
        conditions = self.status.get("conditions") or ()
        return next((c for c in conditions if isinstance(c, dict) and c.get("type") == kind), None)


def path(namespace: str, name: str = "") -> str:
    """The API path of the pod groups of a namespace, or of one."""
    base = f"/apis/{vocabulary.POD_GROUP_API}/namespaces/{namespace}/podgroups"
    return f"{base}/{name}" if name else base


def read(obj: JSON | None) -> Group | None:
    """The group that an object is; None when there is none, or it has no name or uid."""
    metadata = (obj or {}).get("metadata") or {}
    if obj is None or not metadata.get("name") or not metadata.get("uid"):
        return None
    wish, fault = _nearness(metadata.get("annotations") or {})
    return Group(
        namespace=str(metadata.get("namespace", "")),
        name=str(metadata["name"]),
        uid=str(metadata["uid"]),
        min_member=_min_member((obj.get("spec") or {}).get("minMember")),
        terminating=bool(metadata.get("deletionTimestamp")),
        restarts=(metadata.get("annotations") or {}).get(vocabulary.BELOW_MINIMUM) == "restart",
        nearness=wish,
        fault=fault,
        status=obj.get("status") or {},
    )


def _nearness(annotations: JSON) -> tuple[Nearness | None, str]:
    try:
        return nearness.parse(annotations), ""
    except ValueError as error:
        return None, str(error)


def _min_member(value: Any) -> int:
    return value if isinstance(value, int) and value > 1 else 1
