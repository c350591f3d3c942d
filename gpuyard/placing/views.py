"""What one shape of pod meets on every node, remembered and kept up to date node by node.

Stands for kube-scheduler's opportunistic batching: pods of one shape get one answer. The shape is what a pod asks of
devices and places; CPU, memory and the like are compared anew for each pod. Laws: the answers are those of
`placement.judge`, without its details; a node is judged again only after something on it was touched.
"""

import dataclasses
import functools
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field

import numpy as np

from gpuyard.placing import placement, scoring
from gpuyard.placing.cluster import Node, Placement
from gpuyard.placing.fleet import Fleet
from gpuyard.placing.scoring import Row, State
from gpuyard.pods import fit, requests
from gpuyard.pods.fit import Amounts, PodFit
from gpuyard.pods.requests import PodRequest, Want
from gpuyard.policies.candidates import Candidates, Matrix
from gpuyard.policies.workload import Column
from gpuyard.verdicts import Reason, Rejection

REASONS = tuple(Reason)
PASSES, UNDECIDED = -1, -2
"""Verdicts that are no index of `REASONS`. Undecided: `placement.judge` has to say it."""
_UNKNOWN, _SHORT = REASONS.index(Reason.NODE_NOT_READY), REASONS.index(Reason.INSUFFICIENT_RESOURCES)
_WIDTH = 2 + len(Row._fields)
_MOST_VIEWS = 64
_ALL = slice(None)


@dataclass(frozen=True, slots=True, eq=False)
class Candidacy:
    """The nodes that can be chosen, as policies look at them, and how much the pod would like each."""

    candidates: Candidates
    preferences: Column


@dataclass(slots=True, eq=False)
class Answers:
    """For each name asked: its row in the fleet and its verdict; what else is known, for those in question."""

    rows: Column
    verdicts: Column
    """Indexes of `REASONS`, or PASSES or UNDECIDED."""
    table: Matrix = field(default_factory=lambda: np.zeros((1, _WIDTH), np.int64))
    """The view's lines, by row; one for all where there is no view."""
    apart: dict[int, tuple[int, Row, State]] = field(default_factory=dict)
    """By place, where the fleet counts a claim of the pod itself: preference, columns and what is left."""

    @classmethod
    def uniform(cls, rows: Column, reason: Reason | None) -> "Answers":
        """The same verdict for every node that is known; None: not decided yet."""
        verdict = UNDECIDED if reason is None else REASONS.index(reason)
        return cls(rows, np.where(rows < 0, _UNKNOWN, verdict))

    def put(self, place: int, verdict: Placement | Rejection) -> None:
        """The verdict for the name at one place."""
        self.verdicts[place] = REASONS.index(verdict.reason) if isinstance(verdict, Rejection) else PASSES

    def meet(self, place: int, pod: PodFit, request: PodRequest, node: Node) -> None:
        """The node at one place, where the pod meets it like this."""
        liked = scoring.preference(pod, request, node)
        self.apart[place] = liked, scoring.row(request, node), scoring.state(node)

    def passing(self) -> Column:
        """The places of the nodes that pass."""
        return np.flatnonzero(self.verdicts == PASSES)

    def candidacy(self, which: Column, amounts: Amounts, seed: str, fleet: Fleet) -> Candidacy:
        """What decides between the names at the places `which`; what policies draw depends on `seed`."""
        rows = self.rows[which]
        states, lines = fleet.states(rows), self.table.take(rows, axis=0, mode="clip")
        for place, (liked, columns, left) in self.apart.items():
            here = which == place
            lines[here, 1], lines[here, 2:] = liked, columns
            states[here] = scoring.stacked([left], states.shape[1])
        return Candidacy(scoring.candidates(amounts, seed, lines[:, 2:], states), lines[:, 1])


