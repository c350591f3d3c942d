"""What the extender has decided, pod by pod and verb by verb, as values: docs/decisions.md has the format.

Stands for the audit log of an API server, for scheduling. Laws: a decision is told after it was made, and telling it
can change nothing; what a decision was made of is in it, so that nobody has to look it up later.
"""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Protocol

from gpuyard.annotations import ids
from gpuyard.groups.plans import PlanAnswer, Planned, PlanRequest, Unplaceable
from gpuyard.pods.fit import Amounts
from gpuyard.pods.wishes import NONE, Wishes
from gpuyard.preempting.stakes import Victims
from gpuyard.verdicts import Rejection
from gpuyard.writes import JSON
from gpuyard_extender.binding.binding import BindRequest
from gpuyard_extender.deciding.scheduling import Filtered
from gpuyard_extender.ledger.ledger import Ledger
from gpuyard_extender.ledger.pods import Pod
from gpuyard_extender.reporting.tally import PASSED

VERSION: Final = 1
MOST_NODES: Final = 64


@dataclass(frozen=True, slots=True)
class Decision:
    """One answer to one verb. `node` and `devices`: where the pod is to go, as far as that is decided.

    `nodes` by verdict, and the `order` in which they are ranked, are for `History`: the first `MOST_NODES` of each.
    """

    verb: str
    namespace: str
    name: str
    uid: str
    time: float
    asks: Amounts = field(default_factory=dict)
    wishes: Wishes = NONE
    candidates: int = 0
    verdicts: Mapping[str, int] = field(default_factory=dict)
    node: str = ""
    devices: Sequence[str] = ()
    victims: Mapping[str, Sequence[str]] = field(default_factory=dict)
    error: str = ""
    nodes: Mapping[str, Sequence[str]] = field(default_factory=dict)
    order: Sequence[str] = ()

    def to_json(self) -> JSON:
        """What is empty is left out, but for what every reader looks at."""
        wished = {
            "models": list(self.wishes.models),
            "memoryMiB": self.wishes.memory_mib,
            "topology": self.wishes.topology.value if self.wishes.topology != NONE.topology else "",
            "shareMilli": self.wishes.limits.milli,
            "shareMiB": self.wishes.limits.mib,
        }
        more = {
            "wishes": {key: found for key, found in wished.items() if found},
            "verdicts": self.verdicts,
            "node": self.node,
            "devices": list(self.devices),
            "victims": self.victims,
            "error": self.error,
        }
        return {
            "v": VERSION,
            "time": round(self.time, 6),
            "verb": self.verb,
            "uid": self.uid,
            "pod": f"{self.namespace}/{self.name}",
            "asks": self.asks,
            "candidates": self.candidates,
            **{key: found for key, found in more.items() if found},
        }


class Book(Protocol):
    """Where decisions are noted. Noting one never waits and never fails."""

    @property
    def written(self) -> int:
        """So many decisions can be read."""

    @property
    def lost(self) -> int:
        """So many could not be written."""

    def note(self, decision: Decision) -> None:
        """Keep it, or count it as lost."""


def of_filter(pod: Pod, candidates: int, found: Filtered, ledger: Ledger, now: float) -> Decision:
    """With one survivor the place is decided as well."""
    every = {**{reason.value: names for reason, names in found.rejected.items()}, PASSED: found.passed}
    only = found.passed[0] if len(found.passed) == 1 else ""
    return _about(
        *("filter", pod, candidates, now),
        verdicts={verdict: len(names) for verdict, names in every.items() if names},
        nodes={verdict: names[:MOST_NODES] for verdict, names in every.items() if names},
        **_assumed(pod, only, ledger, now),
    )


def of_prioritize(pod: Pod, ranks: Mapping[str, int], ledger: Ledger, now: float) -> Decision:
    """The node that is ranked first, if it still has room."""
    order, first = (*itertools.islice(ranks, MOST_NODES),), next(iter(ranks), "")
    return _about("prioritize", pod, len(ranks), now, order=order, **_assumed(pod, first, ledger, now))


def of_preempt(pod: Pod, candidates: int, found: Mapping[str, Victims], now: float) -> Decision:
    """The victims (UIDs) on the node that is offered."""
    victims = {name: list(offer.uids) for name, offer in found.items()}
    return _about("preempt", pod, candidates, now, victims=victims)


def of_plan(request: PlanRequest, found: PlanAnswer, ledger: Ledger, now: float) -> Iterator[Decision]:
    """For each member its place; where the gang has none, for the first without one. `candidates` are the members."""
    pods = {uid: ledger.pods.get(uid) for uid in request.members}
    places = {seat.uid: seat for seat in found.reservation.seats} if isinstance(found, Planned) else {}
    for uid, pod in pods.items():
        if pod is None:
            continue
        told = _about("plan", pod, len(pods), now)
        if uid in places:
            yield replace(told, node=places[uid].node, devices=sorted(ids(places[uid].allocation)))
        elif isinstance(found, Unplaceable) and pod.name == found.member:
            yield _without_place(told, found)


def _without_place(told: Decision, found: Unplaceable) -> Decision:
    nodes: dict[str, list[str]] = {}
    for rejection in found.rejections:
        nodes.setdefault(rejection.reason.value, []).append(rejection.node)
    counts = {reason: len(names) for reason, names in nodes.items()}
    shown = {reason: [*filter(None, names)][:MOST_NODES] for reason, names in nodes.items()}
    others = f", so that none of {told.candidates} members starts" if told.candidates > 1 else ""
    return replace(told, verdicts=counts, nodes=shown, error=f"{found.member} has no place{others}")


def of_bind(request: BindRequest, error: str, ledger: Ledger, now: float) -> Decision:
    """The node that kube-scheduler named; with the devices where the pod is bound."""
    pod, assumption = ledger.pods.get(request.uid), ledger.assumption(request.uid, now)
    planned = assumption.placement.allocation if assumption else pod.plan if pod else {}
    return Decision(
        "bind",
        request.namespace,
        request.name,
        request.uid,
        now,
        pod.fit.requests if pod else {},
        _wishes(pod) if pod else NONE,
        1,
        node=request.node,
        devices=() if error else sorted(ids(planned)),
        error=error,
    )


def _about(verb: str, pod: Pod, candidates: int, now: float, **more: Any) -> Decision:
    asked = pod.fit.requests, _wishes(pod), candidates
    return Decision(verb, pod.namespace, pod.name, pod.uid, now, *asked, **more)


def _assumed(pod: Pod, node: str, ledger: Ledger, now: float) -> dict[str, Any]:
    """The pod's place, where it is this node."""
    found = ledger.assumption(pod.uid, now) if node else None
    if found is None or found.placement.node != node:
        return {}
    return {"node": node, "devices": found.placement.ids}


def _wishes(pod: Pod) -> Wishes:
    return NONE if isinstance(pod.request, Rejection) else pod.request.wishes
