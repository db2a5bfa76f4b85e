"""Checks whether the files of a database are still the ones that were opened.

Processes that have a removed or replaced file open continue to write to it, and their writes are lost when the last of them closes it. This
module does not import Django, because `schedviz up` uses it as well.
"""

from __future__ import annotations

import contextlib
import os
import threading

#: Device and inode of a file; None if it does not exist.
Identity = tuple[int, int] | None
#: Sidecars: files beside the database while it is open. SQLite removes them when the last connection is closed.
_SIDECARS = ("-wal", "-shm")

_lock = threading.Lock()
#: The first file of each path that this process opened. A new file of the same name is another database.
_opened: dict[str, Identity] = {}
#: Paths whose sidecar files were removed. A new connection would create new ones, while other connections still use the old ones.
_without_sidecars: set[str] = set()


def identity(path: str) -> Identity:
    """The file that has this name now."""
    try:
        status = os.stat(path)  # noqa: PTH116 (before each statement: a tenth of the time of Path.stat)
    except OSError:
        return None
    return status.st_dev, status.st_ino


def remember(path: str) -> None:
    """Record the file of this name as the database, unless one is already recorded."""
    with _lock:
        if (file_identity := identity(path)) is not None:
            _opened.setdefault(path, file_identity)


def is_known(path: str) -> bool:
    """Whether this process has opened the database of this path."""
    return path in _opened


def make_private(path: str) -> None:
    """Make the database unreadable for other users of this machine. SQLite applies the umask to a new file, and its mode to `-wal` and
    `-shm`.

    A file of another user is not changed.
    """
    with contextlib.suppress(OSError):
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    for name in (path, *(path + sidecar for sidecar in _SIDECARS)):
        with contextlib.suppress(OSError):
            if os.stat(name).st_mode & 0o077:  # noqa: PTH116 (as above)
                os.chmod(name, 0o600)  # noqa: PTH101


def fault(path: str) -> str:
    """What happened to the database of this path since it was opened, as a sentence; "" if nothing."""
    opened = _opened.get(path)
    if opened is not None and (now := identity(path)) != opened:
        return f"The database file {path} was {'removed' if now is None else 'replaced'} while schedviz was running."
    if path in _without_sidecars:
        return f"The file {path}-wal or {path}-shm was removed while schedviz was running."
    return ""


def what_to_do(path: str) -> str:
    """How to repair the fault, as a sentence."""
    return f"Stop schedviz, put {path} (or a backup: schedviz restore) in its place, and start schedviz again."


class SidecarFiles:
    """The files beside the database, as one connection found them right after it opened them."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._known = [(name, file_identity) for name in _SIDECARS if (file_identity := identity(path + name)) is not None]

    def check(self) -> None:
        """Detect that one was removed or replaced."""
        for name, remembered in self._known:
            if identity(self._path + name) != remembered:
                _without_sidecars.add(self._path)
