"""The ledger and the history as pieces of the page.

Laws: a piece is made anew only when what it is made of is another value than before; the work is cut into slices,
between which verbs are answered.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Final

from gpuyard.placing.cluster import Node
from gpuyard.pods.requests import is_device_resource
from gpuyard.writes import JSON
from gpuyard_extender.ledger.claims import Grade
from gpuyard_extender.ledger.pods import Pod
from gpuyard_extender.reporting.packing import packed
from gpuyard_extender.service import Extender
from gpuyard_extender.web.ui import boards
from gpuyard_extender.web.ui.pieces import Pieces
from gpuyard_extender.web.ui.waiting import Waiting, Why

ATTEMPTS: Final = 200
"""Decisions that are shown one by one."""
_SLICE: Final = 40
"""Pieces that are made in one go: some milliseconds."""

Said = tuple[Pod, str, Why | None]


class Painter:
    """Keeps `pieces` like an extender's ledger."""

    def __init__(self, extender: Extender) -> None:
        self.pieces = Pieces()
        self._extender, self._waiting = extender, Waiting()
        self._nodes: dict[str, Node] = {}
        self._pods: dict[str, Said] = {}
        self._attempts = 0

    def paint(self, now: float) -> Iterator[None]:
        """Bring the pieces up to date; each step is a slice of the work."""
        if not self._extender.ready:
            return
        yield from self._paint_nodes(now)
        yield from self._paint_pods(now)
        self._paint_attempts()
        self.pieces.put("cluster", "seen", b"true")

    def _paint_nodes(self, now: float) -> Iterator[None]:
        nodes = self._extender.ledger.cluster(now).nodes
        for name in self._nodes.keys() - nodes.keys():
            del self._nodes[name]
            self.pieces.put("nodes", name, None)
        changed = [name for name, found in nodes.items() if self._nodes.get(name) is not found]
        for number, name in enumerate(changed):
            if number % _SLICE == 0:
                yield
            self._nodes[name] = nodes[name]
            self.pieces.put("nodes", name, packed(boards.node(nodes[name])))

    def _paint_pods(self, now: float) -> Iterator[None]:
        ledger = self._extender.ledger
        shown = {pod.uid: pod for pod in ledger.pods.all() if pod.wants_gpus and not pod.ended}
        waiting = [pod for pod in shown.values() if pod.pending]
        yield
        why = self._waiting.look(waiting, self._extender, now)
        yield
        for uid in self._pods.keys() - shown.keys():
            del self._pods[uid]
            self.pieces.put("pods", uid, None)
        news = {uid: said for uid, said in self._said(shown, why, now) if self._pods.get(uid) != said}
        for number, (uid, said) in enumerate(news.items()):
            if number % _SLICE == 0:
                yield
            self._pods[uid] = said
            self.pieces.put("pods", uid, packed(_pod(*said)))
        self._paint_groups()

    def _said(
        self, shown: Mapping[str, Pod], why: Mapping[str, Why], now: float
    ) -> Iterator[tuple[str, Said]]:
        for uid, pod in shown.items():
            yield uid, (pod, self._state(pod, now) if pod.pending else "", why.get(uid))

    def _state(self, pod: Pod, now: float) -> str:
        """What a pod without a node has all the same."""
        found = self._extender.ledger.assumption(pod.uid, now)
        if found is not None:
            return "assumed" if found.grade is Grade.TENTATIVE else "binding"
        return "seated" if self._extender.ledger.seat(pod.uid, now) else "waiting"

    def _paint_groups(self) -> None:
        ledger = self._extender.ledger
        members = Counter((pod.namespace, pod.group) for pod, _, _ in self._pods.values() if pod.group)
        found = {}
        for (namespace, name), count in members.items():
            group = ledger.groups.named(namespace, str(name))
            found[f"{namespace}/{name}"] = packed(
                {"members": count, "needed": group.needed if group else None}
            )
        self.pieces.replace("groups", found)

    def _paint_attempts(self) -> None:
        history = self._extender.reports.history
        for entry in history.since(self._attempts, ATTEMPTS):
            self.pieces.put("attempts", str(entry.number), entry.line)
        for number in range(max(0, self._attempts - ATTEMPTS) + 1, history.noted - ATTEMPTS + 1):
            self.pieces.drop("attempts", str(number))
        self._attempts = history.noted


def _pod(pod: Pod, state: str, why: Why | None) -> JSON:
    """What is empty is left out."""
    more = {
        "group": pod.group,
        "node": pod.node,
        "state": "terminating" if pod.terminating else state or pod.phase.lower(),
        "code": why.code if why else "",
        "detail": why.detail if why else "",
        "priority": pod.priority,
        "drifted": pod.drifted,
    }
    asks = {name: count for name, count in pod.fit.requests.items() if is_device_resource(name)}
    return {"namespace": pod.namespace, "name": pod.name, "asks": asks} | {k: v for k, v in more.items() if v}
