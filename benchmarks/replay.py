"""What a replayed decision costs, and how far the published figures are met: all of what `make test` tries a part of.

    python -m benchmarks.replay --traces FOLDER      # the folder of the openb traces
    python -m benchmarks.replay                      # speed only, on made-up nodes

Time is processor time of this process: it suffers least from what else runs.
"""

import argparse
import csv
import statistics
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace as changed
from pathlib import Path

from gpuyard.policies import registry
from gpuyard_replay import arrivals, curve, sources
from gpuyard_replay.replaying import Scene, replay
from gpuyard_replay.sources import Source
from gpuyard_replay.tables import at
from gpuyard_replay.traces import TraceNode, TracePod

PUBLISHED = {
    "dotprod": "02-DotProd",
    "clustering": "03-GpuClustering",
    "packing": "04-GpuPacking",
    "bestfit": "05-BestFit",
    "fgd": "06-FGD",
}
FIGURES = {"allocated": "allo", "fragmentation": "frag", "fragmentation_ratio": "frag_ratio"}
SIZES = (1_213, 5_000, 15_000)
ARRIVALS = 4_000


def exact(folder: Path) -> Iterator[str]:
    """The largest difference to any published point, with the recorded orders of arrival."""
    yield "| policy | order | " + " | ".join(FIGURES) + " | points |\n|---|---|---|---|---|---|"
    for seed in (42, 43):
        order = folder / "orders" / f"default_seed{seed}.csv.gz"
        scene = sources.ordered(Source(folder / "openb_pod_list_default.csv"), order, seed)
        for policy in PUBLISHED:
            points = {p.asked: p for p in curve.points(replay(scene, registry.named(policy)).record)}
            found, compared = [], 0
            for figure in FIGURES:
                expected = _published(folder, figure, "default", policy)[seed]
                found.append(max(abs(getattr(points[a], figure) - value) for a, value in expected.items()))
                compared += len(expected)
            shown = " | ".join(f"{difference:.4f}" for difference in found)
            yield f"| {policy} | {seed} | {shown} | {compared} |"


def means(folder: Path, seeds: range) -> Iterator[str]:
    """Means over orders of our own against the published means over theirs, at 130 %."""
    yield "| trace | policy | ours | published | difference |\n|---|---|---|---|---|"
    for trace in ("default", "gpushare40", "multigpu20"):
        for policy in PUBLISHED:
            source = Source(folder / f"openb_pod_list_{trace}.csv")
            ours = statistics.fmean(
                at(
                    curve.points(replay(sources.drawn(source, seed), registry.named(policy)).record), 130
                ).allocated
                for seed in seeds
            )
            published = statistics.fmean(
                found[130] for found in _published(folder, "allocated", trace, policy).values()
            )
            yield f"| {trace} | {policy} | {ours:.2f} | {published:.2f} | {ours - published:+.2f} |"


def speed(policies: list[str]) -> Iterator[str]:
    """Microseconds of processor time a decision, and decisions in a second of it, on nodes that are made up."""
    yield "| policy | " + " | ".join(f"{size:,} nodes" for size in SIZES) + " |\n|---|---|---|---|"
    for policy in policies:
        spent = []
        for size in SIZES:
            scene = _made_up(size)
            began = time.process_time()
            replay(scene, registry.named(policy))
            spent.append(1e6 * (time.process_time() - began) / len(scene.arrivals))
        shown = " | ".join(f"{found:.0f} ({1e6 / found:,.0f}/s)" for found in spent)
        yield f"| {policy} | {shown} |"


def _made_up(size: int) -> Scene:
    nodes = [TraceNode(f"n{i:05}", 96_000, 393_216, 8, "A") for i in range(size)]
    shapes = [
        (4_000, 16_384, 1, 470),
        (3_000, 5_120, 1, 810),
        (11_900, 49_152, 1, 1000),
        (8_000, 8_192, 0, 0),
    ]
    pods = [TracePod(f"p{i:04}", *shapes[i % len(shapes)]) for i in range(ARRIVALS)]
    came, ranks = arrivals.draw(pods, nodes, 1, sum(pod.gpu_milli for pod in pods))
    return changed(Scene(nodes, ranks, came, pods, 1), arrivals=came[:ARRIVALS])


def _published(folder: Path, figure: str, trace: str, policy: str) -> Mapping[int, Mapping[int, float]]:
    with (folder / "expected" / f"analysis_{FIGURES[figure]}_discrete.csv").open(newline="") as file:
        return {
            int(row["seed"]): {
                int(key): float(value) for key, value in row.items() if key.isdecimal() and value
            }
            for row in csv.DictReader(file)
            if (row["workload"], row["sc_policy"]) == (f"openb_pod_list_{trace}", PUBLISHED[policy])
        }


def main() -> None:
    """Print Markdown tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--traces", type=Path, help="the folder of the openb traces")
    parser.add_argument("--seeds", type=int, default=3, help="orders of our own (default: %(default)s)")
    options = parser.parse_args()
    tables = [speed(["pack", "bestfit", "fgd", "foresight"])]
    if options.traces:
        tables += [exact(options.traces), means(options.traces, range(1, 1 + options.seeds))]
    for table in tables:
        for line in table:
            print(line, flush=True)
        print()


if __name__ == "__main__":
    main()
