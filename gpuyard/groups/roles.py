"""Which part a pod plays in its gang: whoever needs some of each may not start with many of one.

Stands for the minimum of each task in Volcano's jobs. PodGroups have one minimum and no roles, so a role is what
operators of frameworks write on their pods. Law: by labels alone, of the pods that are there; without them all are of
one role. Where not all members have room each role has its turn, and nobody starts without the head that is there.

    label                                     written by                     of the head
    ray.io/group                              KubeRay                        ray.io/node-type: head
    training.kubeflow.org/replica-type        training-operator              training.kubeflow.org/job-role: master
    volcano.sh/task-spec                      clients of Volcano             -
    jobset.sigs.k8s.io/replicatedjob-name     JobSet, and Trainer by it      -
    leaderworkerset.sigs.k8s.io/worker-index  LeaderWorkerSet                the same: 0
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeVar

_Member = TypeVar("_Member")
LABELS: Final = (
    "ray.io/group",
    "training.kubeflow.org/replica-type",
    "volcano.sh/task-spec",
    "jobset.sigs.k8s.io/replicatedjob-name",
)
HEADS: Final = (
    ("ray.io/node-type", "head"),
    ("training.kubeflow.org/job-role", "master"),
    ("leaderworkerset.sigs.k8s.io/worker-index", "0"),
)


@dataclass(frozen=True, slots=True)
class Role:
    """The name of a role, empty where there are none, and whether the others are nothing without this pod."""

    name: str = ""
    heads: bool = False


def role_of(labels: Mapping[str, Any]) -> Role:
    """The role of a pod with these labels."""
    name = next((str(labels[key]) for key in LABELS if labels.get(key)), "")
    return Role(name, any(labels.get(key) == value for key, value in HEADS))


def in_turn(members: Iterable[tuple[_Member, Role]]) -> tuple[_Member, ...]:
    """The heads, then one of each role after the other, each role in the order given."""
    seen, turns = Counter[str](), list[tuple[int, _Member]]()
    for member, role in members:
        turns.append((-1 if role.heads else seen[role.name], member))
        seen[role.name] += not role.heads
    return tuple(member for _, member in sorted(turns, key=lambda turn: turn[0]))
