"""`schedviz backup FILE` and `schedviz restore FILE`: the whole database, for SQLite and PostgreSQL."""

from __future__ import annotations

from pathlib import Path

import click

from schedviz.cli.django_setup import existing_data_option, set_up_django
from schedviz.terminal import say


@click.command()
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@existing_data_option
def backup(file: Path, data: Path | None) -> None:
    """Write all stored data to FILE: sessions with their whole history, users, tokens, lessons and rooms.

    The server may keep running: the file is a consistent copy. It contains secrets, and only you can read it.
    """
    set_up_django(data)
    from schedviz.web.backup import write

    summary = write(file)
    say(f"{file}: {summary.rows:,} rows of {summary.tables} tables, {summary.sessions:,} sessions, {summary.bytes:,} bytes.")


@click.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@existing_data_option
@click.option("--replace", is_flag=True, help="Delete what the database contains. Otherwise it must be empty.")
def restore(file: Path, data: Path | None, *, replace: bool) -> None:
    """Restore what `schedviz backup` wrote into the configured database, SQLite or PostgreSQL, whichever the backup came from.

    Stop the server first; while it runs, nothing is restored. Either everything is restored or nothing.
    """
    set_up_django(data)
    from django.conf import settings

    from schedviz.up.errors import CannotStart
    from schedviz.up.lock import DataLock
    from schedviz.web import backup

    try:
        # Held until the end, so that no server starts meanwhile.
        lock = DataLock(settings.DATA)
    except CannotStart as error:
        raise backup.BackupError(
            f"Nothing was restored, because schedviz is running. Stop it, then restore the backup. ({error})"
        ) from error
    try:
        summary = backup.restore(file, replace=replace)
    finally:
        lock.release()
    say(f"Restored {summary.rows:,} rows of {summary.tables} tables, {summary.sessions:,} sessions. Start the server again.")
