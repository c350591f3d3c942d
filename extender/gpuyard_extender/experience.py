"""What pods are typical, as learnt from those that hold a place now.

Stands for the workload that the paper "Beware of Fragmentation" takes from a trace. Law: it depends on what the
cluster holds alone, and is worked out anew when about as much has changed again as it was learnt from.
"""

import itertools
from typing import Final

from gpuyard.policies import workload
from gpuyard.policies.workload import NOTHING_KNOWN, Workload
from gpuyard_extender.holdings import Holdings

_MOST: Final = 2000
"""Pods that are looked at: enough for every shape that matters, and some 10 ms."""
_FEWEST_CHANGES: Final = 32


class Experience:
    """The workload of a cluster."""

    def __init__(self, holdings: Holdings) -> None:
        self._holdings = holdings
        self._workload, self._due = NOTHING_KNOWN, 0

    def workload(self) -> Workload:
        """The typical pods of late."""
        changes = self._holdings.changes
        if changes >= self._due:
            seen = list(itertools.islice(self._holdings.shapes(), _MOST))
            self._workload, self._due = workload.typical(seen), changes + max(_FEWEST_CHANGES, len(seen))
        return self._workload
