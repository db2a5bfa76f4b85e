"""Whether the files of a database are still those that were opened.

A file that is removed or replaced lives on, without a name, for the processes that have it open: what they write is lost when the last
of them closes it.
No Django here: `schedviz up` looks at the file as well.
"""

from __future__ import annotations

import contextlib
import os
import threading

#: Device and inode of a file; None: there is none.
Identity = tuple[int, int] | None
#: Sandbox the database while somebody has it open; SQLite removes them with the last connection alone.
_COMPANIONS = ("-wal", "-shm")

_lock = threading.Lock()
#: The first file of each path that this process opened: a new one of the same name is another database.
_opened: dict[str, Identity] = {}
#: Paths whose companions were removed. A new connection would make new ones, beside those that others still have open.
_without_companions: set[str] = set()


def identity(path: str) -> Identity:
    """Which file has this name now."""
    try:
        status = os.stat(path)  # noqa: PTH116 (before each statement: a tenth of the time of Path.stat)
    except OSError:
        return None
    return status.st_dev, status.st_ino


def remember(path: str) -> None:
    """Take the file of this name as the database, unless one was opened before."""
    with _lock:
        if (found := identity(path)) is not None:
            _opened.setdefault(path, found)


def is_known(path: str) -> bool:
    """Whether this process opened the database of this path before."""
    return path in _opened


def make_private(path: str) -> None:
    """Let no other user of this machine read the database: SQLite takes the umask for a new file, and its mode for `-wal` and `-shm`.

    A file of another user stays as it is.
    """
    with contextlib.suppress(OSError):
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    for name in (path, *(path + companion for companion in _COMPANIONS)):
        with contextlib.suppress(OSError):
            if os.stat(name).st_mode & 0o077:  # noqa: PTH116 (as above)
                os.chmod(name, 0o600)  # noqa: PTH101


def fault(path: str) -> str:
    """What happened to the database of this path since it was opened, as a sentence; "": nothing."""
    known = _opened.get(path)
    if known is not None and (now := identity(path)) != known:
        return f"The database file {path} was {'removed' if now is None else 'replaced'} while schedviz was running."
    if path in _without_companions:
        return f"The file {path}-wal or {path}-shm was removed while schedviz was running."
    return ""


def what_to_do(path: str) -> str:
    """What mends a fault, as a sentence."""
    return f"Stop schedviz, put {path} (or a backup: schedviz restore) in its place, and start schedviz again."


class Companions:
    """The files beside the database as one connection found them, right after it opened them."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._known = [(name, found) for name in _COMPANIONS if (found := identity(path + name)) is not None]

    def look(self) -> None:
        """Notice that one was removed or replaced."""
        for name, known in self._known:
            if identity(self._path + name) != known:
                _without_companions.add(self._path)
