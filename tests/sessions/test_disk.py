"""A full disk is distinguished from an unavailable database, and named."""

from __future__ import annotations

import errno
import sqlite3
from pathlib import Path

import psycopg.errors
import pytest
from django.conf import LazySettings
from django.db import OperationalError

from schedviz.sessions import disk


def test_a_full_disk_is_reported_without_its_path(tmp_path: Path, settings: LazySettings) -> None:
    with sqlite3.connect(tmp_path / "small.sqlite3") as database:
        database.execute("PRAGMA max_page_count = 2")
        database.execute("CREATE TABLE large (data BLOB)")
        with pytest.raises(sqlite3.OperationalError) as raised:
            database.execute("INSERT INTO large VALUES (zeroblob(1000000))")
    wrapped = OperationalError(str(raised.value))
    wrapped.__cause__ = raised.value

    message = disk.full_disk(wrapped)

    assert message is not None
    assert message.startswith("The disk that holds schedviz's data is full")
    assert settings.DATABASES["default"]["NAME"] not in message


def test_a_full_disk_of_the_database_is_reported_without_its_paths() -> None:
    wrapped = OperationalError()
    wrapped.__cause__ = psycopg.errors.DiskFull('could not extend file "base/5/16384": No space left on device')

    message = disk.full_disk(wrapped)

    assert message == "The disk of the database server is full."


def test_a_full_disk_for_temporary_files_is_reported_without_the_path() -> None:
    assert disk.full_disk(OSError(errno.ENOSPC, "No space left on device", "/data/tmp/upload")) == "A disk of the server is full."


def test_other_errors_are_not_reported_as_a_full_disk() -> None:
    assert disk.full_disk(OperationalError("connection refused")) is None
    assert disk.full_disk(OSError(errno.EACCES, "Permission denied", "/data")) is None
