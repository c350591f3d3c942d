"""Which pods are bound, or just being bound, so that a gang's barrier need not look at every member for each Bind.

Stands for the count of waiting and bound members that the coscheduling plugin keeps for a PodGroup. Law: it is told
of a pod whenever its object or the assumption about it changes, and nothing else matters.
"""

from gpuyard.groups.reservations import Reservation
from gpuyard_extender.ledger.claims import Assumption, Grade
from gpuyard_extender.ledger.pods import Pod


class Arrivals:
    """Pods by UID."""

    def __init__(self) -> None:
        self._grades: dict[str, Grade] = {}

    def settle(self, uid: str, pod: Pod | None, assumption: Assumption | None) -> None:
        """All that is known of a pod now."""
        grade = _grade(pod, assumption)
        if grade is None:
            self._grades.pop(uid, None)
        else:
            self._grades[uid] = grade

    def of(self, reservation: Reservation, *grades: Grade) -> set[str]:
        """UIDs of the seated pods that are known so well to be bound."""
        known = self._grades
        return {seat.uid for seat in reservation.seats if known.get(seat.uid) in grades}


def _grade(pod: Pod | None, assumption: Assumption | None) -> Grade | None:
    if pod is not None and pod.node:
        return None if pod.terminating or pod.phase == "Failed" else Grade.BOUND
    return assumption.grade if assumption is not None else None
