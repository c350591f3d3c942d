"""Which PodGroup a pod belongs to.

Stands for `util.GetPodGroupLabel` of scheduler-plugins. Law: one pod is a member of one group at most, in its own
namespace; of several claims the first form below counts, and the groups that do not get it say so. A pod with
kube-scheduler's own `spec.schedulingGroup` is left to kube-scheduler, whatever else it says, and one with Volcano's
annotation to Volcano, where that schedules it.

    form                                               written by
    label scheduling.x-k8s.io/pod-group                scheduler-plugins since 2023 and all its clients
    label pod-group.scheduling.x-k8s.io                scheduler-plugins, early in 2023
    label pod-group.scheduling.sigs.k8s.io             scheduler-plugins before 2023, Koordinator
    label pod-group.scheduling.sigs.k8s.io/name        the same, for groups without an object; here they need one
    annotation scheduling.k8s.io/group-name            kube-batch, Volcano and its clients

The gate's admission policy (`manifests/gang-gate-policy.yaml`) says the same in CEL; a test holds both together.
"""

from typing import Any, Final

from gpuyard import vocabulary
from gpuyard.writes import JSON

LABELS: Final = (
    vocabulary.POD_GROUP,
    "pod-group.scheduling.x-k8s.io",
    "pod-group.scheduling.sigs.k8s.io",
    "pod-group.scheduling.sigs.k8s.io/name",
)
ANNOTATION: Final = "scheduling.k8s.io/group-name"
OTHER_SCHEDULERS: Final = ("volcano", "kube-batch")
"""They start the groups of the annotation themselves."""


def group_of(pod: JSON) -> str | None:
    """The name of the group whose members start when its gang can start; None for all other pods."""
    return None if is_native(pod) else claimed(pod)


def claimed(pod: JSON) -> str | None:
    """The name of the group that the pod's own labels and annotations claim; of several the first."""
    return next(iter(claims(pod)), None)


def claims(pod: JSON) -> tuple[str, ...]:
    """The names of all groups that they claim, each once, in the order of the forms above."""
    metadata = _part(pod, "metadata")
    labels, notes = _part(metadata, "labels"), _part(metadata, "annotations")
    marks = [labels.get(key) for key in LABELS]
    if _part(pod, "spec").get("schedulerName") not in OTHER_SCHEDULERS:
        marks.append(notes.get(ANNOTATION))
    return tuple(dict.fromkeys(str(mark) for mark in marks if mark))


def alone(uid: str) -> str:
    """The name of the group of one that a pod without a group is, where places are held for it."""
    return f"pod-{uid}"


def is_native(pod: JSON) -> bool:
    """Whether the pod is of a scheduling.k8s.io PodGroup, which kube-scheduler starts by itself."""
    return bool(_part(pod, "spec").get("schedulingGroup"))


def is_selectable(pod: JSON) -> bool:
    """Whether a label selector on the usual label finds the pod among its group."""
    return bool(_part(_part(pod, "metadata"), "labels").get(vocabulary.POD_GROUP))


def min_member(group: JSON) -> int:
    """How many members of a PodGroup start together; 1 where minMember is absent, below 1, or no whole number."""
    found = _part(group, "spec").get("minMember")
    return found if isinstance(found, int) and found > 1 else 1


def _part(obj: JSON, name: str) -> dict[str, Any]:
    found = obj.get(name)
    return found if isinstance(found, dict) else {}
