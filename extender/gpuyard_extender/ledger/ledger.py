"""The ledger: what the extender believes the cluster holds.

Stands for kube-scheduler's cache. It is fed with pods, nodes, reservations and pod groups, in any order; on top come
the assumptions made since. Laws: a bound pod claims what its own status or plan says, else an assumption speaks, else
its seat; a pod claims until it has ended or is gone, however long it takes to terminate; a guess yields to
its seat.
"""

from collections.abc import Callable, Collection, Iterable
from typing import Any

from gpuyard import vocabulary
from gpuyard.groups import reservations
from gpuyard.groups.reservations import Reservation, Seat
from gpuyard.placing.cluster import Cluster, Node, Placement
from gpuyard.writes import JSON
from gpuyard_extender.ledger import budgets, claims, groups, nodes, pods
from gpuyard_extender.ledger.arrivals import Arrivals
from gpuyard_extender.ledger.assumptions import Assumptions
from gpuyard_extender.ledger.budgets import Budget
from gpuyard_extender.ledger.claims import Assumption, Claim, Grade
from gpuyard_extender.ledger.expectations import Expectations
from gpuyard_extender.ledger.groups import Group
from gpuyard_extender.ledger.holdings import Holdings
from gpuyard_extender.ledger.nodes import NodeFacts
from gpuyard_extender.ledger.nominations import Nominations
from gpuyard_extender.ledger.pods import Pod
from gpuyard_extender.ledger.seats import Seats
from gpuyard_kube.store import Change, Index, Store

PATHS = {
    "pods": "/api/v1/pods",
    "nodes": "/api/v1/nodes",
    reservations.PLURAL: reservations.PATH,
    "podgroups": f"/apis/{vocabulary.POD_GROUP_API}/podgroups",
    budgets.PLURAL: budgets.PATH,
}
"""The resources that the ledger is fed with, and where to list them."""


