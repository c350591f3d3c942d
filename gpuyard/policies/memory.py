"""A policy that is told what pods are typical, and remembers what it has said of nodes that look alike.

Stands for kube-scheduler's score cache of old. Laws: what is remembered is what would be said anew, because a score
depends on its row, the pod and the workload alone; another workload ends all memory; memory is bounded.
"""

import dataclasses
from collections import defaultdict
from collections.abc import Callable
from typing import Final

import numpy as np

from gpuyard.policies.candidates import Candidates, Policy, best
from gpuyard.policies.profiles import Weighted
from gpuyard.policies.registry import BLIND, COSTLY
from gpuyard.policies.workload import NOTHING_KNOWN, Column, Workload

_MOST: Final = 100_000
"""Rows, of some 300 bytes each."""

_Scores = dict[bytes, int]


class Informed:
    """`policy`, with the workload that `known` gives whenever it is asked; of a profile, each of its policies."""

    def __init__(self, policy: Policy, known: Callable[[], Workload]) -> None:
        self._policy, self._known = policy, known
        self._parts = (
            policy.each(lambda part: Informed(part, known)) if isinstance(policy, Weighted) else None
        )
        self._workload: Workload | None = None
        self._scores: defaultdict[tuple[int, int], _Scores] = defaultdict(dict)

    def __call__(self, found: Candidates) -> Column:
        if self._parts is not None:
            return self._parts(found)
        if self._policy in BLIND:
            return best(self._policy(found))
        workload = self._known()
        told = dataclasses.replace(found, workload=workload, model=workload.bits(found.model))
        if self._policy not in COSTLY:
            return best(self._policy(told))
        if workload is not self._workload or sum(map(len, self._scores.values())) > _MOST:
            self._workload = workload
            self._scores.clear()
        return self._remembered(told, self._scores[found.asked_cpu, found.asked_memory])

    def apart(self) -> "Informed":
        """The same with the workload of now and a memory of its own: for another thread."""
        workload = NOTHING_KNOWN if self._policy in BLIND else self._known()
        return Informed(self._policy, lambda: workload)

    def _remembered(self, found: Candidates, scores: _Scores) -> Column:
        keys = _keys(found)
        missing = {key: row for row, key in enumerate(keys) if key not in scores}
        if missing:
            said = best(self._policy(found.at(np.array(list(missing.values())))))
            scores.update(zip(missing, said.tolist(), strict=True))
        return np.array([scores[key] for key in keys], np.int64)


def _keys(found: Candidates) -> list[bytes]:
    """Everything that is known of each row."""
    lines = np.ascontiguousarray(np.column_stack(list(found.columns().values())))
    step, content = lines.shape[1] * lines.itemsize, lines.tobytes()
    return [content[start : start + step] for start in range(0, len(content), step)]
