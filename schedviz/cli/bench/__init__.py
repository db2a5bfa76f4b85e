"""`schedviz bench`: what a scheduling cycle costs on this machine, as ratios to a calibration that ran beside it."""

from __future__ import annotations

import click
import msgspec

from schedviz.cli.bench.workloads import WORKLOADS


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
@click.option("--recording", type=click.Choice(["summary", "detail"]), default="summary", show_default=True)
@click.option("--json", "as_json", is_flag=True, help="Print an array of rows.")
def bench(names: tuple[str, ...], sizes: tuple[int, ...], *, pods: int, every_node: bool, recording: str, as_json: bool) -> None:
    """Measure scheduling cycles, from pop to confirmed, with everything recorded."""
    from schedviz.cli.bench.measure import Row, measure
    from schedviz.cli.bench.table import print_rows

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
