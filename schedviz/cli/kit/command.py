"""The command line of `schedviz kit`."""

from __future__ import annotations

from pathlib import Path

import click

from schedviz.cli.error_messages import MultilineError
from schedviz.terminal import say


@click.command()
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
@click.option(
    "--lessons",
    multiple=True,
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="A folder with your own lessons to include; repeatable.",
)
def kit(folder: Path, lessons: tuple[Path, ...]) -> None:
    """Build FOLDER: schedviz with all its dependencies, to copy to machines without a network.

    On those machines, FOLDER/schedviz starts it. They need the same kind of system and Python as this one.
    """
    from schedviz.cli.kit.build import CannotMake, make

    try:
        made = make(folder, lessons, report=say)
    except CannotMake as error:
        raise MultilineError(*error.lines) from error
    size = f"{made.wheels} packages, {made.bytes / 1e6:.0f} MB"
    say(f"{folder} has {size}. Copy it and run {folder.name}/schedviz there; see README.txt.")
