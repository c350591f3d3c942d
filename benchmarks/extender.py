"""What a scheduler extender costs: Filter, Prioritize and Bind over HTTP, against clusters that are made up.

Every scenario starts an API server with the cluster, then the extender, and plays kube-scheduler: for each pod a
Filter over all nodes, a Prioritize over those that passed, a Bind to the best. The same requests go to a handler that
does nothing: the ratio says more than milliseconds do on a machine that others use too.

    python -m benchmarks.extender                                   # all sizes, GPUYard's extender
    python -m benchmarks.extender --sizes 1000:20000 --seconds 20   # one size, longer
    python -m benchmarks.extender --sizes 1000:0 --url http://127.0.0.1:39999/scheduler --api-port 8001
"""

import argparse
import contextlib
import itertools
import time
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import orjson

from benchmarks import processes
from benchmarks.calls import Connection, per_second, percentile
from benchmarks.clusters import JSON, Cluster
from benchmarks.processes import Process

SIZES = "100:0,100:20000,1000:0,1000:20000,5000:0,5000:20000"
CONNECTIONS = 8
PATIENCE_SECONDS = 120
COLUMNS = (
    "nodes", "bound pods", "cycles", "filter p50", "p99", "prioritize p50", "p99", "both p50", "nothing p50",
    "ratio", "CPU a call", "binds/s, many nodes", "one node", "bare", "first answer s", "RSS MB", "peak",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Timings:
    """Seconds of each call; `nothing`: of both calls to the handler that does nothing."""

    filter: list[float] = field(default_factory=list)
    prioritize: list[float] = field(default_factory=list)
    both: list[float] = field(default_factory=list)
    nothing: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)


class Scheduler:
    """kube-scheduler's part, for an extender at `url` that follows the API server at `api`."""

    def __init__(self, url: str, api: str, names: list[str], pid: int | None) -> None:
        self._extender, self._api = Connection(url), Connection(api)
        self._path = urlsplit(url).path.rstrip("/")
        self._names = names
        self._process = Process(pid) if pid else None
        self.timings = Timings()

    def wait(self, pod: JSON, deadline: float) -> None:
        """Until a Filter is answered without an error."""
        while orjson.loads(self._ask("filter", pod, self._names)[1]).get("Error"):
            if time.perf_counter() > deadline:
                raise TimeoutError("the extender never answered a Filter without an error")
            time.sleep(0.02)

    def cycle(self, pod: JSON) -> None:
        """One scheduling cycle; nothing is bound where no node passes."""
        before = self._process.cpu_seconds() if self._process else 0.0
        spent, answer = self._ask("filter", pod, self._names)
        self.timings.filter.append(spent)
        passed = orjson.loads(answer)["NodeNames"] or []
        if not passed:
            return
        spent, answer = self._ask("prioritize", pod, passed)
        self.timings.prioritize.append(spent)
        self.timings.both.append(self.timings.filter[-1] + spent)
        if self._process:
            self.timings.cpu.append((self._process.cpu_seconds() - before) / 2)
        nothing = [self._api.post("/nothing", _args(pod, names))[0] for names in (self._names, passed)]
        self.timings.nothing.append(sum(nothing))
        best = max(
            orjson.loads(answer) or [{"Host": passed[0], "Score": 0}], key=lambda found: found["Score"]
        )
        self._extender.post(f"{self._path}/bind", binding_args(pod, best["Host"]))

    def passing(self, pod: JSON) -> list[str]:
        """The nodes that pass Filter."""
        return orjson.loads(self._ask("filter", pod, self._names)[1])["NodeNames"] or []

    def _ask(self, verb: str, pod: JSON, names: list[str]) -> tuple[float, bytes]:
        return self._extender.post(f"{self._path}/{verb}", _args(pod, names))


def _args(pod: JSON, names: list[str]) -> JSON:
    return {"Pod": pod, "Nodes": None, "NodeNames": names}


