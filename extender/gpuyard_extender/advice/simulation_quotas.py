"""Which of the gangs that are asked about their queues would let in.

Stands for the operator's line of a queue, at whose end they would stand. Laws: a gang holds the least that it can
start with from when it is let in, whether there is room for it or not, as one that has its turn does; what those hold
that are there is what the status of the queue says.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Self

from gpuyard.groups import queues
from gpuyard.groups.queues import Queue
from gpuyard.pods import amounts
from gpuyard.verdicts import Reason, Rejection
from gpuyard.writes import JSON


class Quotas:
    """What each queue has left while gangs are let in, one after the other."""

    def __init__(self, known: Iterable[Queue], *, every: bool) -> None:
        """`every`: there are no other queues; else those are thought to let in everybody."""
        self._queues, self._every = {queue.name: queue for queue in known}, every

    @classmethod
    def read(cls, cluster: Sequence[JSON] | None, asked: Sequence[JSON]) -> Self:
        """The queues of the cluster, and those that are asked about; ValueError names one that cannot be used."""
        found = {queue.name: queue for queue in _read(cluster or (), "queues")}
        for queue in _read(asked, "objects: Queue"):
            before = found.get(queue.name, Queue(""))
            found[queue.name] = replace(queue, used=before.used)
        return cls(found.values(), every=cluster is not None)

    def admit(self, name: str, pods: Iterable[JSON]) -> Rejection | None:
        """Let these pods in together; why not otherwise. An empty name is none."""
        queue = self._queues.get(name)
        if queue is None:
            if not name or not self._every:
                return None
            return Rejection("", Reason.NO_SUCH_QUEUE, f"there is no Queue {name:.80}; ask about it as well")
        needs = Counter[str]()
        for pod in pods:
            needs.update(queues.demand(pod, queue.models))
        refusal = queues.admits(queue, needs)
        if refusal is None:
            self._queues[name] = queue.with_usage(needs)
        return refusal


def _read(objects: Sequence[JSON], field: str) -> Iterable[Queue]:
    for number, obj in enumerate(objects):
        queue = queues.from_object(obj)
        try:
            used = amounts.read((obj.get("status") or {}).get("used"))
        except AttributeError:
            queue = None
        if queue is None:
            raise ValueError(f"{field}[{number}]: a Queue with a name and a quota is needed")
        yield replace(queue, used=used)
