"""Plots costs against sizes: those of a cycle against nodes, running pods and changed nodes. A small SVG without a library."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from html import escape

from schedviz.cli.bench.measure import Row

_WIDTH, _HEIGHT, _MARGIN, _LEGEND_LINE = 360, 260, 48, 13
#: Distinguishable with colour vision deficiency (Okabe and Ito).
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#666666", "#000000")

#: A line: its name, and points of x and milliseconds.
Line = tuple[str, list[tuple[float, float]]]


def svg(rows: Sequence[Row]) -> str:
    """The cost of a cycle against nodes, running pods and changed nodes."""
    plain = [row for row in rows if row.running is None and not row.dirty_nodes]
    return panels(
        [
            (f"ms a cycle (p50) against {title}", lines)
            for title, lines in (
                ("nodes", _lines(plain, lambda row: row.nodes)),
                ("running pods", _lines([row for row in rows if row.running is not None], lambda row: row.nodes * (row.running or 0))),
                ("nodes changed since the last cycle", _lines([row for row in rows if row.dirty_nodes], lambda row: row.dirty_nodes)),
            )
        ]
    )


def panels(titled: Sequence[tuple[str, Sequence[Line]]]) -> str:
    """Panels side by side, with logarithmic axes because both sides grow by factors."""
    drawn = "".join(f'<g transform="translate({_WIDTH * index} 0)">{_panel(*panel)}</g>' for index, panel in enumerate(titled))
    height = _HEIGHT + _LEGEND_LINE * max((len(lines) for _, lines in titled), default=0)
    size = f'viewBox="0 0 {_WIDTH * len(titled)} {height}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif" font-size="11">'
        f'<rect width="100%" height="100%" fill="white"/>{drawn}</svg>\n'
    )


def _lines(rows: Sequence[Row], x_of: Callable[[Row], float]) -> list[Line]:
    lines: dict[str, list[tuple[float, float]]] = {}
    for row in rows:
        lines.setdefault(f"{row.workload}{', every node' if row.every_node else ''}", []).append((x_of(row), row.p50_ms))
    return [(name, sorted(points)) for name, points in lines.items()]


def _panel(title: str, lines: Sequence[Line]) -> str:
    points = [point for _, some in lines for point in some if point[0] > 0]
    if not points:
        return f'<text x="{_MARGIN}" y="24">{escape(title)}: not measured</text>'
    left, right = min(x for x, _ in points), max(x for x, _ in points)
    low, high = 10 ** math.floor(math.log10(min(y for _, y in points))), 10 ** math.ceil(math.log10(max(y for _, y in points)))
    across = _scale(left, max(right, left * 1.01), _MARGIN, _WIDTH - 16)
    upwards = _scale(low, max(high, low * 10), _HEIGHT - _MARGIN, 24)
    parts = [f'<text x="{_MARGIN}" y="14" font-weight="bold">{escape(title)}</text>']
    for tick in _powers(low, max(high, low * 10)):
        y = upwards(tick)
        parts.append(f'<line x1="{_MARGIN}" x2="{_WIDTH - 16}" y1="{y:.1f}" y2="{y:.1f}" stroke="#ddd"/>')
        parts.append(f'<text x="{_MARGIN - 6}" y="{y + 4:.1f}" text-anchor="end">{tick:g}</text>')
    x_values = sorted({x for x, _ in points})
    parts += [f'<text x="{across(x):.1f}" y="{_HEIGHT - _MARGIN + 16}" text-anchor="middle">{x:,.0f}</text>' for x in x_values]
    for number, (name, some) in enumerate(lines):
        colour = _COLOURS[number % len(_COLOURS)]
        path = " ".join(f"{across(x):.1f},{upwards(y):.1f}" for x, y in some if x > 0)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="1.5"/>')
        parts += [f'<circle cx="{across(x):.1f}" cy="{upwards(y):.1f}" r="2.5" fill="{colour}"/>' for x, y in some if x > 0]
        parts.append(f'<text x="{_MARGIN}" y="{_HEIGHT - 10 + _LEGEND_LINE * number}" fill="{colour}">{escape(name)}</text>')
    return "".join(parts)


def _scale(low: float, high: float, begin: float, end: float) -> Callable[[float], float]:
    share = (end - begin) / (math.log10(high) - math.log10(low))
    return lambda value: begin + (math.log10(value) - math.log10(low)) * share


def _powers(low: float, high: float) -> list[float]:
    return [10.0**power for power in range(round(math.log10(low)), round(math.log10(high)) + 1)]
