"""Figures, as a table on the terminal and between two marks in a document."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

BEGIN, END = "<!-- figures: begin -->", "<!-- figures: end -->"


@dataclass(frozen=True)
class Figure:
    """One measured thing; `goal` is empty where none was set."""

    what: str
    measured: str
    goal: str = ""


def print_figures(figures: list[Figure]) -> None:
    table = Table("what", "measured", "goal", box=None, header_style="bold")
    for figure in figures:
        table.add_row(figure.what, figure.measured, figure.goal)
    Console().print(table)


def write_figures(figures: list[Figure], document: Path) -> None:
    """Replace what stands between the marks."""
    rows = ["| what | measured | goal |", "|---|---|---|", *(f"| {f.what} | {f.measured} | {f.goal} |" for f in figures)]
    text = document.read_text("utf-8")
    before, rest = text.split(BEGIN, 1)
    _, after = rest.split(END, 1)
    document.write_text(f"{before}{BEGIN}\n" + "\n".join(rows) + f"\n{END}{after}", "utf-8")
