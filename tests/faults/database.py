"""A new database of either kind for a fault run, which this process can query."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.postgres import PostgresServer, binaries

KINDS = ("sqlite", "postgres")
#: Generous, since the machine may be busy.
PATIENCE_SECONDS = 120.0


@contextmanager
def database(kind: str, folder: Path) -> Iterator[tuple[str, PostgresServer | None]]:
    """The URL of a new database and, for PostgreSQL, its server."""
    if kind == "sqlite":
        yield f"sqlite:///{folder / 'data' / 'schedviz.sqlite3'}", None
        return
    result = binaries()
    if result is None:
        sys.exit("PostgreSQL (initdb) was not found. Install it: apt install postgresql.")
    server = PostgresServer(result)
    server.start()
    try:
        yield server.url, server
    finally:
        server.stop()


def set_up_django(folder: Path, url: str) -> None:
    """Create `folder / "data"`, and connect this process's Django to the database of the started services."""
    os.environ |= {"DJANGO_SETTINGS_MODULE": "schedviz.settings", "SCHEDVIZ_DATA": str(folder / "data"), "SCHEDVIZ_DATABASE_URL": url}
    (folder / "data").mkdir(mode=0o700)
    import django

    django.setup()


@contextmanager
def migrated_database(kind: str) -> Iterator[tuple[Path, str]]:
    """A new folder and the URL of a new migrated database, which this process can query. Both are removed afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="schedviz-"))
    try:
        with database(kind, folder) as (url, _):
            set_up_django(folder, url)
            try:
                from django.core.management import call_command

                call_command("migrate", interactive=False, verbosity=0)
                yield folder, url
            finally:
                close_connections()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def close_connections() -> None:
    from django.db import connections

    connections.close_all()


def wait_until(what: Callable[[], bool], otherwise: str, *, seconds: float = PATIENCE_SECONDS, pause: float = 0.1) -> None:
    """Poll a condition; an unavailable database counts as not met. Raises AssertionError after a time limit."""
    from django.db import DatabaseError, connection

    deadline = time.monotonic() + seconds
    while True:
        try:
            if what():
                return
        except DatabaseError:
            connection.close()
        assert time.monotonic() < deadline, f"{otherwise} within {seconds:.0f} s"
        time.sleep(pause)