def binding(pod: JSON, node: str) -> tuple[str, JSON]:
    """What an extender writes."""
    metadata = {key: pod["metadata"][key] for key in ("name", "namespace", "uid")}
    target = {"apiVersion": "v1", "kind": "Node", "name": node}
    path = f"/api/v1/namespaces/{metadata['namespace']}/pods/{metadata['name']}/binding"
    return path, {"apiVersion": "v1", "kind": "Binding", "metadata": metadata, "target": target}


def binding_args(pod: JSON, node: str) -> JSON:
    """ExtenderBindingArgs."""
    metadata = pod["metadata"]
    return {
        "PodName": metadata["name"], "PodNamespace": metadata["namespace"], "PodUID": metadata["uid"], "Node": node,
    }  # fmt: skip


def measure(nodes: int, bound: int, options: argparse.Namespace) -> list[Any]:
    """One row of the table."""
    cluster = Cluster(nodes, bound)
    with contextlib.ExitStack() as stack:
        api = stack.enter_context(processes.api_server(nodes, bound, options.api_port))
        started = time.perf_counter()
        url, pid = (
            (options.url, None)
            if options.url
            else stack.enter_context(processes.extender(("--api", api), options.policy))
        )
        names = [node["metadata"]["name"] for node in cluster.nodes]
        scheduler = Scheduler(url, api, names, pid)
        scheduler.wait(cluster.mixed[0], started + PATIENCE_SECONDS)
        first = time.perf_counter() - started
        until = time.perf_counter() + options.seconds
        for pod in cluster.mixed:
            scheduler.cycle(pod)
            if time.perf_counter() > until:
                break
        rates = _bind_rates(scheduler, url, api, cluster)
        memory = Process(pid).megabytes() if pid else ("", "")
        return [nodes, bound, *_figures(scheduler.timings), *rates, f"{first:.1f}", *memory]


def _bind_rates(scheduler: Scheduler, url: str, api: str, cluster: Cluster) -> list[str]:
    """Binds a second: of shares to many nodes, of pods without GPUs to one node, and without an extender."""
    path = f"{urlsplit(url).path.rstrip('/')}/bind"
    many, one = scheduler.passing(cluster.shares[0]), cluster.nodes[0]["metadata"]["name"]
    spread = [(path, binding_args(pod, node)) for pod, node in zip(cluster.shares, itertools.cycle(many))]
    packed = [(path, binding_args(pod, one)) for pod in cluster.plain[::2]]
    bare = [binding(pod, one) for pod in cluster.plain[1::2]]
    rates = [
        per_second(base, found, CONNECTIONS) for base, found in ((url, spread), (url, packed), (api, bare))
    ]
    return [f"{rate:.0f}" + (f" ({failed} refused)" if failed else "") for rate, failed in rates]


def _figures(timings: Timings) -> list[str]:
    middle, nothing = percentile(timings.both, 0.5), percentile(timings.nothing, 0.5)
    shown = [
        percentile(timings.filter, 0.5), percentile(timings.filter, 0.99),
        percentile(timings.prioritize, 0.5), percentile(timings.prioritize, 0.99),
        middle, nothing, middle / nothing, percentile(timings.cpu, 0.5),
    ]  # fmt: skip
    return [str(len(timings.both)), *(f"{found:.2f}" for found in shown)]


def main() -> None:
    """Print one Markdown table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--sizes", default=SIZES, help="nodes:bound pods, ... (default: %(default)s)")
    parser.add_argument(
        "--seconds", type=float, default=6, help="for the cycles of one size (default: %(default)s)"
    )
    parser.add_argument("--policy", default="pack")
    parser.add_argument(
        "--url", help="an extender that runs already and follows the API server at --api-port"
    )
    parser.add_argument("--api-port", type=int, default=0, help="default: any")
    options = parser.parse_args()
    print(f"| {' | '.join(COLUMNS)} |\n|{'---|' * len(COLUMNS)}")
    for size in options.sizes.split(","):
        nodes, bound = map(int, size.split(":"))
        print(f"| {' | '.join(map(str, measure(nodes, bound, options)))} |", flush=True)


if __name__ == "__main__":
    main()
