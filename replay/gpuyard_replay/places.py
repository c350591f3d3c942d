"""Where pods can be, in a replay in which pods also leave: a port, and the fleet of columns behind it."""

from collections import Counter, defaultdict
from typing import Protocol, TypeVar

import numpy as np

from gpuyard.policies import fragmentation
from gpuyard.policies.candidates import Policy
from gpuyard_replay.engine import Engine, Seat
from gpuyard_replay.fleet import Fleet
from gpuyard_replay.replaying import Scene
from gpuyard_replay.traces import TracePod

S = TypeVar("S")


class Places(Protocol[S]):
    """A cluster as a line of jobs meets it; S is where one pod is."""

    @property
    def capacity(self) -> int:
        """All GPU thousandths."""

    def take(self, pod: TracePod) -> S | None:
        """Put the pod somewhere; None where it fits nowhere."""

    def leave(self, seat: S) -> None:
        """The pod has gone from there."""

    def lost(self) -> int:
        """The free GPU thousandths that a typical pod could not use."""


class FleetPlaces:
    """`Places` on nodes as columns, by a policy of the registry."""

    def __init__(self, scene: Scene, policy: Policy) -> None:
        self._fleet = Fleet(scene.nodes)
        self._known = self._fleet.workload(scene.known)
        self._engine = Engine(self._fleet, scene.ranks, policy, self._known, scene.seed)
        self._rows = np.arange(len(scene.nodes))
        self._tags: defaultdict[int, Counter[int]] = defaultdict(Counter)
        self.capacity = self._fleet.capacity

    def take(self, pod: TracePod) -> Seat | None:
        seat = self._engine.seat(self._fleet.shape(pod))
        if seat is not None:
            self._tags[seat.row][seat.shape.tag] += 1
        return seat

    def leave(self, seat: Seat) -> None:
        kinds = self._tags[seat.row]
        kinds[seat.shape.tag] -= 1
        left = 0
        for tag in +kinds:
            left |= tag
        self._engine.leave(seat, left)

    def lost(self) -> int:
        return int(fragmentation.fragmentation(self._fleet.states(self._rows), self._known).sum())
