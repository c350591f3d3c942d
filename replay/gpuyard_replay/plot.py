"""Curves as an SVG picture: a few lines of text, which any browser shows and any diff compares."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from xml.sax.saxutils import escape

from gpuyard_replay.curve import Point

_WIDTH, _HEIGHT, _LEFT, _TOP, _GAP = 460, 300, 60, 44, 70
_COLOURS: Final = (
    "#1b6ca8", "#d1495b", "#2e8b57", "#e09f3e", "#6a4c93", "#555555", "#00a6a6", "#b5838d", "#8d6a00", "#003049",
)  # fmt: skip
_STEPS: Final = 5


Line = Sequence[tuple[float, float]]


@dataclass(frozen=True, slots=True)
class Panel:
    """One diagram: a line for each name, the same names in all panels of a picture."""

    title: str
    lines: Mapping[str, Line]


def svg(title: str, curves: Mapping[str, Sequence[Point]]) -> str:
    """Allocation and fragmentation over what was asked for, one line for each name, in percent of all GPUs."""
    used = {name: [(p.asked, p.allocated) for p in points] for name, points in curves.items()}
    lost = {name: [(p.asked, p.fragmentation) for p in points] for name, points in curves.items()}
    panels = [Panel("GPUs in use, %", used), Panel("GPUs lost to fragmentation, %", lost)]
    return picture(title, "GPUs asked for, %", panels)


def picture(title: str, across: str, panels: Sequence[Panel]) -> str:
    """Panels side by side over the same values `across`."""
    names = list(panels[0].lines)
    width = _LEFT + len(panels) * (_WIDTH + _GAP)
    height = _TOP + _HEIGHT + 60 + 18 * len(names)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        'font-family="sans-serif" font-size="12">',
        '<rect width="100%" height="100%" fill="white"/>',
        f'<text x="{_LEFT}" y="20" font-size="15">{escape(title)}</text>',
    ]
    for number, panel in enumerate(panels):
        lines += _drawn(panel, across, _LEFT + number * (_WIDTH + _GAP))
    lines += _legend(names, _TOP + _HEIGHT + 56)
    return "\n".join([*lines, "</svg>", ""])


def _drawn(panel: Panel, across: str, left: int) -> Iterator[str]:
    bottom = _TOP + _HEIGHT
    last = max((x for line in panel.lines.values() for x, _ in line), default=0) or 1
    top = _round_up(max((y for line in panel.lines.values() for _, y in line), default=1))
    yield f'<text x="{left}" y="{_TOP - 8}">{panel.title}</text>'
    for step in range(_STEPS + 1):
        y, x = bottom - _HEIGHT * step / _STEPS, left + _WIDTH * step / _STEPS
        yield f'<line x1="{left}" x2="{left + _WIDTH}" y1="{y:.1f}" y2="{y:.1f}" stroke="#ddd"/>'
        yield f'<text x="{left - 6}" y="{y + 4:.1f}" text-anchor="end">{top * step / _STEPS:g}</text>'
        yield f'<text x="{x:.1f}" y="{bottom + 16}" text-anchor="middle">{last * step / _STEPS:g}</text>'
    yield f'<text x="{left + _WIDTH / 2}" y="{bottom + 34}" text-anchor="middle">{across}</text>'
    for line, colour in zip(panel.lines.values(), _colours(panel.lines), strict=True):
        found = " ".join(f"{left + _WIDTH * x / last:.1f},{bottom - _HEIGHT * y / top:.1f}" for x, y in line)
        yield f'<polyline points="{found}" fill="none" stroke="{colour}" stroke-width="1.5"/>'


def _round_up(highest: float) -> int:
    """The next of 1, 2, 5, 10, 20, 50, ..."""
    decade = 1
    while highest > 10 * decade:
        decade *= 10
    return next(step * decade for step in (1, 2, 5, 10) if highest <= step * decade)


def _legend(names: Collection[str], top: int) -> Iterator[str]:
    for number, (name, colour) in enumerate(zip(names, _colours(names), strict=True)):
        y = top + 18 * number
        yield f'<line x1="{_LEFT}" x2="{_LEFT + 24}" y1="{y - 4}" y2="{y - 4}" stroke="{colour}" stroke-width="3"/>'
        yield f'<text x="{_LEFT + 32}" y="{y}">{escape(name)}</text>'


def _colours(names: Collection[str]) -> list[str]:
    return [_COLOURS[i % len(_COLOURS)] for i in range(len(names))]
