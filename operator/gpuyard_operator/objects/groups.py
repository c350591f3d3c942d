"""A PodGroup (scheduling.x-k8s.io/v1alpha1), read from its object.

Of its spec nothing but minMember counts. `scheduleTimeoutSeconds` is accepted with any value (absent, 0 as
mpi-operator always writes, 60 as Trainer does, negative) and has no effect: it bounds how long members may hold nodes
while they wait for others, and a waiting gang holds nothing. A deadline is what an annotation says (`endings`).
`minResources` is not trusted either: clients write it inconsistently with their pods, and the plan looks at the pods
themselves. What we add is an annotation, for typed clients drop fields of the spec that they do not know.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, TypeVar

from gpuyard import vocabulary
from gpuyard.groups import nearness
from gpuyard.groups.nearness import Nearness
from gpuyard.pods import memberships
from gpuyard.writes import JSON
from gpuyard_kube.conditions import condition
from gpuyard_kube.timestamps import seconds

Key = tuple[str, str]
"""Namespace and name of a PodGroup, and of its Reservation."""

WAIT, RESTART, RELEASE = "wait", "restart", "release"
MOST_DIGITS: Final = 9
_Wish = TypeVar("_Wish")


@dataclass(frozen=True, slots=True)
class Group:
    """One PodGroup. `min_member` is at least 1: absent, 0 and negative mean that each member starts alone."""

    namespace: str
    name: str
    uid: str
    min_member: int = 1
    terminating: bool = False
    created_at: float = 0.0
    below: str = WAIT
    """What becomes of a started group of which fewer than minMember are left."""
    deadline_seconds: int = 0
    """How long it may take to start; 0: for ever."""
    nearness: Nearness | None = None
    fault: str = ""
    """What cannot be understood of its wishes; its members wait until that is mended."""
    status: JSON = field(default_factory=dict)
    """With the conditions, wherever they are kept."""
    keeps_conditions: bool = True
    """Whether its definition has them; where it is scheduler-plugins' own they are those of its Reservation."""
    record: JSON | None = None
    """The Reservation of its own, whether or not that holds places."""

    @property
    def can_end(self) -> bool:
        """Whether it may come to an end that is not its pods': see `endings`."""
        return self.below == RELEASE or self.deadline_seconds > 0

    def condition(self, kind: str) -> JSON:
        """The condition of that type in the status; empty where there is none."""
        return condition(self.status, kind)


def path(namespace: str, name: str = "") -> str:
    """The API path of the pod groups of a namespace, or of one."""
    base = f"/apis/{vocabulary.POD_GROUP_API}/namespaces/{namespace}/podgroups"
    return f"{base}/{name}" if name else base


def key_of(obj: JSON) -> Key:
    """The key of the group that a PodGroup or Reservation object is about."""
    return str(obj["metadata"].get("namespace", "")), str(obj["metadata"]["name"])


def read(obj: JSON | None, record: JSON | None = None) -> Group | None:
    """The group that an object is; None when there is none, or it has no name or uid.

    `record` is the Reservation of its name, which may be that of a namesake before it.
    """
    metadata = (obj or {}).get("metadata") or {}
    if obj is None or not metadata.get("name") or not metadata.get("uid"):
        return None
    annotations = metadata.get("annotations") or {}
    wish, fault = _read(nearness.parse, annotations)
    deadline, other_fault = _read(_deadline, annotations)
    own = record if record is not None and str(metadata["uid"]) in _owners(record) else None
    found = obj.get("status") or {}
    keeps = bool(found.get("conditions")) or not found.get("phase")  # they are written with every phase
    noted = ((own or {}).get("status") or {}).get("conditions") or []
    return Group(
        namespace=str(metadata.get("namespace", "")),
        name=str(metadata["name"]),
        uid=str(metadata["uid"]),
        min_member=memberships.min_member(obj),
        terminating=bool(metadata.get("deletionTimestamp")),
        created_at=seconds(metadata.get("creationTimestamp")) or 0.0,
        below=str(annotations.get(vocabulary.BELOW_MINIMUM)),
        deadline_seconds=deadline or 0,
        nearness=wish,
        fault=fault or other_fault,
        status=found if keeps else {**found, "conditions": noted},
        keeps_conditions=keeps,
        record=own,
    )


def _owners(record: JSON) -> list[str]:
    return [str(owner.get("uid")) for owner in record["metadata"].get("ownerReferences") or ()]


def _read(parse: Callable[[JSON], _Wish], annotations: JSON) -> tuple[_Wish | None, str]:
    try:
        return parse(annotations), ""
    except ValueError as error:
        return None, str(error)


def _deadline(annotations: JSON) -> int:
    text = str(annotations.get(vocabulary.SCHEDULE_DEADLINE, "0"))
    if not text.isdecimal() or len(text) > MOST_DIGITS:
        raise ValueError(
            f"{vocabulary.SCHEDULE_DEADLINE}: {text!r:.40} is no number of seconds; use 600, or 0"
        )
    return int(text)
