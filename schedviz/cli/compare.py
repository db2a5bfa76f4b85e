"""`schedviz compare A B`: two runs, from files or from a server, side by side."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click
import msgspec

from schedviz.cli.rest_client import RestClient, server_option, token_option
from schedviz.terminal import say, say_as_json

if TYPE_CHECKING:
    from schedviz.trace.comparing import Comparison

#: Exit code: the runs differ.
EXIT_DIFFERENT = 1
_SESSION = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}(@[0-9]+)?")
#: Rows of each list in a terminal.
_MAX_ROWS = 20


@click.command()
@click.argument("a", metavar="A")
@click.argument("b", metavar="B")
@click.option("-o", "--output", "form", type=click.Choice(["table", "json"]), default="table", show_default=True, help="Output format.")
@click.option("--report", metavar="FILE", type=click.Path(dir_okay=False, path_type=Path), help="Write a self-contained HTML file.")
@server_option
@token_option
@click.pass_context
def compare(ctx: click.Context, a: str, b: str, *, form: str, report: Path | None, server: str, token: str) -> None:
    """Compare two runs: placements, where they diverge, scores, node utilization, and why pods wait.

    A and B are `.schedviz` files, trace files (run here), or sessions of a server: an ID or its beginning, a name (a name with a dot is
    a file), or @newest; append `@EVENT` for a moment. Exits with 0 if they are the same, 1 if they differ, 2 if one cannot be used.
    """
    comparison = _compared(_meant(a, server, token), _meant(b, server, token), RestClient(server, token))
    if report is not None:
        from schedviz.trace.comparing.report import html_report

        try:
            report.write_text(html_report(comparison), encoding="utf-8")
        except OSError as error:
            raise click.ClickException(f"{report}: {error.strerror}.") from None
    if form == "json":
        say_as_json(comparison)
    else:
        for line in _lines(comparison):
            say(line)
    if not comparison.same:
        ctx.exit(EXIT_DIFFERENT)


def _meant(which: str, server: str, token: str) -> str:
    """A file as given; for a session, its full ID with the moment. Raises `click.ClickException`."""
    from schedviz.cli.remote.options import client_of, find_session

    if _SESSION.fullmatch(which) or Path(which).exists() or Path(which).suffix or Path(which).name != which:
        return which
    session, separator, moment = which.rpartition("@")
    named, suffix = (session, separator + moment) if session and moment.isdecimal() else (which, "")
    with client_of(server, token) as client:
        return find_session(client, named).id + suffix


def _compared(a: str, b: str, server: RestClient) -> Comparison:
    from schedviz.trace.comparing import Comparison, RunInMemory
    from schedviz.trace.comparing import compare as compare_runs

    if _SESSION.fullmatch(a) and _SESSION.fullmatch(b):
        try:
            return msgspec.json.decode(server.get("compare/", {"a": a, "b": b}), type=Comparison)
        except msgspec.DecodeError as error:
            raise click.ClickException(f"{server.address}: the response is not the comparison of a schedviz server: {error}") from None

    def run(which: str) -> RunInMemory:
        from schedviz.cli.run_files import run_of_file, run_of_session_file

        if _SESSION.fullmatch(which) is None:
            return run_of_file(Path(which))
        if "@" in which:
            raise click.ClickException(f"{which}: a session at an event can only be compared with a session, not with a file.")
        return run_of_session_file(which, [server.get(f"sessions/{which}/export/")])

    return compare_runs(run(a), run(b))


def _lines(comparison: Comparison) -> Iterator[str]:
    """The comparison as lines for a terminal."""
    for name, side in (("A", comparison.a), ("B", comparison.b)):
        yield f"{name}  {side.name}: event {side.event}, {side.cycles} cycles, {side.pods} pods on {side.nodes} nodes"
    if comparison.shared_event:
        yield f"   same history up to event {comparison.shared_event}"
    elif comparison.shared_origin:
        yield "   both are forks of one session"
    if comparison.same:
        yield "The runs are the same, and every pod is in the same place."
        return
    for difference in comparison.settings[:_MAX_ROWS]:
        yield f"settings  {difference.path}: {_value(difference.a)} | {_value(difference.b)}"
    yield from _divergence_lines(comparison)
    yield from _placement_lines(comparison)
    yield from _score_lines(comparison)
    use = comparison.utilisation
    for name, all_of, empty in (("A", use.a, use.empty_a), ("B", use.b, use.empty_b)):
        cpu, memory = all_of.cpu, all_of.memory
        yield (
            f"{name}  cpu {cpu.requested / 1000:g} of {cpu.allocatable / 1000:g}, memory {memory.requested >> 20} of "
            f"{memory.allocatable >> 20} Mi, {all_of.pods.requested} pods, {empty} nodes without a pod"
        )
    for reason in comparison.pending[:_MAX_ROWS]:
        yield f"pending  A {reason.count_a}, B {reason.count_b}: {reason.reason}"


def _divergence_lines(comparison: Comparison) -> Iterator[str]:
    divergence = comparison.divergence
    if divergence is None:
        return
    yield divergence.text
    where = divergence.cycle if divergence.cycle is not None and divergence.cycle.what else divergence.event
    for difference in [] if where is None else where.what[:_MAX_ROWS]:
        yield f"  {difference.path}: {_value(difference.a)} | {_value(difference.b)}"


def _placement_lines(comparison: Comparison) -> Iterator[str]:
    placements = comparison.placements
    yield (
        f"pods  {placements.same} in the same place, {placements.moved} on another node, "
        f"placed only in A {placements.placed_only_in_a}, only in B {placements.placed_only_in_b}, "
        f"known only to A {placements.only_in_a}, only to B {placements.only_in_b}"
    )
    for pod in placements.pods[:_MAX_ROWS]:
        a, b = (("not there" if place is None else place.node or f"waits in {place.state}") for place in (pod.a, pod.b))
        yield f"  {pod.pod}: {a} | {b}"
    if len(placements.pods) > _MAX_ROWS:
        yield f"  and {len(placements.pods) - _MAX_ROWS + placements.left_out} more; -o json lists them"


def _score_lines(comparison: Comparison) -> Iterator[str]:
    if comparison.scores is None:
        return
    for total in comparison.scores.totals[:_MAX_ROWS]:
        yield f"scores of {comparison.scores.pod}  {total.node}: {_value(total.a)} | {_value(total.b)}"


def _value(value: object) -> str:
    if value is None:
        return "-"
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()
