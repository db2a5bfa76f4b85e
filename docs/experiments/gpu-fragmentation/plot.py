"""Draws the unallocated GPUs against the arrived load: `python plot.py results.json > unallocated.svg`.

Lines are the means of the results (dashed: ties at random), bands their 95 % intervals, and dots the numbers that the paper's authors
published (published.csv).
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterable
from pathlib import Path

from schedviz.experiments.results import Results, decode_results

WIDTH, HEIGHT, LEFT, TOP, RIGHT, BOTTOM = 920, 430, 52, 16, 270, 46
LOADS, MAX_SHARE = (80, 130), 0.22
COLOURS = {
    "Random": "#9a5b13",
    "DotProd": "#8250a8",
    "Clustering": "#3b7a57",
    "Packing": "#6a7382",
    "BestFit": "#1f6fb4",
    "FGD": "#c8323c",
    "FirstFit": "#111111",
    "FGD then BestFit": "#0a8f8a",
}
_INK = "#5b6570"


def _x(load: float) -> float:
    return LEFT + (load - LOADS[0]) / (LOADS[1] - LOADS[0]) * (WIDTH - LEFT - RIGHT)


def _y(share: float) -> float:
    return TOP + (1 - share / MAX_SHARE) * (HEIGHT - TOP - BOTTOM)


def _text(x: float, y: float, words: str, *, anchor: str = "start", colour: str = _INK) -> str:
    return f'<text x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}" fill="{colour}">{words}</text>'


def _axes() -> Iterable[str]:
    for percent in range(0, 21, 5):
        y = _y(percent / 100)
        yield f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}" stroke="#d8dde2"/>'
        yield _text(LEFT - 8, y + 4, f"{percent} %", anchor="end")
    for load in range(*LOADS, 10):
        yield _text(_x(load), HEIGHT - BOTTOM + 20, f"{load} %", anchor="middle")
    yield _text(_x(LOADS[1]), HEIGHT - BOTTOM + 20, f"{LOADS[1]} %", anchor="middle")
    yield _text((_x(LOADS[0]) + _x(LOADS[1])) / 2, HEIGHT - 8, "GPUs requested by the work that has arrived", anchor="middle")
    yield f'<line x1="{_x(80):.1f}" y1="{_y(0.2):.1f}" x2="{_x(100):.1f}" y2="{_y(0):.1f}" stroke="{_INK}" stroke-dasharray="2 4"/>'


def _curve(results: Results, name: str) -> Iterable[str]:
    colour = COLOURS.get(name.partition(",")[0], _INK)
    dashes = ' stroke-dasharray="7 4"' if "," in name else ""
    values = {
        int(key.partition(".")[2]): value for key, value in results.variant(name).values.items() if key.startswith("unallocatedGpus.")
    }
    upper = [f"{_x(load):.1f},{_y(value.mean + (value.margin or 0)):.1f}" for load, value in values.items()]
    lower = [f"{_x(load):.1f},{_y(value.mean - (value.margin or 0)):.1f}" for load, value in values.items()]
    points = " ".join(f"{_x(load):.1f},{_y(value.mean):.1f}" for load, value in values.items())
    yield f'<polygon points="{" ".join([*upper, *reversed(lower)])}" fill="{colour}" opacity="0.12"/>'
    yield f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"{dashes}/>'


def _published(path: Path) -> Iterable[str]:
    for row in csv.DictReader(path.read_text(encoding="utf-8").splitlines()):
        for load in range(LOADS[0], LOADS[1] + 1, 5):
            x, y = _x(load), _y(float(row[str(load)]) / 100)
            yield f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{COLOURS[row["policy"]]}"/>'


def _legend(results: Results) -> Iterable[str]:
    """The names at the ends of their curves, moved apart."""
    last = f"unallocatedGpus.{LOADS[1]}"
    ends = sorted((variant.values[last].mean, variant.name) for variant in results.variants if last in variant.values)
    y = float(HEIGHT)
    for value, name in ends:
        y = min(_y(value) + 4, y - 17)
        words = f"{name} {100 * value:.1f} %"
        yield _text(WIDTH - RIGHT + 10, y, words, colour=COLOURS.get(name.partition(",")[0], _INK))


def svg(results: Results, published: Path) -> str:
    """The drawing."""
    curves = [line for variant in results.variants for line in _curve(results, variant.name)]
    parts = [*_axes(), *curves, *_published(published), *_legend(results)]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="13">'
        "<title>Unallocated GPUs against the arrived load, by policy</title>"
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>\n' + "\n".join(parts) + "\n</svg>\n"
    )


if __name__ == "__main__":
    sys.stdout.write(svg(decode_results(Path(sys.argv[1]).read_bytes()), Path(__file__).with_name("published.csv")))
