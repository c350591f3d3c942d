"""Faults of GPUs: which a node's annotations tell of, and which of them make a device unhealthy.

Stands for NVIDIA's internal/rm/health.go, where the driver tells of XIDs. Nobody has a driver here: who annotates the
node with gpuyard.io/xid-<index> says what the driver would have said. That outlives every part, and is at hand
wherever kubectl is. Unlike NVIDIA's, a device recovers when its annotation goes.
"""

import dataclasses
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from gpuyard import vocabulary
from gpuyard.gpus import GPU
from gpuyard.writes import JSON

OF_APPLICATIONS: Final = frozenset({13, 31, 43, 45, 68, 109})
"""XIDs that NVIDIA's plugin ignores unless told otherwise: what a program did, and the GPU is as good as before."""
_ALL: Final = ("all", "xids")


@dataclass(frozen=True, slots=True)
class Policy:
    """Which XIDs count."""

    ignored: frozenset[int] = OF_APPLICATIONS
    counted: frozenset[int] = frozenset()
    """Whatever else is ignored."""
    ignore_all: bool = False

    def makes_sick(self, xid: int) -> bool:
        return xid in self.counted or not (self.ignore_all or xid in self.ignored)


NVIDIAS: Final = Policy()
"""Where nobody says otherwise."""


def policy(disabled: str, enabled: str) -> Policy:
    """As NVIDIA's DP_DISABLE_HEALTHCHECKS and DP_ENABLE_HEALTHCHECKS say. ValueError for what is no XID."""
    words = {word.strip() for word in disabled.lower().split(",")} - {""}
    numbers = _numbers(words - set(_ALL))
    counted = _numbers({word.strip() for word in enabled.split(",")} - {""})
    return Policy(OF_APPLICATIONS | numbers, counted, bool(words.intersection(_ALL)))


class Driver:
    """What a driver would have told so far."""

    def __init__(self, policy: Policy = NVIDIAS) -> None:
        self._policy = policy
        self._problems: frozenset[str] = frozenset()
        self.xids: Mapping[int, int] = {}
        """By GPU index."""

    def hear(self, node: JSON | None, indexes: Collection[int]) -> tuple[Mapping[int, bool], Sequence[str]]:
        """Which GPUs, of those that there are, turn healthy or not; and what is newly found to be nonsense."""
        if node is None:
            return {}, ()
        before, known = self._sick(), self._problems
        self.xids, self._problems = _read(node, indexes)
        changed = sorted(before ^ self._sick())
        return {index: index in before for index in changed if index in indexes}, sorted(
            self._problems - known
        )

    def seen(self, gpus: Iterable[GPU]) -> tuple[GPU, ...]:
        """The GPUs, unhealthy where the driver says so."""
        sick = self._sick()
        return tuple(dataclasses.replace(gpu, healthy=gpu.healthy and gpu.index not in sick) for gpu in gpus)

    def _sick(self) -> frozenset[int]:
        return frozenset(index for index, xid in self.xids.items() if self._policy.makes_sick(xid))


def _read(node: JSON, indexes: Collection[int]) -> tuple[Mapping[int, int], frozenset[str]]:
    """What the annotations tell, and a line for each that cannot be used."""
    xids: dict[int, int] = {}
    problems = set[str]()
    notes = (node.get("metadata") or {}).get("annotations") or {}
    for key, text in notes.items():
        prefix, found, index = key.partition(vocabulary.XID_PREFIX)
        if prefix or not found:
            continue
        try:
            xids[_number(index)] = _number(text)
        except ValueError:
            problems.add(f'{key}: {text!r} is ignored; write {vocabulary.XID_PREFIX}0: "79" or the like')
            continue
        if int(index) not in indexes:
            problems.add(f"{key}: the node has no GPU {index}")
    return xids, frozenset(problems)


def _numbers(words: set[str]) -> frozenset[int]:
    return frozenset(_number(word) for word in words)


def _number(text: object) -> int:
    if not (isinstance(text, str) and text.isascii() and text.isdigit() and len(text) <= 6):
        raise ValueError(f"{text!r} is no XID")
    return int(text)
