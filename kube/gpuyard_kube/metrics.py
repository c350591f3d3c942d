"""What a part measures, in the words of Prometheus: the pieces that all parts share.

Stands for component-base/metrics. Law: numbers are read where they are kept, when somebody asks; only what has a
duration is noted when it happens.
"""

from collections.abc import Mapping
from typing import Final

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from prometheus_client.process_collector import ProcessCollector

PATH: Final = "/metrics"
CONTENT_TYPE: Final = CONTENT_TYPE_LATEST

SECONDS: Final = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)
"""Buckets for what kube-scheduler waits for: from a tenth of what is allowed to when it gives up."""


def registry() -> CollectorRegistry:
    """A part's own, with memory, CPU and file descriptors of the process."""
    found = CollectorRegistry()
    ProcessCollector(registry=found)
    return found


def exposed(found: CollectorRegistry) -> bytes:
    """The text that a scraper gets, of CONTENT_TYPE."""
    return generate_latest(found)


def counted(name: str, text: str, label: str, counts: Mapping[str, int]) -> CounterMetricFamily:
    """A counter for each value of a label."""
    family = CounterMetricFamily(name, text, labels=[label])
    for value, count in sorted(counts.items()):
        family.add_metric([value], count)
    return family


def gauged(name: str, text: str, label: str, amounts: Mapping[str, float]) -> GaugeMetricFamily:
    """A gauge for each value of a label."""
    family = GaugeMetricFamily(name, text, labels=[label])
    for value, amount in sorted(amounts.items()):
        family.add_metric([value], amount)
    return family
