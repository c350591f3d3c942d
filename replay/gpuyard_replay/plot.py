"""Curves as an SVG picture: a few lines of text, which any browser shows and any diff compares."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from xml.sax.saxutils import escape

from gpuyard_replay.curve import Point

_WIDTH, _HEIGHT, _LEFT, _TOP, _GAP = 460, 300, 60, 44, 70
_COLOURS: Final = (
    "#1b6ca8", "#d1495b", "#2e8b57", "#e09f3e", "#6a4c93", "#555555", "#00a6a6", "#b5838d", "#8d6a00", "#003049",
)  # fmt: skip
_STEPS: Final = 5


@dataclass(frozen=True, slots=True)
class _Panel:
    title: str
    value: Callable[[Point], float]
    top: float


def svg(title: str, curves: Mapping[str, Sequence[Point]]) -> str:
    """Allocation and fragmentation over what was asked for, one line for each name, in percent of all GPUs."""
    last = max((point.asked for points in curves.values() for point in points), default=100)
    panels = [_panel("GPUs in use, %", curves, lambda p: p.allocated)]
    panels.append(_panel("GPUs lost to fragmentation, %", curves, lambda p: p.fragmentation))
    width = _LEFT + len(panels) * (_WIDTH + _GAP)
    height = _TOP + _HEIGHT + 60 + 18 * len(curves)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        'font-family="sans-serif" font-size="12">',
        '<rect width="100%" height="100%" fill="white"/>',
        f'<text x="{_LEFT}" y="20" font-size="15">{escape(title)}</text>',
    ]
    for number, panel in enumerate(panels):
        lines += _drawn(panel, curves, _LEFT + number * (_WIDTH + _GAP), max(last, 1))
    lines += _legend(curves, _TOP + _HEIGHT + 56)
    return "\n".join([*lines, "</svg>", ""])


def _panel(title: str, curves: Mapping[str, Sequence[Point]], value: Callable[[Point], float]) -> _Panel:
    highest = max((value(point) for points in curves.values() for point in points), default=1)
    return _Panel(title, value, next(top for top in (1, 2, 5, 10, 20, 50, 100, 1000) if highest <= top))


def _drawn(panel: _Panel, curves: Mapping[str, Sequence[Point]], left: int, last: int) -> Iterator[str]:
    bottom = _TOP + _HEIGHT
    yield f'<text x="{left}" y="{_TOP - 8}">{panel.title}</text>'
    for step in range(_STEPS + 1):
        y, x = bottom - _HEIGHT * step / _STEPS, left + _WIDTH * step / _STEPS
        yield f'<line x1="{left}" x2="{left + _WIDTH}" y1="{y:.1f}" y2="{y:.1f}" stroke="#ddd"/>'
        yield f'<text x="{left - 6}" y="{y + 4:.1f}" text-anchor="end">{panel.top * step / _STEPS:g}</text>'
        yield f'<text x="{x:.1f}" y="{bottom + 16}" text-anchor="middle">{last * step / _STEPS:g}</text>'
    yield f'<text x="{left + _WIDTH / 2}" y="{bottom + 34}" text-anchor="middle">GPUs asked for, %</text>'
    for points, colour in zip(curves.values(), _colours(curves), strict=True):
        found = " ".join(
            f"{left + _WIDTH * p.asked / last:.1f},{bottom - _HEIGHT * panel.value(p) / panel.top:.1f}"
            for p in points
        )
        yield f'<polyline points="{found}" fill="none" stroke="{colour}" stroke-width="1.5"/>'


def _legend(curves: Mapping[str, Sequence[Point]], top: int) -> Iterator[str]:
    for number, (name, colour) in enumerate(zip(curves, _colours(curves), strict=True)):
        y = top + 18 * number
        yield f'<line x1="{_LEFT}" x2="{_LEFT + 24}" y1="{y - 4}" y2="{y - 4}" stroke="{colour}" stroke-width="3"/>'
        yield f'<text x="{_LEFT + 32}" y="{y}">{escape(name)}</text>'


def _colours(curves: Mapping[str, Sequence[Point]]) -> list[str]:
    return [_COLOURS[i % len(_COLOURS)] for i in range(len(curves))]
