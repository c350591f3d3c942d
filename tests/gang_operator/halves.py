"""A cluster whose GPUs lie in halves of nodes, of which each pod wants one: counts fit, and shapes do not.

What the planner finds is exact: it finds places whenever there are any, and room never becomes fewer by less of it.
"""

from collections.abc import Mapping, Sequence

from gpuyard.groups import reservations
from gpuyard.groups.plans import PlanAnswer, Planned, PlanRequest, Unplaceable, Unready
from gpuyard.groups.reservations import Reservation, Seat, Victim
from gpuyard.pods import memberships
from gpuyard.verdicts import Reason, Rejection
from gpuyard.writes import JSON
from gpuyard_operator.cache import PATHS
from tests.gang_operator.world import PLACES_SECONDS, World, gpus_of, node_path

Half = tuple[str, int]
SIZE = 2
"""GPUs of a half."""


def places(wants: Sequence[int], free: Mapping[Half, int]) -> tuple[Half, ...] | None:
    """A half for each."""
    if not wants:
        return ()
    for half in (half for half in sorted(free) if free[half] >= wants[0]):
        rest = places(wants[1:], {**free, half: free[half] - wants[0]})
        if rest is not None:
            return (half, *rest)
    return None


class Halves(World):
    """The nodes are full at first, of pods that want a GPU each."""

    def __init__(self, nodes: int, *, preempts: bool = False) -> None:
        super().__init__(preempts=preempts)
        classes = "/apis/scheduling.k8s.io/v1/priorityclasses"
        self.api.create(classes, {"metadata": {"name": "urgent"}, "value": 10})
        self.answer, self.reachable = self.by_halves, True
        self.half: dict[str, Half] = {}
        for number in range(1, nodes + 1):
            name = f"node-{number}"
            self.node(name, 2 * SIZE)
            for gpu in range(2 * SIZE):
                self.pod(f"{name}-{gpu}", group="")
                self.half[self.pods[f"{name}-{gpu}"]["metadata"]["uid"]] = (name, gpu % 2)
                self.bind(f"{name}-{gpu}", name)
        self.advance(3)

    @property
    def pods(self) -> dict[str, JSON]:
        return {pod["metadata"]["name"]: pod for pod in self.api.list(PATHS["pods"])}

    def cordon(self, node: str, *, cordoned: bool) -> None:
        self.api.patch(node_path(node), {"spec": {"unschedulable": cordoned}})

    def by_halves(self, request: PlanRequest) -> PlanAnswer:
        pods = {pod["metadata"]["uid"]: pod for pod in self.pods.values()}
        if not self.reachable or not all(uid in pods for uid in request.members):
            return Unready("not to be known")
        members = [pods[uid] for uid in request.members]
        wants = [gpus_of(pod) for pod in members]
        found = places(wants, self.free(urgency(members[0]) if request.preempt else None))
        if found is None:
            fits = next(
                n
                for n in range(len(wants))
                if places(wants[: n + 1], self.free()) is None or n + 1 == len(wants)
            )
            name = members[fits]["metadata"]["name"]
            return Unplaceable(name, (Rejection("node-1", Reason.TOPOLOGY_UNSATISFIED, ""),))
        self.half |= dict(zip(request.members, found, strict=True))
        names = (pod["metadata"]["name"] for pod in members)
        of = zip(request.members, names, found, strict=True)
        seats = tuple(Seat(uid, name, half[0], {}) for uid, name, half in of)
        until, victims = self.clock.now() + PLACES_SECONDS, self._victims(wants, found, urgency(members[0]))
        answer = Reservation(request.namespace, request.group, request.needed, until, seats, victims)
        return Planned(answer)

    def free(self, urgency_of: int | None = None) -> dict[Half, int]:
        """What is left of each half; for a preemptor also what less urgent pods on nodes hold."""
        nodes = [node for node in self.api.list(PATHS["nodes"]) if not node["spec"].get("unschedulable")]
        free = {(node["metadata"]["name"], half): SIZE for node in nodes for half in (0, 1)}
        reserved = {seat.uid for obj in self.api.list(PATHS["reservations"]) for seat in _seats(obj)}
        for pod in self.pods.values():
            uid, bound = pod["metadata"]["uid"], "nodeName" in pod["spec"]
            spared = urgency_of is None or not bound or urgency(pod) >= urgency_of
            if (holds(pod) or (uid in reserved and not bound)) and spared and self.half[uid] in free:
                free[self.half[uid]] -= gpus_of(pod)
        return free

    def _victims(self, wants: Sequence[int], found: Sequence[Half], than: int) -> tuple[Victim, ...]:
        free, victims = self.free(), list[Victim]()
        for half, want in zip(found, wants, strict=True):
            free[half] -= want
        for name, pod in sorted(self.pods.items()):
            half = self.half.get(pod["metadata"]["uid"])
            if half in free and free[half] < 0 and holds(pod) and urgency(pod) < than:
                free[half] += gpus_of(pod)
                group = memberships.claimed(pod) or ""
                victims.append(Victim(pod["metadata"]["uid"], "default", name, group))
        return tuple(victims)


def holds(pod: JSON) -> bool:
    """Whether it is on a node and has not ended."""
    return "nodeName" in pod["spec"] and pod["status"]["phase"] not in ("Succeeded", "Failed")


def urgency(pod: JSON) -> int:
    return int(pod["spec"].get("priority") or 0)


def _seats(obj: JSON) -> tuple[Seat, ...]:
    found = reservations.from_object(obj) if reservations.holds_places(obj) else None
    return found.seats if found else ()
