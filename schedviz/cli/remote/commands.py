"""`schedviz step`, `run`, `send`, `cancel`: drive a session. Exit codes: 0 done, 1 not done, 2 refused."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from schedviz.cli.remote.options import client_of, find_session, server_option, session_option, token_option
from schedviz.cli.remote.printing import Form, ProgressLine, print_rows, print_value
from schedviz.client import command_bodies
from schedviz.terminal import say

if TYPE_CHECKING:
    from schedviz.client import Outcome, Session

_POLL_SECONDS = 0.5
wait_option = click.option("--wait/--no-wait", default=True, show_default=True, help="Wait until the command is done, not only accepted.")
timeout_option = click.option(
    "--timeout", type=click.FloatRange(min=0), metavar="SECONDS", help="The longest time to wait; the command continues afterwards."
)
form_option = click.option(
    "-o", "--output", "form", type=click.Choice(["table", "json", "yaml"]), default="table", show_default=True, help="Output format."
)


class NotDone(click.ClickException):
    """The command was accepted, and is not done yet or has failed."""

    exit_code = 1


@click.command()
@session_option
@click.option("--count", default=1, show_default=True, type=click.IntRange(1, 1_000_000), help="The number of steps.")
@click.option("--unit", type=click.Choice(["cycle", "stage", "mutation"]), default="cycle", show_default=True, help="The size of a step.")
@wait_option
@timeout_option
@form_option
@server_option
@token_option
def step(
    *, which: str, count: int, unit: str, wait: bool, timeout: float | None, form: Form, server: str | None, token: str | None
) -> None:
    """Advance by scheduling cycles or stages. With the unit `mutation`, a stage is run, too: only pages show its changes one by one."""
    with client_of(server, token) as client:
        do(find_session(client, which), [command_bodies.step(count, unit)], wait=wait, timeout=timeout, form=form)


@click.command()
@session_option
@click.option("--max", "most", type=click.IntRange(1, 1_000_000), help="At most this many cycles; default: until nothing can be scheduled.")
@wait_option
@timeout_option
@form_option
@server_option
@token_option
def run(*, which: str, most: int | None, wait: bool, timeout: float | None, form: Form, server: str | None, token: str | None) -> None:
    """Schedule until nothing more can be scheduled."""
    with client_of(server, token) as client:
        do(find_session(client, which), [command_bodies.run(most)], wait=wait, timeout=timeout, form=form)


@click.command()
@session_option
@click.option(
    "-f",
    "--file",
    "files",
    multiple=True,
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Objects to create: YAML or JSON, - for standard input; repeatable.",
)
@click.argument("commands", nargs=-1, metavar="[COMMAND]...")
@wait_option
@timeout_option
@form_option
@server_option
@token_option
def send(
    *,
    which: str,
    files: tuple[Path, ...],
    commands: tuple[str, ...],
    wait: bool,
    timeout: float | None,
    form: Form,
    server: str | None,
    token: str | None,
) -> None:
    """Send commands as JSON (docs/rest.md), such as '{"op": "advance", "seconds": 30}', all or none; -f creates the objects in a file."""
    commands_to_send = command_bodies.create(*(obj for file in files for obj in objects_of(file)))
    commands_to_send += [_command(text) for text in commands]
    if not commands_to_send:
        raise click.UsageError("Pass a command, or objects with -f.")
    with client_of(server, token) as client:
        do(find_session(client, which), commands_to_send, wait=wait, timeout=timeout, form=form)


@click.command()
@session_option
@server_option
@token_option
def cancel(*, which: str, server: str | None, token: str | None) -> None:
    """Stop the import or the runs of a session."""
    with client_of(server, token) as client:
        find_session(client, which).cancel()


def do(session: Session, commands: list[dict[str, Any]], *, wait: bool, timeout: float | None, form: Form) -> None:
    """Send commands and print the outcome of the last. Raises `NotDone`."""
    from schedviz.client import CommandFailed

    seq = session.submit(*commands)[-1]
    if not wait:
        say(f"schedviz: command {seq} was accepted.", err=True)
        return
    try:
        outcome = _when_done(session, seq, timeout)
    except CommandFailed as error:
        raise NotDone(str(error)) from None
    if form == "table":
        row = {
            "event": outcome.event,
            "cycles": outcome.cycles,
            "clock": outcome.clock_seconds,
            "stopped": outcome.stopped or outcome.result,
        }
        print_rows([row], form, tuple(row))
    else:
        print_value(outcome.raw, form)


def _when_done(session: Session, seq: int, timeout: float | None) -> Outcome:
    """The outcome of a command, once it is done."""
    from schedviz.client import Outcome, flows

    until, progress, first = None if timeout is None else time.monotonic() + timeout, ProgressLine(), session.info["cycle"]
    try:
        while (done := session.client.do(flows.command(session.id, seq, wait=_POLL_SECONDS)))["status"] == "waiting":
            if until is not None and time.monotonic() >= until:
                raise NotDone(f"Command {seq} is not done after {timeout:g} s. It continues; `schedviz cancel` stops it.")
            cycle = session.refresh().info["cycle"]
            progress.say(f"cycle {cycle} ({cycle - first} more)")
    finally:
        progress.end()
    flows.require_done(done)
    return Outcome.of(done["outcome"])


def _command(text: str) -> dict[str, Any]:
    try:
        command = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise click.ClickException(f"{text[:80]}: is not JSON: {error}.") from None
    if not isinstance(command, dict) or "op" not in command:
        raise click.ClickException(f'{text[:80]}: expected a command such as {{"op": "run"}}.')
    return command


def objects_of(file: Path) -> Iterator[dict[str, Any]]:
    """The Kubernetes objects in a file, with Lists expanded. Raises `click.ClickException`."""
    import yaml

    try:
        text = sys.stdin.read() if str(file) == "-" else file.read_text(encoding="utf-8")
        documents = [document for document in _documents(text) if document is not None]
    except OSError as error:
        raise click.ClickException(f"{file}: {error.strerror}.") from None
    except RecursionError:
        raise click.ClickException(f"{file}: lists and objects are nested too deep.") from None
    except (yaml.YAMLError, UnicodeError) as error:
        raise click.ClickException(f"{file}: {' '.join(str(error).split())}") from None
    for document in documents:
        if not isinstance(document, dict):
            raise click.ClickException(f"{file}: expected a Kubernetes object.")
        yield from document.get("items", []) if str(document.get("kind", "")).endswith("List") else [document]


def _documents(text: str) -> list[Any]:
    """JSON or YAML. The YAML parser also reads JSON, but takes the two halves of an escaped emoji for two characters."""
    import yaml

    try:
        return [json.loads(text)]
    except ValueError:
        return list(yaml.safe_load_all(text))
