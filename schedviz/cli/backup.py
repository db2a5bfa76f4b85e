"""`schedviz backup FILE` and `schedviz restore FILE`: everything that is kept, of either kind of database."""

from __future__ import annotations

import os
from pathlib import Path

import click

from schedviz.terminal import say


def _django(data: Path | None) -> None:
    if data is not None:
        os.environ["SCHEDVIZ_DATA"] = str(data)
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "schedviz.settings")
    import django

    django.setup()


_data_option = click.option(
    "--data", type=click.Path(exists=True, file_okay=False, path_type=Path), default=None, help="The data folder, as for `schedviz up`."
)


@click.command()
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@_data_option
def backup(file: Path, data: Path | None) -> None:
    """Write everything that is kept to FILE: sessions with their whole history, users, tokens, lessons, rooms.

    The server may run meanwhile: what the file has is one moment. It holds secrets and is readable by you alone.
    """
    _django(data)
    from schedviz.web.backup import write

    summary = write(file)
    say(f"{file}: {summary.rows:,} rows of {summary.tables} tables, {summary.sessions:,} sessions, {summary.bytes:,} bytes.")


@click.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@_data_option
@click.option("--replace", is_flag=True, help="Throw away what the database has now. Without this it must be empty.")
def restore(file: Path, data: Path | None, *, replace: bool) -> None:
    """Put everything back that `schedviz backup` wrote, into the database that is configured: SQLite or PostgreSQL, whichever it was.

    Stop the server first. All of it is put back, or nothing is.
    """
    _django(data)
    from schedviz.web.backup import read

    summary = read(file, replace=replace)
    say(f"Put back {summary.rows:,} rows of {summary.tables} tables, {summary.sessions:,} sessions. Start the server again.")
