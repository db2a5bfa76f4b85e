"""An SQLite connection does not recreate a removed database, and detects that its files are missing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.conf import LazySettings
from django.db.utils import ConnectionHandler

from schedviz.sessions.sqlite.base import DatabaseFileGone
from schedviz.web.environment import database

pytestmark = pytest.mark.django_db

#: With characters that have a meaning in a URI.
NAME = "a file?of #mine 100%.sqlite3"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / NAME


@pytest.fixture
def connection(path: Path) -> Iterator[Any]:
    """A connection to a database that does not exist yet."""
    from urllib.parse import quote

    handler = ConnectionHandler({"default": database(f"sqlite:///{quote(str(path))}", synchronous="NORMAL")})
    made = handler["default"]
    made.inc_thread_sharing()
    yield made
    if made.connection is not None:
        made.connection.close()


def test_the_first_connection_of_a_migrating_process_creates_the_file(connection: Any, path: Path, settings: LazySettings) -> None:
    settings.ROLE = "web"

    connection.ensure_connection()

    assert path.exists()


@pytest.mark.parametrize("mode_before", [None, 0o644])
def test_no_other_user_of_the_machine_can_read_the_database(
    connection: Any, path: Path, settings: LazySettings, mode_before: int | None
) -> None:
    settings.ROLE = "web"
    if mode_before is not None:
        path.touch()
        path.chmod(mode_before)

    connection.ensure_connection()
    connection.cursor().execute("CREATE TABLE made (one INTEGER)")

    modes = {file.name: file.stat().st_mode & 0o777 for file in path.parent.iterdir()}
    assert set(modes) == {NAME, f"{NAME}-wal", f"{NAME}-shm"}
    assert set(modes.values()) == {0o600}


@pytest.mark.parametrize("role", ["worker", "io", "sweeper"])
def test_a_worker_never_creates_the_file(connection: Any, path: Path, settings: LazySettings, role: str) -> None:
    settings.ROLE = role

    with pytest.raises(DatabaseFileGone, match="does not exist"):
        connection.ensure_connection()

    assert not path.exists()
    path.touch()
    connection.ensure_connection()


def test_a_reconnection_does_not_create_another_file(connection: Any, path: Path, settings: LazySettings) -> None:
    settings.ROLE = "web"
    connection.ensure_connection()
    connection.close()
    for file in path.parent.iterdir():
        file.unlink()

    with pytest.raises(DatabaseFileGone, match="was removed"):
        connection.ensure_connection()

    assert not path.exists()


def test_a_transaction_is_not_committed_into_a_removed_file(connection: Any, path: Path, settings: LazySettings) -> None:
    settings.ROLE = "web"
    connection.ensure_connection()
    connection.set_autocommit(False)
    with connection.cursor() as cursor:
        cursor.execute("CREATE TABLE one (n)")
    path.unlink()

    with pytest.raises(DatabaseFileGone, match="was removed"):
        connection.commit()
