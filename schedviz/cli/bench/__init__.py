"""`schedviz bench`: what a scheduling cycle costs on this machine, as ratios to a calibration that ran beside it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click
import msgspec

from schedviz.cli.bench.workloads import WORKLOADS

if TYPE_CHECKING:
    from schedviz.cli.bench.measure import Row


@click.command()
@click.option("--workload", "names", multiple=True, type=click.Choice(sorted(WORKLOADS)), help="Which one; again for more. Default: all.")
@click.option(
    "--nodes",
    "sizes",
    multiple=True,
    type=click.IntRange(1, 100_000),
    help="How many nodes; again for more. Default: 100, 500, 1000, 5000.",
)
@click.option("--pods", type=click.IntRange(10, 1_000_000), default=300, show_default=True, help="How many pods to schedule.")
@click.option("--every-node", is_flag=True, help="Filter and score every node (percentageOfNodesToScore: 100).")
@click.option("--recording", type=click.Choice(["off", "summary", "detail"]), default="summary", show_default=True)
@click.option("--json", "as_json", is_flag=True, help="Print an array of rows.")
@click.option(
    "--against",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Rows that --json printed before: print how this run compares to them, in units of each run's calibration.",
)
def bench(
    names: tuple[str, ...], sizes: tuple[int, ...], *, pods: int, every_node: bool, recording: str, as_json: bool, against: Path | None
) -> None:
    """Measure scheduling cycles, from pop to confirmed, with everything recorded."""
    from schedviz.cli.bench.measure import measure
    from schedviz.cli.bench.table import print_ratios, print_rows

    before = _rows_of(against) if against is not None else []
    rows: list[Row] = []
    for name in names or tuple(WORKLOADS):
        for nodes in sizes or (100, 500, 1000, 5000):
            if not as_json:
                click.echo(f"{name}, {nodes} nodes …", err=True)
            rows.append(measure(name, WORKLOADS[name], nodes=nodes, pods=pods, every_node=every_node, recording=recording))
    if as_json:
        click.echo(msgspec.json.format(msgspec.json.encode(rows)).decode())
    else:
        print_rows(rows)
        if against is not None:
            print_ratios(rows, before)


def _rows_of(path: Path) -> list[Row]:
    from schedviz.cli.bench.measure import Row

    try:
        return msgspec.json.decode(path.read_bytes(), type=list[Row])
    except msgspec.DecodeError as error:
        raise click.ClickException(f"{path}: this is not what `schedviz bench --json` prints: {error}") from None
