"""`schedviz state`, `cycles`, `events`, `what-if`: inspect a session."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Literal

import click

from schedviz.cli.remote.options import client_of, find_session, server_option, session_option, token_option
from schedviz.cli.remote.printing import Form, output_option, print_rows, print_value
from schedviz.terminal import say, say_json

_COLUMNS = {
    "nodes": ("node", "pods", "cpu", "cpuAllocatable", "memory", "memoryAllocatable"),
    "pods": ("pod", "state", "node", "attempts", "plugins"),
    "queue": ("pod", "queue", "priority", "attempts", "unschedulablePlugins"),
    "group": ("pod", "cycle", "node", "code", "permit", "outcome"),
}
at_option = click.option("--at", type=click.IntRange(min=0), metavar="EVENT", help="The state after this event; default: the newest.")


@click.command()
@click.argument("what", type=click.Choice(["nodes", "pods", "queue", "group"]), default="nodes")
@session_option
@at_option
@output_option
@server_option
@token_option
def state(
    *, what: Literal["nodes", "pods", "queue", "group"], which: str, at: int | None, form: Form, server: str | None, token: str | None
) -> None:
    """Print the nodes (cpu in millicores, memory in bytes), the pods or the queue of a session, or the pods of the pod group that was
    scheduled last (release v1.36). JSON and YAML contain the whole state.
    """
    with client_of(server, token) as client:
        result = find_session(client, which).state(at=at)
    print_rows(result.pod_group if what == "group" else getattr(result, what), form, _COLUMNS[what], whole=result.raw)


@click.command()
@session_option
@click.option("--pod", default="", metavar="NAMESPACE/NAME", help="Only cycles of this pod.")
@click.option("--node", default="", help="Only cycles that chose this node.")
@click.option("--pod-group", default="", metavar="NAMESPACE/NAME", help="Only cycles of pods of this pod group (release v1.36).")
@click.option("--outcome", default="", help="Only cycles with this outcome: scheduled, unschedulable, error.")
@click.option("--tail", type=click.IntRange(1, 1000), help="Only the last N cycles.")
@click.option("--detail", type=click.IntRange(min=1), metavar="N", help="Print everything about cycle N instead, as JSON or YAML.")
@output_option
@server_option
@token_option
def cycles(
    *,
    which: str,
    pod: str,
    node: str,
    pod_group: str,
    outcome: str,
    tail: int | None,
    detail: int | None,
    form: Form,
    server: str | None,
    token: str | None,
) -> None:
    """List the scheduling cycles of a session."""
    with client_of(server, token) as client:
        session = find_session(client, which)
        if detail is not None:
            print_value(session.cycle(detail), form)
            return
        wanted = {"pod": pod, "node": node, "podGroup": pod_group, "outcome": outcome}
        rows = session.cycles(tail=tail).where(**{name: value for name, value in wanted.items() if value})
    grouped = ("podGroup",) if any(row.get("podGroup") for row in rows) else ()
    print_rows(rows, form, ("cycle", "pod", *grouped, "outcome", "node", "feasibleNodes", "evaluatedNodes", "lastEvent"))


@click.command()
@session_option
@click.option("--after", type=click.IntRange(min=0), default=0, metavar="EVENT", help="Only events after this one.")
@click.option("--follow", is_flag=True, help="Follow new events until Ctrl-C.")
@click.option("--until", default="", metavar="KIND", help="Exit after an event of this type (`t`), such as commandDone.")
@server_option
@token_option
def events(*, which: str, after: int, follow: bool, until: str, server: str | None, token: str | None) -> None:
    """Print the scheduler's events as JSON, one per line (docs/wire.md)."""
    with client_of(server, token) as client:
        for event in find_session(client, which).events(after=after, follow=follow):
            say_json(json.dumps(event, ensure_ascii=False, separators=(",", ":")))
            if event["t"] == until:
                break


@click.command(name="what-if")
@click.argument("file", type=click.Path(path_type=Path, allow_dash=True))
@click.option("--copies", type=click.IntRange(1, 10_000), default=1, show_default=True, help="Number of copies.")
@session_option
@at_option
@output_option
@server_option
@token_option
@click.pass_context
def what_if(
    ctx: click.Context,
    *,
    file: Path,
    copies: int,
    which: str,
    at: int | None,
    form: Form,
    server: str | None,
    token: str | None,
) -> None:
    """Calculate how many copies of the pod in FILE fit, and where. Changes nothing. Exits with 0 if all fit, otherwise with 1."""
    from schedviz.cli.remote.commands import objects_of
    from schedviz.explain.messages.parsed_message import one_full_stop

    pods = list(objects_of(file))
    if len(pods) != 1:
        raise click.ClickException(f"{file}: expected one pod, found {len(pods)}.")
    with client_of(server, token) as client:
        result = find_session(client, which).what_if(pods[0], copies, at=at)
    print_rows(result.nodes, form, ("node", "copies"), whole=result.raw)
    say(f"schedviz: {result.placed} of {copies} fit. {one_full_stop(result.message)}".rstrip(), err=True)
    if result.remaining:
        ctx.exit(1)
