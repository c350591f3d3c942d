"""A queue: how much of which resource the pods of one tenant may hold at one time.

Stands for the ClusterQueue of Kueue without borrowing: a resource without a quota is not limited. Who waits is served
by priority, then by age.
"""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field

from gpuyard.fit import Amounts
from gpuyard.verdicts import Reason, Rejection


@dataclass(frozen=True, slots=True)
class Queue:
    """`quota` and `used` by resource, in the units of `fit.Amounts`."""

    name: str
    quota: Mapping[str, int] = field(default_factory=dict)
    used: Mapping[str, int] = field(default_factory=dict)

    def with_usage(self, requests: Amounts) -> "Queue":
        """This queue with a pod or gang of these requests admitted."""
        return dataclasses.replace(self, used=self._moved(requests, 1))

    def without_usage(self, requests: Amounts) -> "Queue":
        """This queue after that pod or gang ended; never below zero."""
        return dataclasses.replace(self, used=self._moved(requests, -1))

    def left(self, resource: str) -> int:
        """What may still be admitted of a resource with a quota; 0 when it is over its quota."""
        return max(0, self.quota[resource] - self.used.get(resource, 0))

    def _moved(self, requests: Amounts, sign: int) -> dict[str, int]:
        moved = {
            resource: max(0, self.used.get(resource, 0) + sign * requests.get(resource, 0))
            for resource in {*self.used, *requests}
        }
        return {resource: amount for resource, amount in moved.items() if amount}


def turn(priority: int, since: int) -> tuple[int, int]:
    """The place in a line, the lowest first: by priority, then by age."""
    return -priority, since


def admits(queue: Queue, requests: Amounts) -> Rejection | None:
    """Why the queue does not admit these requests, of one pod or of a whole gang; None when it does."""
    short = [
        f"{resource}: needs {requests[resource]}, {queue.left(resource)} left of {quota}"
        for resource, quota in sorted(queue.quota.items())
        if requests.get(resource, 0) > queue.left(resource)
    ]
    if not short:
        return None
    return Rejection("", Reason.QUOTA_EXCEEDED, f"queue {queue.name}: {'; '.join(short)}")
