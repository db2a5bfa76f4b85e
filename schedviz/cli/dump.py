"""`schedviz dump FILE...`: print what kube-scheduler prints on SIGUSR2."""

from __future__ import annotations

import re
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

import click
import msgspec

from schedviz.cli.loading import loaded, simulated
from schedviz.cli.release_options import BY_FILES, ChosenRelease, release_options
from schedviz.terminal import say_exact

if TYPE_CHECKING:
    from schedviz.engine.cache.debugger.dump_of_state import ObservedState
    from schedviz.engine.cache.debugger.log_line import LogLine
    from schedviz.ingest.load import Import

_TIME: Final = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(\.\d{1,9})?(Z|[+-]\d\d:\d\d)")
_NO_TIME: Final = "{!r} is not a time such as 2024-01-01T00:00:00.021Z."


@click.command()
@release_options(BY_FILES)
@click.argument("paths", nargs=-1, required=True, metavar="FILE...", type=click.Path(path_type=Path))
@click.option("--state", metavar="STATE", type=click.Path(path_type=Path), help="The scheduler's cache and queue, as a file.")
@click.option("--stale", is_flag=True, help="With --state: the informers missed events and know only what the cache has.")
@click.option(
    "--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True, help="The log format of the scheduler."
)
@click.option("-v", "verbosity", type=click.IntRange(0, 10), default=2, show_default=True, help="The scheduler's log verbosity.")
@click.option("--at", metavar="TIME", help="The time to print, such as 2024-01-01T00:00:00.021Z; default: the virtual time.")
@click.option("--pid", type=click.IntRange(0, 9_999_999), default=1, show_default=True, help="The process ID to print.")
def dump(
    paths: tuple[Path, ...],
    *,
    state: Path | None,
    stale: bool,
    form: Literal["text", "json"],
    verbosity: int,
    at: str | None,
    pid: int,
    chosen: ChosenRelease,
) -> None:
    """Print what a scheduler prints on SIGUSR2: the findings of its comparer, its nodes with their pods, and its queue.

    The scheduler is one that has just started with the objects in FILE... (kubectl dumps), one after the trace in FILE, or, with --state,
    one with a given state. `schedviz doctor` compares such a log with the objects.
    """
    if stale and state is None:
        raise click.UsageError("--stale needs --state: it describes the informers of that state.")
    if state is not None and chosen.members():
        raise click.UsageError("--release and --feature-gates do not go with --state, which runs no scheduler.")
    time = None if at is None else _nanoseconds(at)
    objects = loaded(paths)
    lines = (
        _lines_of_simulation(objects, verbosity, time, chosen)
        if state is None
        else _lines_of_state(_read_state(state), objects, verbosity, time, stale=stale)
    )
    for line in lines:
        say_exact(line.write(form, pid=pid))


def _lines_of_simulation(objects: Import, verbosity: int, at: int | None, chosen: ChosenRelease) -> list[LogLine]:
    from schedviz.engine.reporting.debugger import dump_lines

    return dump_lines(simulated(objects, chosen), verbosity=verbosity, at=at)


def _lines_of_state(state: ObservedState, objects: Import, verbosity: int, at: int | None, *, stale: bool) -> list[LogLine]:
    from schedviz.engine.cache.debugger.dump_of_state import lines_of_state
    from schedviz.kube.core import Node, Pod

    if objects.trace is not None:
        raise click.ClickException("--state needs objects, as printed by `kubectl get nodes,pods -A -o json`, not a trace.")
    nodes = [obj.name for obj in objects.objects if isinstance(obj, Node)]
    pods = [obj for obj in objects.objects if isinstance(obj, Pod)]
    return lines_of_state(state, nodes, pods, stale=stale, verbosity=verbosity, at=at)


def _read_state(path: Path) -> ObservedState:
    from schedviz.engine.cache.debugger.dump_of_state import ObservedState
    from schedviz.kube.validation_errors import explain_validation_error

    document: object = None
    try:
        document = msgspec.json.decode(path.read_bytes())
        return msgspec.convert(document, ObservedState)
    except OSError as error:
        raise click.ClickException(f"{path}: {error.strerror}.") from None
    except msgspec.ValidationError as error:
        raise click.ClickException(f"{path}: {explain_validation_error(error, document, ObservedState)}") from None
    except msgspec.DecodeError as error:
        raise click.ClickException(f"{path}: is not JSON: {error}.") from None


def _nanoseconds(text: str) -> int:
    """Since 1970."""
    match = _TIME.fullmatch(text)
    if match is None:
        raise click.BadParameter(_NO_TIME.format(text), param_hint="--at")
    try:
        time = datetime.fromisoformat(f"{match[1]}{match[3].replace('Z', '+00:00')}")
    except ValueError:
        raise click.BadParameter(_NO_TIME.format(text), param_hint="--at") from None
    return int(time.timestamp()) * 1_000_000_000 + int((match[2] or ".0")[1:].ljust(9, "0"))
