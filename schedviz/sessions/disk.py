"""Whether something could not be written because a disk is full, and the sentence that says which."""

from __future__ import annotations

import errno
import shutil
import sqlite3
from pathlib import Path

from django.conf import settings
from django.db import DatabaseError

#: PostgreSQL's SQLSTATE disk_full.
_POSTGRESQL_DISK_FULL = "53100"
_NO_ROOM = {errno.ENOSPC, errno.EDQUOT}
#: With less room than this SQLite's errors about writing come from that: a slice may take so much.
_ROOM_BYTES = 4 << 20


def full_disk(error: BaseException) -> str | None:
    """The sentence that names the full disk; None: that is not why."""
    if isinstance(error, OSError):
        return f"The disk that holds {_shown(error.filename)} is full." if error.errno in _NO_ROOM else None
    if not isinstance(error, DatabaseError):
        return None
    cause = error.__cause__
    if getattr(cause, "sqlstate", None) == _POSTGRESQL_DISK_FULL:
        return f"The disk of the database server is full: {' '.join(str(cause).split())}."
    if isinstance(cause, sqlite3.Error) and _is_sqlite_full(cause):
        room = room_bytes()
        left = "" if room is None else f": {room / 1e6:.1f} MB are left"
        return f"The disk that holds {_shown(settings.DATABASES['default']['NAME'])} is full{left}."
    return None


def room_bytes() -> int | None:
    """What is left on the disk with the database; None: that is another machine's affair."""
    default = settings.DATABASES["default"]
    if not default["ENGINE"].endswith("sqlite3"):
        return None
    try:
        return shutil.disk_usage(Path(default["NAME"]).parent).free
    except OSError:
        return None


def has_room() -> bool:
    """Whether the disk with the database has room for one more slice."""
    room = room_bytes()
    return room is None or room >= _ROOM_BYTES


def _is_sqlite_full(error: sqlite3.Error) -> bool:
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    return code == sqlite3.SQLITE_FULL or (code == sqlite3.SQLITE_IOERR and not has_room())


def _shown(path: object) -> str:
    """Strangers are not told where things lie."""
    return "schedviz's data" if settings.PUBLIC or not path else str(path)
