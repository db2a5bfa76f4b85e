"""`schedviz dump FILE...`: print what kube-scheduler prints on SIGUSR2, or compare such a log with the API's objects."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import click

from schedviz.cli.loading import loaded, simulated

#: The log and the objects differ.
EXIT_DIFFERENT = 1
#: More than a dump of the largest cluster has.
MAX_LOG_BYTES = 1 << 30


@click.command()
@click.argument("paths", nargs=-1, required=True, metavar="FILE...", type=click.Path(path_type=Path))
@click.option(
    "--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True, help="As which logging prints it."
)
@click.option("--compare", "log", metavar="LOG", type=click.Path(path_type=Path), help="Compare the dump in this log with the objects.")
@click.option("--scheduler-name", "names", multiple=True, metavar="NAME", help="A profile of the scheduler; default: default-scheduler.")
@click.pass_context
def dump(ctx: click.Context, paths: tuple[Path, ...], form: Literal["text", "json"], log: Path | None, names: tuple[str, ...]) -> None:
    """Print what the scheduler would print on SIGUSR2 with the objects in FILE... (kubectl dumps), or after the trace in FILE.

    With --compare, the dump in a scheduler's log is compared with the objects: leaves with 0 if they are the same, 1 if they differ, 2
    if a file cannot be used.
    """
    if log is None:
        _print(paths, form)
    elif _compare(log, paths, names or ("default-scheduler",)):
        ctx.exit(EXIT_DIFFERENT)


def _print(paths: Sequence[Path], form: Literal["text", "json"]) -> None:
    from schedviz.engine.debugger import dump_lines

    for line in dump_lines(simulated(loaded(paths))):
        click.echo(line.write(form), nl=False)


def _compare(log: Path, paths: Sequence[Path], names: tuple[str, ...]) -> bool:
    """Whether the log differs from the objects."""
    from schedviz.engine.cache.debugger.audit import audit
    from schedviz.ingest.errors import IngestError
    from schedviz.ingest.sigusr2 import parse_dump
    from schedviz.kube.core import Node, Pod

    objects = loaded(paths)
    if objects.trace is not None:
        raise click.ClickException(f"{paths[0]}: a log is compared with objects, as `kubectl get nodes,pods -A -o json` prints them.")
    try:
        if log.stat().st_size > MAX_LOG_BYTES:
            raise click.ClickException(f"{log}: it has more than {MAX_LOG_BYTES >> 30} GB; cut it to the lines of the dump.")
        parsed = parse_dump(str(log), log.read_text("utf-8", errors="replace"))
    except IngestError as error:
        raise click.ClickException(str(error)) from None
    except OSError as error:
        raise click.ClickException(f"{log}: {error.strerror}.") from None
    nodes = [obj for obj in objects.objects if isinstance(obj, Node)]
    result = audit(nodes, [obj for obj in objects.objects if isinstance(obj, Pod)], parsed, scheduler_names=names)
    for difference in result.differences:
        click.echo(difference)
    for note in result.notes:
        click.echo(f"note: {note}")
    count = len(result.differences)
    click.echo(f"{count} difference{'' if count == 1 else 's'}" if count else "no difference")
    return bool(count)
