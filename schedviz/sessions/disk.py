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
_NO_ROOM = {errno.ENOSPC, errno.EDQUOT}
#: If less space than this is free, SQLite's write errors are attributed to the full disk. One slice can need this much.
_ROOM_BYTES = 4 << 20


def full_disk(error: BaseException) -> str | None:
    """The sentence that says which disk is full, without a path; None if a full disk is not the cause."""
    if isinstance(error, OSError):
        return "A disk of the server is full." if error.errno in _NO_ROOM else None
    if not isinstance(error, DatabaseError):
        return None
    cause = error.__cause__
    if getattr(cause, "sqlstate", None) == _POSTGRESQL_DISK_FULL:
        return "The disk of the database server is full."
    if isinstance(cause, sqlite3.Error) and _is_sqlite_full(cause):
        room = room_bytes()
        return _DATA_FULL if room is None else f"{_DATA_FULL.removesuffix('.')}: {room / 1e6:.1f} MB are left."
    return None


def room_bytes() -> int | None:
    """Free bytes on the database's disk; None if the database is on another machine."""
    default = settings.DATABASES["default"]
    if not default["ENGINE"].endswith("sqlite"):
        return None
    try:
        return shutil.disk_usage(Path(default["NAME"]).parent).free
    except OSError:
        return None


def has_room() -> bool:
    """Whether the database's disk has space for one more slice."""
    room = room_bytes()
    return room is None or room >= _ROOM_BYTES


def _is_sqlite_full(error: sqlite3.Error) -> bool:
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    return code == sqlite3.SQLITE_FULL or (code == sqlite3.SQLITE_IOERR and not has_room())
