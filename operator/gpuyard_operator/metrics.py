"""What the operator measures, for Prometheus.

Stands for controller-runtime's metrics. The time that plans take is noted on the way to the extender (`timed`); all
else is read from the operator when somebody asks.
"""

import time
from collections.abc import Iterator, Mapping

from prometheus_client import Histogram
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from gpuyard.groups.plans import PlanAnswer, PlanRequest
from gpuyard_kube.metrics import CONTENT_TYPE, PATH, SECONDS, counted, exposed, gauged, registry
from gpuyard_kube.serving import Handler, Page
from gpuyard_operator.checking import Checks
from gpuyard_operator.reconciler import Planner
from gpuyard_operator.service import Operator

PREFIX = "gpuyard_operator"


class Metrics(Collector):
    """The numbers of one process, which operates only while it holds the Lease."""

    def __init__(self) -> None:
        self._operator: Operator | None = None
        self._checks: Checks | None = None
        self._registry = registry()
        self._plans = Histogram(
            f"{PREFIX}_plan_duration_seconds",
            "How long the extender took to plan a gang, by its answer.",
            ["answer"],
            registry=self._registry,
            buckets=SECONDS,
        )
        self._registry.register(self)

    def watch(self, operator: Operator, checks: Checks | None = None) -> None:
        """This one operates from now on."""
        self._operator, self._checks = operator, checks

    def timed(self, planner: Planner) -> Planner:
        """The planner, with its answers timed."""
        return _Timed(planner, self._plans)

    def pages(self) -> Mapping[str, Handler]:
        """What the process says of itself over HTTP, by path."""

        async def livez() -> Page:
            return Page(b"ok")

        async def readyz() -> Page:
            # One that waits for the Lease is as it should be.
            problem = self._checks.problem if self._checks else ""
            return Page(problem.encode(), status=503) if problem else Page(b"ok")

        async def measured() -> Page:
            return Page(exposed(self._registry), CONTENT_TYPE)

        return {"/livez": livez, "/readyz": readyz, PATH: measured}

    def collect(self) -> Iterator[Metric]:
        operator = self._operator
        yield GaugeMetricFamily(
            f"{PREFIX}_leading", "1 where this operator holds the Lease.", value=operator is not None
        )
        if operator is None:
            return
        tally = operator.tally
        yield CounterMetricFamily(f"{PREFIX}_reconciles", "Decisions about a gang.", value=tally.reconciles)
        yield counted(
            f"{PREFIX}_writes",
            "Writes that the API server took, by resource; pods/eviction are evictions.",
            "resource",
            tally.writes,
        )
        yield counted(f"{PREFIX}_failed_writes", "Writes that failed.", "resource", tally.failed_writes)
        yield gauged(f"{PREFIX}_gangs", "PodGroups by phase.", "phase", operator.phases())


class _Timed:
    def __init__(self, planner: Planner, durations: Histogram) -> None:
        self._planner, self._durations = planner, durations

    async def plan(self, request: PlanRequest) -> PlanAnswer:
        began = time.perf_counter()
        answer = await self._planner.plan(request)
        self._durations.labels(type(answer).__name__).observe(time.perf_counter() - began)
        return answer
