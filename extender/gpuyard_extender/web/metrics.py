"""What the extender measures, for Prometheus.

Stands for kube-scheduler's metrics package. Durations are noted by the web server (`timed`); all else is read from
the extender when somebody asks.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Final

from prometheus_client import Histogram
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from gpuyard.policies.workload import WHOLE, Workload
from gpuyard_extender.ledger import fragments
from gpuyard_extender.ledger.fragments import Fragments
from gpuyard_extender.service import Extender
from gpuyard_kube.metrics import SECONDS, counted, exposed, gauged, registry

PREFIX = "gpuyard_extender"
_NODES: Final = f"{PREFIX}_node_fragmented_gpus"
_FRAGMENTED: Final = (
    "free GPUs that a typical pod could not use. For each shape of the pods that hold a place now, weighted by its"
    " part of them: all that is free where such a pod does not fit by GPUs, CPU or model, else what is free on"
    " GPUs that have too little left for it (the measure of FGD, USENIX ATC 23)."
)


class Metrics(Collector):
    """The numbers of one extender. `leading`: whether it is the active one."""

    def __init__(self, extender: Extender, leading: Callable[[], bool] = lambda: True) -> None:
        self._extender, self._leading = extender, leading
        self._registry = registry()
        self._measured_at: tuple[int, Workload] | None = None
        self._measured = Fragments({}, {})
        self._durations = Histogram(
            f"{PREFIX}_verb_duration_seconds",
            "How long the answer to a verb took; of Bind with the wait for the rest of a gang.",
            ["verb"],
            registry=self._registry,
            buckets=SECONDS,
        )
        self._registry.register(self)

    def timed(self, verb: str) -> AbstractContextManager[object]:
        """Notes how long the block takes."""
        return self._durations.labels(verb).time()

    def exposed(self) -> bytes:
        """The text for a scraper. The last family has a line for each node, for which the library takes too long."""
        found = self._fragments()
        lines = [f'{_NODES}{{node="{name}"}} {lost / WHOLE}\n' for name, lost in found.lost.items()]
        return exposed(self._registry) + "".join(lines).encode()

    def collect(self) -> Iterator[Metric]:
        tally, ledger = self._extender.reports.tally, self._extender.ledger
        yield counted(
            f"{PREFIX}_verdicts", "Nodes judged by Filter, by reason code.", "reason", tally.verdicts
        )
        yield counted(f"{PREFIX}_binds", "Answers to Bind.", "answer", tally.binds)
        yield CounterMetricFamily(
            f"{PREFIX}_woken_pods", "Pods made to be tried again after a rejection.", value=tally.woken
        )
        assumed = Counter(found.grade.name.lower() for found in ledger.assumptions.all())
        assumed += Counter(expected=len(ledger.expectations))
        yield gauged(
            f"{PREFIX}_assumed_pods",
            "Pods with devices that the API does not show yet, by how sure that is.",
            "grade",
            assumed,
        )
        yield _gauge("held_binds", "Binds that wait for the rest of their gang.", self._extender.binder.held)
        yield _gauge(
            "drifted_pods",
            "Live pods whose kubelet gave other devices than were planned.",
            sum(pod.drifted and not pod.ended for pod in ledger.pods.all()),
        )
        yield _gauge(
            "unplanned_pods",
            "Live pods that were bound past the extender: their GPUs count but are not known.",
            sum(pod.unplanned for pod in ledger.pods.all()),
        )
        if (book := self._extender.reports.book) is not None:
            said = "Decisions noted for --decisions, by what became of them."
            yield counted(
                f"{PREFIX}_decisions", said, "outcome", {"written": book.written, "lost": book.lost}
            )
        yield _gauge("leading", "1 where this extender is the active one.", self._leading())
        yield _gauge("ready", "1 once the whole cluster was listed.", self._extender.ready)
        yield from self._fragmentation()

    def _fragmentation(self) -> Iterator[Metric]:
        found = self._fragments()
        free, lost = sum(found.free.values()), sum(found.lost.values())
        yield _gauge("free_gpus", "GPUs of all nodes that are free.", free / WHOLE)
        yield _gauge("fragmented_gpus", f"On all nodes: {_FRAGMENTED}", lost / WHOLE)
        yield gauged(_NODES, f"On one node: {_FRAGMENTED}", "node", {})

    def _fragments(self) -> Fragments:
        """Measured anew when something has changed."""
        ledger, workload = self._extender.ledger, self._extender.experience.workload()
        if (ledger.holdings.changes, workload) != self._measured_at:
            self._measured_at = ledger.holdings.changes, workload
            self._measured = fragments.measure(ledger, workload)
        return self._measured


def _gauge(name: str, said: str, value: float) -> Metric:
    return GaugeMetricFamily(f"{PREFIX}_{name}", said, value=value)
