"""Prints the rows of a measurement as a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.table import Table

from schedviz.cli.bench.importing import ImportRow
from schedviz.cli.bench.measure import Row
from schedviz.terminal import say, show
from schedviz.trace.releases import DEFAULT_RELEASE


def print_rows(rows: Sequence[Row]) -> None:
    """Print one line per row, then the growth with devices. The ratio is the median cycle in units of the calibration."""
    table = Table(box=None, header_style="bold")
    table.add_column("workload", min_width=12, overflow="fold")
    for heading in ("nodes", "pods/s", "p50 ms", "p90 ms", "p99 ms", "ratio", "RSS MB", "bytes"):
        table.add_column(heading, justify="right", no_wrap=True)
    for row in rows:
        name = row.workload + (", every node" if row.every_node else "")
        name += f", {row.release}" if row.release != DEFAULT_RELEASE else ""
        name += f", {row.running} pods a node" if row.running is not None else ""
        name += f", {row.dirty_nodes} nodes changed" if row.dirty_nodes else ""
        figures = (
            row.nodes,
            row.pods_per_second,
            row.p50_ms,
            row.p90_ms,
            row.p99_ms,
            row.ratio,
            row.rss_mb,
            row.event_bytes,
        )
        table.add_row(name, *(f"{figure:,}" for figure in figures))
    show(table)
    for row in rows:
        where = ", ".join(f"{name} {share:.0%}" for name, share in [*_largest(row.stages), *_largest(row.plugins)])
        say(f"{row.workload}, {row.nodes:,} nodes: {where}", dim=True)
    for line in growth_with_devices(rows):
        say(line)


def growth_with_devices(rows: Sequence[Row]) -> list[str]:
    """For each number of nodes, the median cycle by devices of a node, if at least two such workloads were measured."""
    medians: dict[int, dict[int, float]] = {}
    for row in rows:
        family, _, count = row.workload.partition("-")
        if family == "devices" and count.isdecimal():
            medians.setdefault(row.nodes, {})[int(count)] = row.p50_ms
    return [
        f"{nodes:,} nodes: p50 {', '.join(f'{values[count]} ms with {count} devices' for count in sorted(values))} a node"
        for nodes, values in sorted(medians.items())
        if len(values) > 1
    ]


def _largest(shares: Mapping[str, float]) -> list[tuple[str, float]]:
    return sorted(shares.items(), key=lambda item: -item[1])[:4]


def print_imports(rows: Sequence[ImportRow]) -> None:
    """Print one line per dump."""
    table = Table("dump", box=None, header_style="bold")
    for heading in (
        "MB",
        "read s",
        "peak MB",
        "load s",
        "engine MB",
        "checkpoint: first ms",
        "write ms",
        "read ms",
        "MB",
        "calibration ms",
    ):
        table.add_column(heading, justify="right")
    for row in rows:
        figures = (
            row.text_mb,
            row.read_seconds,
            row.read_peak_mb,
            row.load_seconds,
            row.engine_mb,
            row.checkpoint_first_ms,
            row.checkpoint_write_ms,
            row.checkpoint_read_ms,
            row.checkpoint_mb,
            row.calibration_ms,
        )
        table.add_row(f"{row.form}, {row.nodes:,} nodes, {row.pods:,} pods", *(f"{figure:,}" for figure in figures))
    show(table)


def print_ratios(rows: Sequence[Row], before: Sequence[Row]) -> None:
    """Print the change of each row against an earlier run: below 1 is faster, independent of the machine's speed."""
    table = Table("workload", box=None, header_style="bold")
    for heading in ("nodes", "ratio before", "ratio now", "now / before"):
        table.add_column(heading, justify="right")
    for row in rows:
        earlier = next((other for other in before if row.has_conditions_of(other)), None)
        if earlier is not None:
            table.add_row(row.workload, f"{row.nodes:,}", f"{earlier.ratio:,}", f"{row.ratio:,}", f"{row.ratio / earlier.ratio:.2f}")
    show(table, err=True)
