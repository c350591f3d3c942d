"""Where the processor time of this process goes, by part of the cluster.

A signal comes after every few milliseconds of processor time; the innermost frame that belongs to a part gets them.
What the domain or a library does is done for the part that called it. Only the main thread is seen.
"""

import signal
from collections import Counter
from pathlib import Path
from types import FrameType, TracebackType
from typing import Self

PARTS = {
    "gpuyard_cluster/apiserver/": "API server",
    "gpuyard_cluster/scheduler/": "scheduler",
    "gpuyard_cluster/kubelet/": "kubelet + plugin",
    "gpuyard_device_plugin/": "kubelet + plugin",
    "gpuyard_cluster/controllers/": "controllers",
    "gpuyard_extender/": "extender",
    "gpuyard_operator/": "operator",
}
OTHER = "event loop, HTTP"
_SECONDS = 0.002


class Sampler:
    """Counts samples by part within a `with` block in the main thread."""

    def __init__(self) -> None:
        self.samples: Counter[str] = Counter()

    def __enter__(self) -> Self:
        signal.signal(signal.SIGPROF, self._sample)
        signal.setitimer(signal.ITIMER_PROF, _SECONDS, _SECONDS)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        signal.setitimer(signal.ITIMER_PROF, 0)

    def shares(self) -> dict[str, float]:
        """Part -> its share of all samples."""
        return {part: count / self.samples.total() for part, count in self.samples.most_common()}

    def _sample(self, _number: int, frame: FrameType | None) -> None:
        self.samples[_part(frame)] += 1


def _part(frame: FrameType | None) -> str:
    while frame is not None:
        file = Path(frame.f_code.co_filename).as_posix()
        found = next((part for folder, part in PARTS.items() if folder in file), None)
        if found is not None:
            return found
        frame = frame.f_back
    return OTHER