class Ledger:
    """All pods, nodes and gangs, and who holds what."""

    def __init__(
        self,
        report: Callable[[str], None] = lambda _text: None,
        at: Callable[[float], float] = lambda now: now,
    ) -> None:
        """`report` is told what makes no sense, once each; assumptions last by the time `at`, which nobody sets."""
        self._report, self._at = report, at
        self.pods: Store[Pod] = Store(pods.read)
        self.groups: Store[Group] = Store(groups.read)
        self.budgets: Store[Budget] = Store(budgets.read)
        self._nodes: Store[NodeFacts] = Store(nodes.read)
        self._reservations: Store[Reservation] = Store(reservations.from_object)
        self.nominated = Nominations()
        self._members, self._seats, self._arrivals = Index(groups.membership), Seats(), Arrivals()
        self.holdings, self.assumptions, self.expectations = Holdings(), Assumptions(), Expectations()
        self._fed: dict[str, tuple[Store[Any], Callable[[list[Change[Any]]], None]]] = {
            "pods": (self.pods, self._pods_changed),
            "nodes": (self._nodes, self._nodes_changed),
            reservations.PLURAL: (self._reservations, self._reservations_changed),
            "podgroups": (self.groups, lambda _: None),
            budgets.PLURAL: (self.budgets, lambda _: None),
        }

    # --- events in

    def replace(self, resource: str, objects: Iterable[JSON]) -> None:
        """All objects of a resource as of now."""
        store, changed = self._fed[resource]
        changed(store.replace(objects))

    def observe(self, resource: str, event: str, obj: JSON) -> None:
        """One change of one object."""
        store, changed = self._fed[resource]
        changed(store.observe(event, obj))

    def assume(self, placement: Placement, grade: Grade, now: float) -> None:
        """Count on a placement that the API does not show yet; it takes the place of an earlier one."""
        if not self.pods.deleted(placement.uid):
            self.assumptions.put(placement, grade, self._at(now))
            self.settle(placement.uid)

    def forget(self, uid: str, grade: Grade) -> None:
        """Drop the assumption about a pod if it is of this grade."""
        if (found := self.assumptions.get(uid)) is not None and found.grade is grade:
            self.assumptions.drop(uid)
            self.settle(uid)

    def promise(self, reservation: Reservation) -> None:
        """Keep the places of a planned gang until its Reservation is seen or expires."""
        self.settle(*self._seats.promise(reservation))

    # --- questions

    def cluster(self, now: float, besides: Collection[str] = ()) -> Cluster:
        """All nodes with what is claimed on them now, except the claims of the pods `besides` (UIDs)."""
        self.expire(now)
        return self.holdings.cluster(besides)

    def node(self, name: str, now: float, besides: Collection[str] = ()) -> Node | None:
        """The same for one node."""
        self.expire(now)
        return self.holdings.node(name, besides)

    def seat(self, uid: str, now: float) -> tuple[Reservation, Seat] | None:
        """The place that a pod's gang holds for it."""
        self.expire(now)
        return self._seats.find(uid)

    def promised(self, namespace: str, group: str, now: float) -> Reservation | None:
        """The last plan of a group while it is neither recorded nor expired."""
        self.expire(now)
        return self._seats.promised(namespace, group)

    def assumption(self, uid: str, now: float) -> Assumption | None:
        self.expire(now)
        return self.assumptions.get(uid)

    def members(self, namespace: str, group: str) -> tuple[Pod, ...]:
        """The pods of a group that have neither failed nor are on their way out, by name: so they are placed."""
        return tuple(sorted(self._members.at((namespace, group)), key=lambda pod: (pod.name, pod.uid)))

    def arrived(self, reservation: Reservation) -> set[str]:
        """UIDs of the seated pods that are bound, as far as is known, or just being bound."""
        return self._arrivals.of(reservation, Grade.BOUND, Grade.SENT)

    def bound(self, reservation: Reservation) -> set[str]:
        """UIDs of the seated pods that are bound for sure."""
        return self._arrivals.of(reservation, Grade.BOUND)

    def yielding(self, pods: Collection[Pod]) -> set[str]:
        """UIDs whose claims do not count for these pods: their own, and those that yield to them."""
        least = min(pod.priority for pod in pods)
        return {pod.uid for pod in pods} | self.holdings.yielding(least)

    def next_expiry(self, now: float) -> float | None:
        """When something may expire, exactly, as no sum of two moments would be; None when nothing can."""
        lasting = [it.next_expiry() for it in (self.assumptions, self.expectations)]
        moments = [now + (found - self._at(now)) for found in lasting if found is not None]
        return min((m for m in (*moments, self._seats.next_expiry()) if m is not None), default=None)

    def expire(self, now: float) -> None:
        """Drop what has expired; every question about a moment does so."""
        at = self._at(now)
        self.settle(*self._seats.expire(now), *self.assumptions.expire(at), *self.expectations.expire(at))

    # --- keeping the claims

    def _pods_changed(self, changes: Collection[Change[Pod]]) -> None:
        self._members.take(changes)
        self.nominated.take(changes)
        for change in changes:
            pod = change.after
            if pod is None or pod.node or pod.ended:
                self.assumptions.drop(change.uid)
            if pod is None or not pod.pending:
                self.expectations.drop(change.uid)
            self.settle(change.uid)
            if pod is not None and pod.unplanned and not (change.before and change.before.unplanned):
                self._report_unplanned(pod)

    def _report_unplanned(self, pod: Pod) -> None:
        """Where there is no inventory, nobody can name devices."""
        if self.holdings.has_inventory(pod.node):
            self._report(
                f"{pod.name} is on {pod.node} without a readable plan: its GPUs count, but are not known"
            )

    def _nodes_changed(self, changes: Collection[Change[NodeFacts]]) -> None:
        self.holdings.set_nodes(changes)
        for change in changes:
            facts = change.after
            if facts is not None and facts.unreadable and not (change.before and change.before.unreadable):
                self._report(f"{facts.name} has an inventory that cannot be read: only counts are known")

    def _reservations_changed(self, changes: Iterable[Change[Reservation]]) -> None:
        for change in changes:
            self.settle(*self._seats.record(change.before, change.after))

    def settle(self, *uids: str) -> None:
        """What is known of these pods has changed: what they claim is said anew."""
        for uid in uids:
            self.holdings.set_claim(uid, self._claim(uid))
            self._arrivals.settle(uid, self.pods.get(uid), self.assumptions.get(uid))

    def _claim(self, uid: str) -> Claim | None:
        pod = self.pods.get(uid)
        if self.pods.deleted(uid) or (pod is not None and pod.ended):
            return None
        if pod is not None and pod.node:
            return claims.of_pod(pod)
        assumption, seated = self.assumptions.get(uid), self._seats.find(uid)
        if assumption is not None and (seated is None or assumption.grade is not Grade.TENTATIVE):
            return claims.of_placement(assumption.placement)
        if seated is not None:
            return claims.of_seat(seated[1], pod)
        expected = self.expectations.get(uid)
        return claims.of_placement(expected.placement, expected.priority) if expected else None
