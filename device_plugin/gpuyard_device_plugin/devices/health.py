"""Which GPUs and links of a node are whole, by what its driver reports.

Stands for NVIDIA's internal/rm/health.go, where the driver tells of XIDs. Nobody has a driver here: who annotates the
node says what the driver would have said (`driver_reports`). That outlives every part, and is at hand wherever
kubectl is. Unlike NVIDIA's, a device recovers when its annotation goes.
"""

import dataclasses
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from gpuyard.hardware.gpus import GPU
from gpuyard.writes import JSON
from gpuyard_device_plugin.devices import driver_reports
from gpuyard_device_plugin.devices.driver_reports import Reports, number

OF_APPLICATIONS: Final = frozenset({13, 31, 43, 45, 68, 109})
"""XIDs that NVIDIA's plugin ignores unless told otherwise: what a program did, and the GPU is as good as before."""
_ALL: Final = ("all", "xids")


@dataclass(frozen=True, slots=True)
class Policy:
    """Which XIDs count."""

    ignored: frozenset[int] = OF_APPLICATIONS
    counted: frozenset[int] = frozenset()
    """Whatever else is ignored."""
    ignore_all: bool = False

    def makes_sick(self, xid: int) -> bool:
        return xid in self.counted or not (self.ignore_all or xid in self.ignored)


NVIDIAS: Final = Policy()
"""Where nobody says otherwise."""


def policy(disabled: str, enabled: str) -> Policy:
    """As NVIDIA's DP_DISABLE_HEALTHCHECKS and DP_ENABLE_HEALTHCHECKS say. ValueError for what is no XID."""
    words = {word.strip() for word in disabled.lower().split(",")} - {""}
    numbers = _numbers(words - set(_ALL))
    counted = _numbers({word.strip() for word in enabled.split(",")} - {""})
    return Policy(OF_APPLICATIONS | numbers, counted, bool(words.intersection(_ALL)))


class Driver:
    """What a driver would have told so far."""

    def __init__(self, policy: Policy = NVIDIAS) -> None:
        self._policy = policy
        self._reports = Reports()
        self._complained: frozenset[str] = frozenset()

    def hear(self, node: JSON | None, gpus: Collection[GPU]) -> Sequence[str]:
        """What the Node object says now; a node that is gone says nothing new. What is newly found to be nonsense."""
        if node is None:
            return ()
        self._reports, known = driver_reports.read(node), self._complained
        self._complained = self._reports.nonsense | self._reports.strangers(gpus)
        return sorted(self._complained - known)

    def seen(self, gpus: Collection[GPU]) -> tuple[GPU, ...]:
        """The GPUs as configured, with what the driver says of them."""
        return tuple(
            dataclasses.replace(
                gpu,
                healthy=gpu.healthy and not self._is_sick(gpu.index),
                lost_links=self._reports.lost(gpu, gpus),
            )
            for gpu in gpus
        )

    def xids(self, indexes: Iterable[int]) -> Mapping[int, int]:
        """The XIDs that were told of, by GPU index."""
        told = ((index, self._reports.xid(index)) for index in indexes)
        return {index: xid for index, xid in told if xid is not None}

    def _is_sick(self, index: int) -> bool:
        xid = self._reports.xid(index)
        return xid is not None and self._policy.makes_sick(xid)


def news(before: Iterable[GPU], after: Iterable[GPU]) -> Iterator[str]:
    """A line for each of the same GPUs that is another than it was."""
    for old, new in zip(before, after, strict=True):
        if old.healthy != new.healthy:
            yield f"GPU {new.index} is {'Healthy' if new.healthy else 'Unhealthy'}"
        if old.lost_links != new.lost_links:
            gone = ", ".join(f"GPU {index}" for index in new.lost_links) or "none"
            yield f"GPU {new.index}: lost NVLinks: {gone}"


def _numbers(words: set[str]) -> frozenset[int]:
    return frozenset(number(word) for word in words)
