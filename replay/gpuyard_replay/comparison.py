"""Sweeps compared: means over seeds, and what a policy gains over another on the same arrivals."""

import statistics
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Final

from gpuyard_replay.curve import Point
from gpuyard_replay.sweeping import Curves
from gpuyard_replay.tables import at

_BASE: Final = "fgd"


_Runs = Mapping[int, Sequence[Point]]
"""The curves of one policy on one trace, by seed."""


def markdown(curves: Curves) -> str:
    """Tables of GPUs in use, and of what each policy gains over the base seed by seed; in percent of all GPUs."""
    until = max((key.until for key in curves), default=100)
    policies = sorted({key.policy for key in curves})
    base = [policy for policy in policies if policy != _BASE]
    return "\n\n".join(
        [
            f"GPUs in use once {until} % have been asked for, mean ± standard deviation over seeds:",
            _table(curves, policies, lambda runs, _: _spread(list(_in_use(runs, until).values()))),
            "GPUs in use once 100 % have been asked for:",
            _table(curves, policies, lambda runs, _: _spread(list(_in_use(runs, 100).values()))),
            f"Gain over {_BASE} at {until} % on the same arrivals, in points: mean (worst and best seed):",
            _table(curves, base, lambda runs, over: _gain(_in_use(runs, until), _in_use(over, until))),
            f"The point of the mean curve that is worst against {_BASE}, and at how much asked for:",
            _table(curves, base, lambda runs, over: _worst(runs, over, until)),
            "Orders of arrival:",
            _table(curves, policies, lambda runs, _: str(len(runs) or "")),
        ]
    )


def _table(curves: Curves, policies: Sequence[str], cell: Callable[[_Runs, _Runs], str]) -> str:
    lines = [["trace", *policies], ["---"] * (1 + len(policies))]
    for trace in dict.fromkeys(key.trace for key in curves):
        runs = {policy: _runs(curves, trace, policy) for policy in (*policies, _BASE)}
        lines.append([trace, *(cell(runs[policy], runs[_BASE]) for policy in policies)])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _runs(curves: Curves, trace: str, policy: str) -> _Runs:
    return {key.seed: points for key, points in curves.items() if (key.trace, key.policy) == (trace, policy)}


def _in_use(runs: _Runs, asked: int) -> dict[int, float]:
    return {seed: at(points, asked).allocated for seed, points in runs.items()}


def _spread(values: Collection[float]) -> str:
    if not values:
        return ""
    deviation = f" ±{statistics.stdev(values):.2f}" if len(values) > 1 else ""
    return f"{statistics.fmean(values):.2f}{deviation}"


def _gain(values: Mapping[int, float], base: Mapping[int, float]) -> str:
    found = [value - base[seed] for seed, value in values.items() if seed in base]
    return f"{statistics.fmean(found):+.2f} ({min(found):+.2f}, {max(found):+.2f})" if found else ""


def _worst(runs: _Runs, base: _Runs, until: int) -> str:
    seeds = runs.keys() & base.keys()
    found = [
        (statistics.fmean(at(runs[s], asked).allocated - at(base[s], asked).allocated for s in seeds), asked)
        for asked in range(until + 1 if seeds else 0)
    ]
    return "{:+.2f} at {} %".format(*min(found)) if found else ""


def means(curves: Curves, trace: str) -> Mapping[str, Sequence[Point]]:
    """The mean curve of each policy on one trace."""
    found: defaultdict[str, defaultdict[int, list[Point]]] = defaultdict(lambda: defaultdict(list))
    for key, points in sorted(curves.items()):
        if key.trace == trace:
            for point in points:
                found[key.policy][point.asked].append(point)
    return {
        policy: [_mean(points) for _, points in sorted(by_asked.items())]
        for policy, by_asked in found.items()
    }


def _mean(points: Sequence[Point]) -> Point:
    return Point(
        points[0].asked,
        statistics.fmean(point.allocated for point in points),
        statistics.fmean(point.fragmentation for point in points),
        statistics.fmean(point.fragmentation_ratio for point in points),
    )
