"""The command line of `schedviz kit`."""

from __future__ import annotations

from pathlib import Path

import click

from schedviz.cli.error_messages import SeveralLines
from schedviz.terminal import say


@click.command()
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
@click.option(
    "--lessons",
    multiple=True,
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="A folder of lessons of your own to take along; repeatable.",
)
def kit(folder: Path, lessons: tuple[Path, ...]) -> None:
    """Make FOLDER: schedviz with all that it needs, to be copied to machines without a network.

    There, FOLDER/schedviz starts it. The machines need the same kind of system and Python as this one.
    """
    from schedviz.cli.kit.build import CannotMake, make

    try:
        made = make(folder, lessons, tell=say)
    except CannotMake as error:
        raise SeveralLines(*error.lines) from error
    size = f"{made.wheels} packages, {made.bytes / 1e6:.0f} MB"
    say(f"{folder} has {size}. Copy it, and start {folder.name}/schedviz there; README.txt says more.")
