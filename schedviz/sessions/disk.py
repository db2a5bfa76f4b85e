"""Detects errors caused by a full disk, and explains them to users without naming a path of the server."""

from __future__ import annotations

import errno
import shutil
import sqlite3
from pathlib import Path

from django.conf import settings
from django.db import DatabaseError

_DATA_FULL = "The disk that holds schedviz's data is full."
#: PostgreSQL's SQLSTATE disk_full.
_POSTGRESQL_DISK_FULL = "53100"
_DISK_FULL_ERRNOS = {errno.ENOSPC, errno.EDQUOT}
#: If less space than this is free, SQLite's write errors are attributed to the full disk. One slice can need this much.
_MIN_FREE_BYTES = 4 << 20


def full_disk(error: BaseException) -> str | None:
    """Which disk is full, as a sentence; None if a full disk is not the cause of the error."""
    if isinstance(error, OSError):
        return "A disk of the server is full." if error.errno in _DISK_FULL_ERRNOS else None
    if not isinstance(error, DatabaseError):
        return None
    cause = error.__cause__
    if getattr(cause, "sqlstate", None) == _POSTGRESQL_DISK_FULL:
        return "The disk of the database server is full."
    if isinstance(cause, sqlite3.Error) and _is_sqlite_full(cause):
        free = free_bytes()
        return _DATA_FULL if free is None else f"{_DATA_FULL.removesuffix('.')}: {free / 1e6:.1f} MB are left."
    return None


def free_bytes() -> int | None:
    """Free bytes on the database's disk; None if the database is on another machine."""
    default = settings.DATABASES["default"]
    if not default["ENGINE"].endswith("sqlite"):
        return None
    try:
        return shutil.disk_usage(Path(default["NAME"]).parent).free
    except OSError:
        return None


def has_space() -> bool:
    """Whether the database's disk has space for one more slice."""
    free = free_bytes()
    return free is None or free >= _MIN_FREE_BYTES


def _is_sqlite_full(error: sqlite3.Error) -> bool:
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    return code == sqlite3.SQLITE_FULL or (code == sqlite3.SQLITE_IOERR and not has_space())
