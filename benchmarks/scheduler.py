"""A real kube-scheduler with GPUYard's extender, beside the same with one that does nothing.

    python -m benchmarks.scheduler                                   # with etcd and kube-apiserver, see --programs
    python -m benchmarks.scheduler --kubeconfig FILE --nodes 5000    # a cluster that is there, such as kind's

The nodes have no kubelets: pods end where they are bound. A second kube-scheduler runs here, for pods that name it.
Measured are pods a second while a queue of them is worked off, in turns with the other extender; Bindings a second
through the extender and without it; how long it takes until a pod that no node takes says why; how soon a pod is
bound among many that were rejected.
"""

import argparse
import asyncio
import contextlib
import math
from pathlib import Path
from typing import Any

from benchmarks import control_plane, processes
from benchmarks.grounds import Ground
from benchmarks.loads import Binds, Refusals, Throng, Verbs
from gpuyard import vocabulary
from gpuyard_kube.http import HttpApi

OURS, NOTHING = "gpuyard", "nothing"
PROGRAMS = Path("~/.cache/gpuyard/kind/bin").expanduser()


async def measure(options: argparse.Namespace) -> None:
    """Print what comes out."""
    with contextlib.ExitStack() as stack:
        own = options.kubeconfig is None
        kubeconfig = options.kubeconfig or stack.enter_context(control_plane.api_server(options.programs))
        api = await HttpApi.from_kubeconfig(kubeconfig)
        try:
            async with Ground.prepared(api, options.nodes, own) as ground:
                ours, _ = stack.enter_context(
                    processes.extender(("--kubeconfig", kubeconfig), options.policy)
                )
                nothing, _ = stack.enter_context(processes.served("nothing"))
                bench = Bench(options, kubeconfig, ground, {OURS: ours, NOTHING: nothing})
                await bench.run()
        finally:
            await api.close()


class Bench:
    """The measurements. `urls`: of the extenders, by name."""

    def __init__(
        self, options: argparse.Namespace, kubeconfig: str, ground: Ground, urls: dict[str, str]
    ) -> None:
        self._options, self._kubeconfig, self._ground, self._urls = options, kubeconfig, ground, urls

    async def run(self) -> None:
        extender = HttpApi.at(self._urls[OURS])
        try:
            await self._ground.until_ready(extender)
            await self._rates()
            ours, bare = await Binds(self._ground, extender).rates(self._options.pods)
            print(f"binds a second: {ours:.0f}, of a bare client {bare:.0f}: {ours / bare:.0%}", flush=True)
            with self._scheduler(OURS):
                await self._refusals(extender)
                await self._throng(Verbs(extender))
        finally:
            await extender.close()

    async def _rates(self) -> None:
        print("| extender | nodes | pods | pods/s | CPU ms a pod |\n|---|---|---|---|---|")
        rates: dict[str, list[float]] = {OURS: [], NOTHING: []}
        costs: dict[str, list[float]] = {OURS: [], NOTHING: []}
        for name in (NOTHING, OURS) * self._options.rounds:
            rate, cost = await self._turn(name)
            rates[name].append(rate)
            costs[name].append(cost)
            count = self._options.pods
            print(
                f"| {name} | {self._options.nodes} | {count} | {rate:.0f} | {1000 * cost:.1f} |", flush=True
            )
        ours, nothing = max(rates[OURS]), max(rates[NOTHING])
        print(
            f"\nbest against best: {ours / nothing:.0%}; by CPU: {min(costs[NOTHING]) / min(costs[OURS]):.0%}\n"
        )

    async def _turn(self, name: str) -> tuple[float, float]:
        """Pods a second; processor time of everything for each pod, which others on the machine change less."""
        pods, bound = await self._ground.come(self._options.pods, name), self._ground.bound
        with self._scheduler(name):
            await self._ground.until(lambda: any(pod in bound for pod in pods), "the first pod is bound")
            before = control_plane.processor_seconds()
            await self._ground.until_bound(pods)
            spent = control_plane.processor_seconds() - before
        times = sorted(bound[pod] for pod in pods)
        await self._ground.leave()
        return (len(times) - 1) / (times[-1] - times[0]), spent / len(pods)

    async def _refusals(self, extender: HttpApi) -> None:
        explained, told = await Refusals(self._ground, extender, OURS).waits(self._options.pods)
        print(f"until a pod that no node takes can be explained: {_figures(explained)}")
        print(f"until its condition says why, behind the others: {_figures(told)}", flush=True)

    async def _throng(self, verbs: Verbs) -> None:
        throng = Throng(self._ground, verbs, OURS)
        waits, share, calls = await throng.waits(self._options.rejected, self._options.seconds)
        half = len(waits) // 2
        print(
            f"{self._options.rejected} rejected pods, 10 changes of nodes a second: until another pod is bound:"
            f" {_figures(waits[:half])}; in the second half of the time, with longer back-offs:"
            f" {_figures(waits[half:])}; filter calls a second: {calls:.0f}; the extender's part of the time:"
            f" {share:.0%}"
        )

    def _scheduler(self, name: str) -> contextlib.AbstractContextManager[None]:
        extender: dict[str, Any] = {
            "urlPrefix": self._urls[name], "filterVerb": "filter", "prioritizeVerb": "prioritize", "weight": 1,
            "nodeCacheCapable": True, "httpTimeout": "5s", "managedResources": [{"name": vocabulary.GPU}],
        }  # fmt: skip
        if name == OURS:
            extender |= {"bindVerb": "bind", "preemptVerb": "preempt"}
        return control_plane.scheduler(self._options.programs, self._kubeconfig, name, extender)


def _figures(seconds: list[float]) -> str:
    ordered = sorted(seconds)
    middle, last = ordered[len(ordered) // 2], ordered[math.ceil(0.99 * len(ordered)) - 1]
    return f"p50 {1000 * middle:.0f} ms, p99 {1000 * last:.0f} ms ({len(ordered)})"


def main() -> None:
    """Read the arguments."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kubeconfig", help="a cluster to use; without one an API server is started here")
    parser.add_argument(
        "--programs", type=Path, default=PROGRAMS, help="where kube-scheduler is, and the others"
    )
    parser.add_argument("--nodes", type=int, default=500)
    parser.add_argument("--pods", type=int, default=400, help="in the queue that is worked off")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--rejected", type=int, default=200)
    parser.add_argument("--seconds", type=int, default=20, help="among rejected pods (default: %(default)s)")
    parser.add_argument("--policy", default="pack")
    asyncio.run(measure(parser.parse_args()))


if __name__ == "__main__":
    main()
