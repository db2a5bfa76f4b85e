"""`schedviz compare A B`: two runs, from files or from a server, side by side."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click
import msgspec

from schedviz.cli.server import Server, server_option, token_option
from schedviz.terminal import say, say_json

if TYPE_CHECKING:
    from schedviz.trace.comparing import Comparison

#: Exit code: the runs differ.
EXIT_DIFFERENT = 1
_SESSION = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}(@[0-9]+)?")
#: Rows of each list in a terminal.
_ROWS = 20


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
    found = _compared(_meant(a, server, token), _meant(b, server, token), Server(server, token))
    if report is not None:
        from schedviz.trace.comparing.report import html_report

        try:
            report.write_text(html_report(found), encoding="utf-8")
        except OSError as error:
            raise click.ClickException(f"{report}: {error.strerror}.") from None
    if form == "json":
        say_json(msgspec.json.format(msgspec.json.encode(found)).decode())
    else:
        for line in _lines(found):
            say(line)
    if not found.same:
        ctx.exit(EXIT_DIFFERENT)


def _meant(which: str, server: str, token: str) -> str:
    """A file as given; for a session, its full ID with the moment. Raises `click.ClickException`."""
    from schedviz.cli.remote.options import client_of, find_session

    if _SESSION.fullmatch(which) or Path(which).exists() or Path(which).suffix or Path(which).name != which:
        return which
    session, at, moment = which.rpartition("@")
    named, suffix = (session, at + moment) if session and moment.isdecimal() else (which, "")
    with client_of(server, token) as client:
        return find_session(client, named).id + suffix


def _compared(a: str, b: str, server: Server) -> Comparison:
    from schedviz.trace.comparing import Comparison, RunInMemory
    from schedviz.trace.comparing import compare as compare_runs

    if _SESSION.fullmatch(a) and _SESSION.fullmatch(b):
        return msgspec.json.decode(server.get("compare/", {"a": a, "b": b}), type=Comparison)

    def run(which: str) -> RunInMemory:
        from schedviz.cli.run_files import run_of_file, run_of_session_file

        if _SESSION.fullmatch(which) is None:
            return run_of_file(Path(which))
        if "@" in which:
            raise click.ClickException(f"{which}: a session at an event can only be compared with a session, not with a file.")
        return run_of_session_file(which, [server.get(f"sessions/{which}/export/")])

    return compare_runs(run(a), run(b))


def _lines(found: Comparison) -> Iterator[str]:
    """The comparison as lines for a terminal."""
    for name, side in (("A", found.a), ("B", found.b)):
        yield f"{name}  {side.name}: event {side.event}, {side.cycles} cycles, {side.pods} pods on {side.nodes} nodes"
    if found.shared_event:
        yield f"   same history up to event {found.shared_event}"
    if found.same:
        yield "The runs are the same, and every pod is in the same place."
        return
    for difference in found.settings[:_ROWS]:
        yield f"settings  {difference.path}: {_value(difference.a)} | {_value(difference.b)}"
    yield from _divergence_lines(found)
    yield from _placement_lines(found)
    yield from _score_lines(found)
    use = found.utilisation
    for name, all_of, empty in (("A", use.a, use.empty_a), ("B", use.b, use.empty_b)):
        cpu, memory = all_of.cpu, all_of.memory
        yield (
            f"{name}  cpu {cpu.requested / 1000:g} of {cpu.allocatable / 1000:g}, memory {memory.requested >> 20} of "
            f"{memory.allocatable >> 20} Mi, {all_of.pods.requested} pods, {empty} nodes without a pod"
        )
    for reason in found.pending[:_ROWS]:
        yield f"pending  A {reason.count_a}, B {reason.count_b}: {reason.reason}"


def _divergence_lines(found: Comparison) -> Iterator[str]:
    divergence = found.divergence
    if divergence is None:
        return
    yield divergence.text
    where = divergence.cycle if divergence.cycle is not None and divergence.cycle.what else divergence.event
    for difference in [] if where is None else where.what[:_ROWS]:
        yield f"  {difference.path}: {_value(difference.a)} | {_value(difference.b)}"


def _placement_lines(found: Comparison) -> Iterator[str]:
    places = found.placements
    yield (
        f"pods  {places.same} in the same place, {places.moved} on another node, placed only in A {places.placed_only_in_a}, only in B "
        f"{places.placed_only_in_b}, known only to A {places.only_in_a}, only to B {places.only_in_b}"
    )
    for pod in places.pods[:_ROWS]:
        a, b = (("not there" if one is None else one.node or f"waits in {one.state}") for one in (pod.a, pod.b))
        yield f"  {pod.pod}: {a} | {b}"
    if len(places.pods) > _ROWS:
        yield f"  and {len(places.pods) - _ROWS + places.left_out} more; -o json lists them"


def _score_lines(found: Comparison) -> Iterator[str]:
    if found.scores is None:
        return
    for total in found.scores.totals[:_ROWS]:
        yield f"scores of {found.scores.pod}  {total.node}: {_value(total.a)} | {_value(total.b)}"


def _value(value: object) -> str:
    if value is None:
        return "-"
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()
