"""Figures of the whole product, and their table on the terminal."""

from __future__ import annotations

import msgspec
from rich.console import Console
from rich.table import Table


class Figure(msgspec.Struct, frozen=True):
    """A measured value; `goal` is empty if none was set."""

    what: str
    measured: str
    goal: str = ""


def print_figures(figures: list[Figure]) -> None:
    table = Table("what", "measured", "goal", box=None, header_style="bold")
    for figure in figures:
        table.add_row(figure.what, figure.measured, figure.goal)
    Console().print(table)
