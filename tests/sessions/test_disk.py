"""A full disk is told from a database that is away, and named."""

from __future__ import annotations

import errno
import sqlite3
from pathlib import Path

import psycopg.errors
import pytest
from django.conf import LazySettings
from django.db import OperationalError

from schedviz.sessions import disk


def test_a_database_without_room_names_its_disk(tmp_path: Path, settings: LazySettings) -> None:
    with sqlite3.connect(tmp_path / "small.sqlite3") as database:
        database.execute("PRAGMA max_page_count = 2")
        database.execute("CREATE TABLE large (data BLOB)")
        with pytest.raises(sqlite3.OperationalError) as raised:
            database.execute("INSERT INTO large VALUES (zeroblob(1000000))")
    wrapped = OperationalError(str(raised.value))
    wrapped.__cause__ = raised.value

    said = disk.full_disk(wrapped)

    assert said is not None
    assert said.startswith(f"The disk that holds {settings.DATABASES['default']['NAME']} is full")


def test_a_database_server_without_room_says_so_in_its_words() -> None:
    wrapped = OperationalError()
    wrapped.__cause__ = psycopg.errors.DiskFull('could not extend file "base/5/16384": No space left on device')

    said = disk.full_disk(wrapped)

    assert said == 'The disk of the database server is full: could not extend file "base/5/16384": No space left on device.'


def test_an_upload_without_room_names_the_file() -> None:
    assert (
        disk.full_disk(OSError(errno.ENOSPC, "No space left on device", "/data/tmp/upload"))
        == "The disk that holds /data/tmp/upload is full."
    )


def test_strangers_are_not_told_where_things_lie(settings: LazySettings) -> None:
    settings.PUBLIC = True

    said = disk.full_disk(OSError(errno.ENOSPC, "No space left on device", "/data/tmp/upload"))

    assert said == "The disk that holds schedviz's data is full."


def test_what_is_something_else_is_not_called_a_full_disk() -> None:
    assert disk.full_disk(OperationalError("connection refused")) is None
    assert disk.full_disk(OSError(errno.EACCES, "Permission denied", "/data")) is None
