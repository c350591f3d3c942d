"""GPUYard from Python: a cluster to play with, scenarios, and policies on traces.

This module is the public API: what is here stays, everything else may change with any version. `docs/python-api.md`
shows it. Law: the clock of a `Cluster` stands still; things happen in it only while one of its methods runs.
"""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from gpuyard import yard
from gpuyard.policies import registry
from gpuyard.writes import JSON
from gpuyard_cli.backends import running
from gpuyard_cli.backends.steps import StepsBackend
from gpuyard_cli.fault_command import inject
from gpuyard_cli.inputs import InvalidInputError, parsed
from gpuyard_cli.run_command import BACKENDS
from gpuyard_cli.scenarios import injections
from gpuyard_cli.scenarios.backends import RefusedError
from gpuyard_cli.scenarios.examples import load
from gpuyard_cli.scenarios.observation import Observation, PodSeen, observe
from gpuyard_cli.scenarios.runner import Outcome
from gpuyard_cli.up.nodes import of_presets
from gpuyard_cluster.wiring.parts import Options
from gpuyard_cluster.wiring.steps import StepsYard
from gpuyard_replay import curve, sources
from gpuyard_replay import plot as drawing
from gpuyard_replay import replaying as replays
from gpuyard_replay.replaying import Result

__all__ = [
    "Cluster",
    "InvalidInputError",
    "Outcome",
    "PodSeen",
    "RefusedError",
    "Result",
    "plot",
    "replay",
    "run",
]


class Cluster:
    """API server, scheduler, extender, operator, kubelets and device plugins, with nodes that you name.

    `Cluster("dgx-h100x2")` has two nodes of a preset; `nodes` are entries of a yard.yaml. `policy` is any that
    `gpuyard replay` knows. InvalidInputError or yard.InvalidYardError: the nodes cannot be understood.
    """

    def __init__(self, *presets: str, nodes: Sequence[Mapping[str, Any]] = (), policy: str = "pack") -> None:
        own = yard.parse({"nodes": [*nodes]})
        self._yard = StepsYard((*of_presets(presets), *own), Options(policy=policy))
        self._backend = StepsBackend(self._yard)
        self._yard.settle()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End every part."""
        self._yard.close()

    def apply(self, *objects: JSON | str) -> None:
        """Create Kubernetes objects, given as dicts or as YAML, and let happen what follows at once.

        RefusedError when the API server will not have one.
        """
        for given in objects:
            for obj in parsed(given, "objects") if isinstance(given, str) else [given]:
                self._done(self._backend.apply(obj))

    def delete(self, kind: str, name: str, namespace: str = "default") -> None:
        """Delete a `pod` or a `podgroup`."""
        self._done(self._backend.delete(kind, namespace, name))

    def fail(self, node: str, gpu: int, xid: int | None = 79) -> None:
        """Let the driver report an XID of a GPU; None: it recovers. InvalidInputError: there is no such GPU."""
        self._done(inject(self._yard.api, injections.gpu_fault(node, gpu, xid)))

    def advance(self, seconds: float) -> None:
        """Let time pass, and everything that is due meanwhile happen. ValueError: it does not go back."""
        if not 0 <= seconds < math.inf:
            raise ValueError(f"seconds: {seconds} cannot pass; give 0 or more")
        clock = self._yard.clock
        until = clock.now() + seconds
        self._yard.settle()
        while (following := clock.next_at()) is not None and following <= until:
            clock.advance_to(following)
            self._yard.settle()
        clock.advance_to(until)

    def pods(self, namespace: str = "default") -> Mapping[str, PodSeen]:
        """The pods of a namespace by name: where each is, with which devices, or why it waits."""
        return self._seen(namespace).pods

    def free(self) -> Mapping[str, Mapping[str, int]]:
        """Devices that no pod has, by node and resource."""
        return self._seen("default").free

    def explain(self, pod: str, namespace: str = "default") -> JSON:
        """What `gpuyard explain pod` says of a pod that waits; empty where there is none."""
        return self._yard.explain(namespace, pod) or {}

    def audit(self) -> Sequence[str]:
        """A line for each disagreement of those who keep account of devices."""
        lines: Sequence[str] = self._done(self._backend.audit()).lines
        return lines

    def _seen(self, namespace: str) -> Observation:
        return observe(self._done(self._backend.snapshot(namespace)), namespace)

    def _done(self, work: Any) -> Any:
        found = self._yard.clock.complete(work)
        self._yard.settle()
        return found


def run(folder: Path | str, on: str = "steps") -> Outcome:
    """What comes of the example in a folder on `steps`, `embedded`, `kind` or `kubeconfig`."""
    if on not in BACKENDS:
        raise InvalidInputError("on", "", f"{on!r} is unknown", f"use {', '.join(BACKENDS)}")
    return running.run(load(Path(folder)), on)


def replay(trace: Path | str, policies: Sequence[str], seed: int = 42) -> Mapping[str, Result]:
    """What comes of the pods of a trace with each policy, in an order that is drawn."""
    scene = sources.drawn(sources.Source(Path(trace)), seed)
    return {name: replays.replay(scene, registry.named(name)) for name in policies}


def plot(title: str, results: Mapping[str, Result]) -> str:
    """The curves of replays as an SVG picture."""
    return drawing.svg(title, {name: curve.points(found.record) for name, found in results.items()})
