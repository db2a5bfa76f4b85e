"""`schedviz capacity`: how many more pods fit, how many nodes can go, and what a failure leaves without a node."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from schedviz.cli.release_options import BY_FILES, ChosenRelease, release_options
from schedviz.terminal import say, say_as_json

if TYPE_CHECKING:
    from schedviz.experiments.inputs.base_cluster import BaseCluster
    from schedviz.kube.core import Pod

#: Exit code of `loss`: a failure leaves pods without a node.
EXIT_LOST = 1
_MAX_ROWS = 20

_files = click.argument("paths", nargs=-1, required=True, metavar="FILE...", type=click.Path(path_type=Path))
_json = click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")


@click.group()
def capacity() -> None:
    """Calculate the capacity of the cluster in FILEs, with the simulated scheduler. FILEs are as for `schedviz explain`."""


@capacity.command()
@_files
@click.option(
    "--pod",
    "template",
    required=True,
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A Pod, in YAML or JSON.",
)
@click.option("--limit", type=click.IntRange(1, 10_000), default=10_000, show_default=True, help="Stop after this many copies.")
@_json
@release_options(BY_FILES)
def fit(paths: tuple[Path, ...], template: Path, *, limit: int, as_json: bool, chosen: ChosenRelease) -> None:
    """Count how many more pods of a template fit, and what stops the next one.

    Pods that are pending already are ignored, and nothing is preempted.
    """
    from schedviz.experiments.capacity.fit import fit as count

    fitting = count(_base(paths, chosen), _pod(template), limit=limit)
    if as_json:
        say_as_json(fitting)
        return
    say(f"{fitting.placed:,}{' or more' if fitting.is_limited else ''} more pods fit, on {len(fitting.nodes):,} nodes")
    if fitting.message:
        say(f"The next one does not: {fitting.message}")
    _print_rows({node: f"{copies:,}" for node, copies in fitting.nodes.items()}, "nodes")


@capacity.command()
@_files
@click.option("--repack", is_flag=True, help="Schedule all pods again, and not only those of removed nodes; DaemonSets stay.")
@click.option("--greedy", is_flag=True, help="Then try every other node alone: slower, and can remove more.")
@_json
@release_options(BY_FILES)
def nodes(paths: tuple[Path, ...], *, repack: bool, greedy: bool, as_json: bool, chosen: ChosenRelease) -> None:
    """Search the fewest nodes that hold the pods, and print those that can be drained, the emptiest first."""
    from schedviz.cli.remote.printing import ProgressLine
    from schedviz.experiments.capacity.minimum_nodes import minimum_nodes
    from schedviz.experiments.inputs.base_cluster import with_unbound_pods

    base, progress = _base(paths, chosen), ProgressLine()
    try:
        found = minimum_nodes(with_unbound_pods(base) if repack else base, greedy=greedy, report=progress.say)
    finally:
        progress.end()
    if as_json:
        say_as_json(found)
        return
    say(f"{found.needed:,} of {found.nodes:,} nodes hold the pods: {len(found.removable):,} can go")
    if found.pending_before:
        say(f"{found.pending_before:,} pods have no node even with all nodes; they do not count.")
    if found.blocking_pods:
        say(f"More cannot go: {len(found.blocking_pods):,} pods would have no node ({_reasons(found.blocking_pods)}).")
    _print_rows(dict.fromkeys(found.removable, ""), "nodes")


@capacity.command()
@_files
@click.option("--zones", is_flag=True, help="Each zone instead of each node.")
@_json
@release_options(BY_FILES)
@click.pass_context
def loss(ctx: click.Context, paths: tuple[Path, ...], *, zones: bool, as_json: bool, chosen: ChosenRelease) -> None:
    """Check N+1: which pods would be pending if any one node, or zone, failed. Exits with 1 if there are any."""
    from schedviz.cli.remote.printing import ProgressLine
    from schedviz.experiments.capacity.losses import failures, losses

    base, progress, found = _base(paths, chosen), ProgressLine(), []
    total, noun = len(failures(base, zones=zones)), "zones" if zones else "nodes"
    if not total:
        raise click.ClickException(f"there are no {noun} in the files")
    try:
        for one in losses(base, zones=zones):
            found.append(one)
            progress.say(f"{len(found):,} of {total:,} {noun}")
    finally:
        progress.end()
    harmful = sorted((one for one in found if one.pending), key=lambda one: (-len(one.pending), one.name))
    if as_json:
        say_as_json(found)
    elif harmful:
        say(f"{len(harmful):,} of {total:,} {noun} cannot be lost: pods would have no node")
        _print_rows({one.name: f"{len(one.pending):,} pods: {_reasons(one.pending)}" for one in harmful}, noun)
    else:
        say(f"Any one of the {total:,} {noun} can be lost: all pods find another node")
    if harmful:
        ctx.exit(EXIT_LOST)


def _base(paths: tuple[Path, ...], chosen: ChosenRelease) -> BaseCluster:
    from schedviz.cli.loading import loaded, settings_for
    from schedviz.experiments.inputs.base_cluster import BaseCluster

    imported = loaded(paths)
    if imported.trace is not None and not imported.objects:
        raise click.ClickException(
            "a trace has no cluster before its steps; expected objects, such as `kubectl get nodes,pods,pv,pvc,sc,events -A -o json` prints"
        )
    return BaseCluster(list(imported.objects), settings_for(imported, chosen))


def _pod(path: Path) -> Pod:
    from schedviz.cli.loading import loaded
    from schedviz.kube.core import Pod

    pods = [obj for obj in loaded([path]).objects if isinstance(obj, Pod)]
    if len(pods) != 1:
        raise click.ClickException(f"{path}: expected one Pod, found {len(pods)}")
    return pods[0]


def _reasons(pending: Mapping[str, str]) -> str:
    return ", ".join(f"{count:,} × {reason}" for reason, count in Counter(pending.values()).most_common(3))


def _print_rows(rows: Mapping[str, str], noun: str) -> None:
    width = max(map(len, list(rows)[:_MAX_ROWS]), default=0)
    for name, text in list(rows.items())[:_MAX_ROWS]:
        say(f"  {name:{width}}  {text}".rstrip())
    if len(rows) > _MAX_ROWS:
        say(f"  and {len(rows) - _MAX_ROWS:,} more {noun}; --json prints all")
