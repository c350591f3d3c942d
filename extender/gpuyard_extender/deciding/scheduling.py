"""The verbs Filter and Prioritize, as functions of the ledger.

Stands for the scheduling cycle. kube-scheduler filters the next pod before the Bind of the last one arrives, and
has no Reserve verb: so the node that is ranked first is assumed at once.
"""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gpuyard.groups.reservations import Seat
from gpuyard.placing import scoring, views
from gpuyard.placing.cluster import Node, Placement
from gpuyard.placing.views import Answers
from gpuyard.policies.candidates import Policy
from gpuyard.policies.workload import Column
from gpuyard.verdicts import Reason, Rejection
from gpuyard_extender.deciding import feasibility
from gpuyard_extender.ledger.claims import Grade
from gpuyard_extender.ledger.ledger import Ledger
from gpuyard_extender.ledger.pods import Pod


@dataclass(frozen=True, slots=True)
class Filtered:
    """The names of the nodes that pass, and of the others by reason; in the order asked."""

    passed: tuple[str, ...]
    rejected: Mapping[Reason, tuple[str, ...]]


def filter_nodes(pod: Pod, names: Sequence[str], ledger: Ledger, now: float) -> Filtered:
    """Which nodes can take the pod. With one survivor kube-scheduler asks no more: it is assumed here."""
    ledger.forget(pod.uid, Grade.TENTATIVE)
    names, rows = _once(names, ledger)
    answers = _answers(pod, names, rows, ledger, now)
    filtered = _sorted_out(names, answers)
    # kube-scheduler ranks next what has passed, in this order.
    ledger.holdings.fleet.expect(filtered.passed, rows[answers.passing()])
    if len(filtered.passed) == 1:
        _assume(pod, filtered.passed[0], ledger, now)
    return filtered


def verdicts(pod: Pod, names: Sequence[str], ledger: Ledger, now: float) -> Filtered:
    """What Filter says; nothing is assumed."""
    names, rows = _once(names, ledger)
    return _sorted_out(names, _answers(pod, names, rows, ledger, now))


def prioritize(pod: Pod, names: Sequence[str], ledger: Ledger, policy: Policy, now: float) -> dict[str, int]:
    """A rank for each node, n for the best to 1: no two are equal, so kube-scheduler has no choice left.

    Nodes that filled up since Filter come last.
    """
    ledger.forget(pod.uid, Grade.TENTATIVE)
    names, rows = _once(names, ledger)
    answers, fleet = _answers(pod, names, rows, ledger, now), ledger.holdings.fleet
    passing = answers.passing()
    found = answers.candidacy(passing, pod.fit.requests, pod.uid, fleet)
    best_first = scoring.best_first(fleet.by_name(rows[passing]), policy(found.candidates), found.preferences)
    order = [names[i] for i in passing[best_first].tolist()]
    if order:
        _assume(pod, order[0], ledger, now)
    if len(order) < len(names):
        order += sorted(_where(names, answers.verdicts != views.PASSES))
    return dict(zip(order, range(len(order), 0, -1), strict=True))


def judge(pod: Pod, name: str, ledger: Ledger, now: float) -> Placement | Rejection:
    """The verdict on one node, in full, by the ledger as it is now, in which the pod's own claim does not count."""
    seated = ledger.seat(pod.uid, now)
    return _verdict(pod, name, ledger.node(name, now, ledger.yielding([pod])), seated[1] if seated else None)


def _once(names: Sequence[str], ledger: Ledger) -> tuple[Sequence[str], Column]:
    """The names, each once however often it was sent, and their rows."""
    rows = ledger.holdings.find(names)
    if (np.bincount(rows + 1) > 1).any():
        names = tuple(dict.fromkeys(names))
        rows = ledger.holdings.find(names)
    return names, rows


def _answers(pod: Pod, names: Sequence[str], rows: Column, ledger: Ledger, now: float) -> Answers:
    """The verdicts of `judge` on all nodes, from what is remembered wherever that is possible."""
    seated, holdings = ledger.seat(pod.uid, now), ledger.holdings
    if isinstance(pod.request, Rejection):
        return Answers.uniform(rows, pod.request.reason)
    if feasibility.needs_seat(pod):
        answers = Answers.uniform(rows, Reason.RESERVATION_MISSING)
    elif seated is not None:
        answers = Answers.uniform(rows, None)
    else:
        answers = holdings.view(pod.fit, pod.request).answers(rows, pod.fit.requests)
    # What yields to the pod is counted in `answers`, but must not be.
    yielding = holdings.by_node(ledger.yielding([pod]))
    seat = seated[1] if seated else None
    for name in (*yielding, seat.node if seat else ""):
        if name in holdings.fleet.rows:
            answers.verdicts[rows == holdings.fleet.rows[name]] = views.UNDECIDED
    for i in np.flatnonzero(answers.verdicts == views.UNDECIDED).tolist():
        node = ledger.node(names[i], now, yielding.get(names[i], ()))
        if node is not None:
            answers.put(i, _verdict(pod, names[i], node, seat))
            if not isinstance(pod.request, Rejection):
                answers.meet(i, pod.fit, pod.request, node)
    return answers


def _verdict(pod: Pod, name: str, node: Node | None, seat: Seat | None) -> Placement | Rejection:
    if node is None:
        return Rejection(name, Reason.NODE_NOT_READY, "the extender has not seen the node")
    return feasibility.judge(pod, node, seat)


def _sorted_out(names: Sequence[str], answers: Answers) -> Filtered:
    verdicts = answers.verdicts
    codes = np.flatnonzero(np.bincount(verdicts + 1)[1:]).tolist()
    rejected = {views.REASONS[code]: _where(names, verdicts == code) for code in codes}
    return Filtered(_where(names, verdicts == views.PASSES), rejected)


def _where(names: Sequence[str], chosen: npt.NDArray[np.bool_]) -> tuple[str, ...]:
    # As bytes, because numpy would make an object of each truth.
    return tuple(itertools.compress(names, chosen.tobytes()))


def _assume(pod: Pod, name: str, ledger: Ledger, now: float) -> None:
    """An assumption that is surer than this one stays."""
    if ledger.assumption(pod.uid, now) is None:
        found = judge(pod, name, ledger, now)
        if isinstance(found, Placement):
            ledger.assume(found, Grade.TENTATIVE, now)
