"""Rows of a measurement as a table."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from schedviz.cli.bench.measure import Row


def print_rows(rows: Sequence[Row]) -> None:
    """Print one line a row; the ratio is the median cycle in units of the calibration."""
    table = Table("workload", box=None, header_style="bold")
    for heading in ("nodes", "pods/s", "p50 ms", "p90 ms", "p99 ms", "calibration ms", "ratio", "RSS MB", "bytes/cycle"):
        table.add_column(heading, justify="right")
    for row in rows:
        name = row.workload + (", every node" if row.every_node else "")
        figures = (
            row.nodes,
            row.pods_per_second,
            row.p50_ms,
            row.p90_ms,
            row.p99_ms,
            row.calibration_ms,
            row.ratio,
            row.rss_mb,
            row.event_bytes,
        )
        table.add_row(name, *(f"{figure:,}" for figure in figures))
    Console().print(table)


def print_ratios(rows: Sequence[Row], before: Sequence[Row]) -> None:
    """Print what became of each row that was there before: below 1 is faster, whatever the machine did meanwhile."""
    known = {_what(row): row for row in before}
    table = Table("workload", box=None, header_style="bold")
    for heading in ("nodes", "ratio before", "ratio now", "now / before"):
        table.add_column(heading, justify="right")
    for row in rows:
        earlier = known.get(_what(row))
        if earlier is not None:
            table.add_row(row.workload, f"{row.nodes:,}", f"{earlier.ratio:,}", f"{row.ratio:,}", f"{row.ratio / earlier.ratio:.2f}")
    Console().print(table)


def _what(row: Row) -> tuple[str, int, bool, str]:
    return row.workload, row.nodes, row.every_node, row.recording
