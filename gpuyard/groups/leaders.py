"""Pods that lead a gang and start at another time than its other members.

Stands for what each operator knows of its own framework, and its PodGroup does not say. Law: a rule is one line of a
table and goes by labels alone; a group with no pod that a rule names has no leader.

    framework                the leader                      starts
    MPI (mpi-operator)       job-role: launcher              with its workers; where it comes after them
    MPI (training-operator)  replica-type: launcher          (WaitForWorkersReady) they start without it. It counts
    Spark                    spark-role: driver              before its executors, which it creates itself. It counts
    Ray                      no ray.io/node-type: submitter  after the Ray nodes. It does not count

A leader that counts is one of minMember. A driver with GPUs holds them while its executors wait: nobody else could
start these.
"""

import enum
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from gpuyard.writes import JSON


class Start(enum.Enum):
    """When a leader starts."""

    BEFORE = "before"
    LATE = "late"
    """With the others where it is there in time, else after them."""
    AFTER = "after"


@dataclass(frozen=True, slots=True)
class Rule:
    """Pods with the label `member` are of this framework; `leader` is the label of their leader, None: that it has
    none of theirs. An empty value stands for any."""

    member: tuple[str, str]
    leader: tuple[str, str] | None
    start: Start

    def leads(self, labels: Mapping[str, str]) -> bool:
        """Whether the pod with these labels leads a group of this framework."""
        return not _has(labels, self.member) if self.leader is None else _has(labels, self.leader)


_KUBEFLOW: Final = "training.kubeflow.org"
RULES: Final = (
    Rule((f"{_KUBEFLOW}/operator-name", "mpi-operator"), (f"{_KUBEFLOW}/job-role", "launcher"), Start.LATE),
    Rule(
        (f"{_KUBEFLOW}/operator-name", "mpijob-controller"),
        (f"{_KUBEFLOW}/replica-type", "launcher"),
        Start.LATE,
    ),
    Rule(("spark-role", ""), ("spark-role", "driver"), Start.BEFORE),
    Rule(("ray.io/node-type", ""), None, Start.AFTER),
)


@dataclass(frozen=True, slots=True)
class Leaders:
    """The leaders of one group by UID, and when they start; None where its framework has none."""

    start: Start | None = None
    uids: frozenset[str] = frozenset()

    @property
    def apart(self) -> frozenset[str]:
        """Those that are no part of the gang that starts together."""
        return frozenset() if self.start is Start.LATE else self.uids


def find(pods: Iterable[JSON], needed: int) -> Leaders:
    """The leaders among the pods of a group with this minMember."""
    found = [pod for pod in pods if isinstance((pod.get("metadata") or {}).get("labels"), dict)]
    rule = next((rule for rule in RULES if any(_has(_labels(pod), rule.member) for pod in found)), None)
    if rule is None:
        return Leaders()
    leading = [pod for pod in found if rule.leads(_labels(pod))]
    if rule.start is Start.BEFORE and len(leading) >= needed:
        return Leaders()  # a group of one, as spark-operator writes it: each of its pods starts alone
    return Leaders(rule.start, frozenset(str(pod["metadata"].get("uid")) for pod in leading))


def _labels(pod: JSON) -> Mapping[str, str]:
    labels: Mapping[str, str] = pod["metadata"]["labels"]
    return labels


def _has(labels: Mapping[str, str], wanted: tuple[str, str]) -> bool:
    key, value = wanted
    return key in labels and value in ("", labels[key])
