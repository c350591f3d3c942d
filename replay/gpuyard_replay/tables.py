"""What came out, as text: a table for people, and CSV with every point for programs."""

import csv
import io
from collections.abc import Mapping, Sequence
from typing import Final

from gpuyard_replay import curve
from gpuyard_replay.curve import Point
from gpuyard_replay.replaying import Result

SHOWN: Final = (90, 95, 100, 130)
"""How much has been asked for, in percent, where allocations are compared."""


def table(results: Mapping[str, Result]) -> str:
    """One line a policy; where nothing came so late, the last point stands."""
    heads = ["policy", *(f"in use at {asked} %" for asked in SHOWN), "lost at 100 %", "pods without a place"]
    lines = [heads]
    for name, result in results.items():
        points = curve.points(result.record)
        used = [f"{at(points, asked).allocated:.2f}" for asked in SHOWN]
        failed = ", ".join(f"{number} x {kind}" for kind, number in sorted(result.failed.items()))
        lines.append([name, *used, f"{at(points, 100).fragmentation:.2f}", failed or "none"])
    return aligned(lines)


def aligned(lines: Sequence[Sequence[str]]) -> str:
    """Cells in columns as wide as their widest."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join("  ".join(map(str.ljust, line, widths)).rstrip() for line in lines)


def at(points: Sequence[Point], asked: int) -> Point:
    """The last point up to so much; the first where there is none."""
    return next((point for point in reversed(points) if point.asked <= asked), points[0])


def as_csv(curves: Mapping[str, Sequence[Point]]) -> str:
    """Columns: policy, asked, allocated, fragmentation, fragmentation_ratio, all in percent."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["policy", "asked", "allocated", "fragmentation", "fragmentation_ratio"])
    for name, points in curves.items():
        for p in points:
            values = (p.allocated, p.fragmentation, p.fragmentation_ratio)
            writer.writerow([name, p.asked, *(f"{value:.4f}" for value in values)])
    return text.getvalue()
