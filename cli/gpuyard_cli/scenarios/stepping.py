"""What `--step` shows: after every event its name and the state of the cluster, and a wait for the Enter key."""

import sys
from collections.abc import Callable
from typing import TextIO

from gpuyard_cli.scenarios import requests
from gpuyard_cli.scenarios.observation import Observation, observe
from gpuyard_cluster.wiring.steps import StepsYard


class Stepper:
    """Stops after each event and prints to `out` (stdout). `pause` waits for the learner; on a pipe for nobody."""

    def __init__(
        self,
        yard: StepsYard,
        namespace: str,
        out: TextIO | None = None,
        pause: Callable[[], object] | None = None,
    ) -> None:
        self._yard, self._namespace, self._out = yard, namespace, out or sys.stdout
        self._pause = pause or (sys.stdin.readline if sys.stdin.isatty() else lambda: None)
        self._began, self._shown = yard.clock.now(), list[str]()

    def after_step(self, happened: str) -> None:
        """Print the event, and the state where it has changed."""
        self._print(f"  [{self._yard.clock.now() - self._began:7.3f} s] {happened}")
        snapshot = self._yard.clock.complete(requests.snapshot(self._yard.api, self._namespace))
        lines = list(state(observe(snapshot, self._namespace)))
        if lines != self._shown:
            self._shown = lines
            for line in lines:
                self._print(f"      {line}")
        self._pause()

    def _print(self, line: str) -> None:
        print(line, file=self._out, flush=True)


def state(seen: Observation) -> list[str]:
    """One line for each node and pod, and for what is reserved."""
    nodes = [
        f"node {name}: "
        + (", ".join(f"{counts[r]} of {offered[r]} {r} free" for r in sorted(offered)) or "no devices")
        for name, offered in sorted(seen.allocatable.items())
        for counts in [seen.free[name]]
    ]
    pods = [
        f"pod {name}: {pod.phase}"
        + (f" on {pod.node}" if pod.node else "")
        + "".join(f", {container} has {' '.join(ids)}" for container, ids in sorted(pod.devices.items()))
        for name, pod in sorted(seen.pods.items())
    ]
    return nodes + pods + [f"reservation {name}" for name in seen.reservations]
