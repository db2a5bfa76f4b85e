"""`schedviz dump FILE...`: print what kube-scheduler prints on SIGUSR2."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import click

from schedviz.cli.loading import loaded, simulated


@click.command()
@click.argument("paths", nargs=-1, required=True, metavar="FILE...", type=click.Path(path_type=Path))
@click.option(
    "--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True, help="As which logging prints it."
)
def dump(paths: tuple[Path, ...], form: Literal["text", "json"]) -> None:
    """Print what the scheduler would print on SIGUSR2 with the objects in FILE... (kubectl dumps), or after the trace in FILE.

    `schedviz doctor` compares such a log with the objects.
    """
    from schedviz.engine.debugger import dump_lines

    for line in dump_lines(simulated(loaded(paths))):
        click.echo(line.write(form), nl=False)
