"""`schedviz bench`: the cost of a scheduling cycle on this machine, as ratios to a calibration that runs next to it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import msgspec

from schedviz.cli.bench.workloads import WORKLOADS
from schedviz.terminal import say, say_as_json
from schedviz.trace.releases import DEFAULT_RELEASE, RELEASES

if TYPE_CHECKING:
    from schedviz.cli.bench.measure import Row

#: Additional measurements of `--plot`: running pods per node, and nodes changed since the last cycle.
_RUNNING = (1, 10, 30, 100)
_DIRTY = (1, 10, 100, 1000)
_SWEPT_NODES = 1000


@click.group(invoke_without_command=True)
@click.option("--workload", "names", multiple=True, type=click.Choice(sorted(WORKLOADS)), help="The workload; repeatable. Default: all.")
@click.option(
    "--nodes",
    "sizes",
    multiple=True,
    type=click.IntRange(1, 100_000),
    help="The number of nodes; repeatable. Default: 100, 500, 1000, 5000, 15000.",
)
@click.option("--pods", type=click.IntRange(10, 1_000_000), default=300, show_default=True, help="The number of pods to schedule.")
@click.option("--every-node", is_flag=True, help="Filter and score every node (percentageOfNodesToScore: 100).")
@click.option("--release", type=click.Choice(RELEASES), default=DEFAULT_RELEASE, show_default=True, help="The simulated kube-scheduler.")
@click.option("--recording", type=click.Choice(["off", "summary", "detail"]), default="summary", show_default=True)
@click.option("--check/--no-check", default=True, help="Check placements against plugins that are called for one node at a time.")
@click.option("--json", "as_json", is_flag=True, help="Print an array of rows.")
@click.option(
    "--against",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Rows printed by an earlier --json: print the ratio of this run to them, in units of each run's calibration.",
)
@click.option(
    "--plot",
    type=click.Path(dir_okay=False, writable=True, path_type=Path),
    help="Plot cost against nodes, running pods and changed nodes to this SVG file.",
)
@click.pass_context
def bench(
    context: click.Context,
    names: tuple[str, ...],
    sizes: tuple[int, ...],
    *,
    pods: int,
    every_node: bool,
    recording: str,
    release: str,
    check: bool,
    as_json: bool,
    against: Path | None,
    plot: Path | None,
) -> None:
    """Measure scheduling cycles, from pop to confirmed, with everything recorded."""
    if context.invoked_subcommand is not None:
        return
    from schedviz.cli.bench.measure import measure
    from schedviz.cli.bench.table import print_ratios, print_rows

    before = _rows_of(against) if against is not None else []
    rows: list[Row] = []
    names = names or tuple(WORKLOADS)
    if check:
        _check(names, every_node=every_node, release=release)
    for name in names:
        for nodes in sizes or (100, 500, 1000, 5000, 15000):
            say(f"{name}, {nodes} nodes …", err=True)
            rows.append(measure(name, WORKLOADS[name], nodes=nodes, pods=pods, every_node=every_node, recording=recording, release=release))
    if plot is not None:
        conditions: dict[str, Any] = {"pods": pods, "every_node": every_node, "recording": recording, "release": release}
        rows += _sweeps(names[0], nodes=max(sizes, default=_SWEPT_NODES), **conditions)
        from schedviz.cli.bench.plot import svg

        plot.write_text(svg(rows), "utf-8")
    if as_json:
        say_as_json(rows)
    else:
        print_rows(rows)
    if against is not None:
        print_ratios(rows, before)


@bench.command("import")
@click.option("--nodes", type=click.IntRange(1, 100_000), default=5000, show_default=True)
@click.option("--pods", type=click.IntRange(10, 1_000_000), default=50_000, show_default=True)
@click.option("--format", "forms", multiple=True, type=click.Choice(["json", "yaml"]), help="The format of the dump. Default: both.")
@click.option("--json", "as_json", is_flag=True, help="Print an array of rows.")
def import_(*, nodes: int, pods: int, forms: tuple[str, ...], as_json: bool) -> None:
    """Measure the import of a large cluster, its memory, and its checkpoint."""
    from schedviz.cli.bench.importing import measure_import
    from schedviz.cli.bench.table import print_imports

    rows = []
    for form in forms or ("json", "yaml"):
        say(f"{nodes} nodes and {pods} pods in {form} …", err=True)
        rows.append(measure_import(form, nodes=nodes, pods=pods))  # type: ignore[arg-type]  # click has checked it
    if as_json:
        say_as_json(rows)
    else:
        print_imports(rows)


def _check(names: tuple[str, ...], *, every_node: bool, release: str) -> None:
    from schedviz.cli.bench.check import MAX_NODES, differences

    for name in names:
        say(f"{name}: placements as with one node at a time …", err=True)
        mismatches = differences(WORKLOADS[name], nodes=MAX_NODES, every_node=every_node, release=release)
        if mismatches:
            found, expected = mismatches[0]
            raise click.ClickException(
                f"{name}: placements differ in {len(mismatches)} cycles; the first is {found}, one node at a time it is {expected}"
            )


def _sweeps(name: str, *, nodes: int, **conditions: Any) -> list[Row]:
    """One workload at one size, with more pods per node, and with more changed nodes."""
    from schedviz.cli.bench.measure import measure

    rows: list[Row] = []
    workload = WORKLOADS[name]
    for running in _RUNNING:
        say(f"{name}, {nodes} nodes, {running} pods on each …", err=True)
        rows.append(measure(name, workload, nodes=nodes, running=running, **conditions))
    for dirty in [dirty for dirty in _DIRTY if dirty <= nodes]:
        say(f"{name}, {nodes} nodes, {dirty} of them changed …", err=True)
        rows.append(measure(name, workload, nodes=nodes, dirty=dirty, **conditions))
    return rows


def _rows_of(path: Path) -> list[Row]:
    from schedviz.cli.bench.measure import Row

    try:
        return msgspec.json.decode(path.read_bytes(), type=list[Row])
    except msgspec.DecodeError as error:
        raise click.ClickException(f"{path}: this is not the output of `schedviz bench --json`: {error}") from None