class View:
    """All nodes, as pods like `pod` and `request` see them."""

    def __init__(self, pod: PodFit, request: PodRequest, fleet: Fleet) -> None:
        self._pod, self._request, self._fleet = pod, request, fleet
        self._generation, self._change = -1, 0
        self._table = np.empty((0, _WIDTH), np.int64)

    def refresh(self, change: int, changed_since: Callable[[int], Iterable[str]]) -> None:
        """Judge the nodes again that changed since the last time; `change` counts up with every change."""
        fleet = self._fleet
        if self._generation != fleet.generation:
            self._generation, self._table = fleet.generation, self._judge_all()
        else:
            self._table = _grown(self._table, len(fleet.nodes))
            for row in [fleet.rows[name] for name in changed_since(self._change) if name in fleet.rows]:
                self._table[row] = self._judge(fleet.nodes[row])
        self._change = change

    def _judge_all(self) -> Matrix:
        """The whole table. Of nodes that the pod cannot tell apart one is judged."""
        nodes, kinds = self._fleet.nodes, self._fleet.kinds
        keys, named = self._pod.label_keys, self._pod.names_nodes
        if keys or named:
            labels = ([node.fit.labels.get(key) for node in nodes] for key in keys)
            told_apart = zip(
                kinds.tolist(), *labels, *([[node.name for node in nodes]] if named else []), strict=True
            )
            known: dict[Hashable, int] = {}
            kinds = np.array([known.setdefault(kind, len(known)) for kind in told_apart], np.int64)
        _, first, alike = np.unique(kinds, return_index=True, return_inverse=True)
        lines = [self._judge(nodes[row]) for row in first.tolist()]
        return np.array(lines, np.int64).reshape(len(lines), _WIDTH)[alike]

    def _judge(self, node: Node) -> tuple[int, ...]:
        """The line of the table for one node: verdict, preference, columns."""
        devices, excluded = self._by_devices(node), fit.misplaced(self._pod, node.fit)
        verdict = REASONS.index(excluded.reason) if excluded else devices[0]
        return verdict, scoring.preference(self._pod, self._request, node), *devices[1:]

    def _by_devices(self, node: Node) -> tuple[int, ...]:
        """Verdict and columns, by the devices alone; where only counts are known, the amounts decide."""
        placed = placement.numbered_on(self._request, node)
        verdict = REASONS.index(placed.reason) if isinstance(placed, Rejection) else PASSES
        return verdict, *scoring.row(self._request, node)

    def answers(self, rows: Column, amounts: Amounts) -> Answers:
        """The answers, on the nodes in `rows`, for a pod of this shape that books `amounts` in all."""
        if not len(self._table):
            return Answers.uniform(rows, None)
        verdicts = self._table[:, 0].copy()
        passing = verdicts == PASSES
        # Devices last: `placement.judge` names them before everything else.
        for resource in sorted(filter(amounts.get, amounts), key=requests.is_device_resource):
            short = self._fleet.left(resource, _ALL) < amounts[resource]
            verdicts[passing & short] = UNDECIDED if requests.is_device_resource(resource) else _SHORT
        # Row -1, of names that are not known, is the last one.
        return Answers(rows, np.append(verdicts, _UNKNOWN)[rows], self._table)


class Views:
    """The views of the shapes that were asked for last."""

    def __init__(self, fleet: Fleet) -> None:
        self._fleet = fleet
        self._views: dict[Hashable, View] = {}

    def of(self, pod: PodFit, request: PodRequest) -> View:
        """The view of pods like this one; it may need a `refresh`."""
        wants = _nameless(request.wants)
        shape = (wants, request.wishes, pod.wishes)
        view = self._views.pop(shape, None)
        if view is None:
            view = View(pod, dataclasses.replace(request, wants=wants), self._fleet)
        self._views[shape] = view
        if len(self._views) > _MOST_VIEWS:
            del self._views[next(iter(self._views))]
        return view


@functools.lru_cache(maxsize=1024)
def _nameless(wants: tuple[Want, ...]) -> tuple[Want, ...]:
    """The same with numbers for the names of containers, which decide nothing."""
    numbers: dict[str, str] = {}
    return tuple(
        dataclasses.replace(want, container=numbers.setdefault(want.container, str(len(numbers))))
        for want in wants
    )


def _grown(table: Matrix, length: int) -> Matrix:
    if len(table) == length:
        return table
    return np.concatenate([table, np.empty((length - len(table), _WIDTH), np.int64)])
