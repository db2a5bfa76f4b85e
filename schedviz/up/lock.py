"""One supervisor per data folder: a lock that the kernel releases when its holder ends."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import time
from pathlib import Path
from typing import Any

from schedviz.up.errors import CannotStart

#: Tries to lock the file, and the time between them.
_MAX_TRIES = 5
_PAUSE_SECONDS = 0.02


class DataLock:
    """The exclusive right to run on a data folder, until `release` or the end of the process. The file names the holder."""

    def __init__(self, data: Path) -> None:
        self.path = data / "lock"
        self._descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            _lock(self._descriptor)
        except BlockingIOError:
            holder = _describe(self.path)
            os.close(self._descriptor)
            raise CannotStart(
                f"schedviz is already running on the data folder {data}{holder}. "
                "Use that one (`schedviz login` prints a new link), stop it with Ctrl-C in its terminal, "
                "or start another on a folder of its own with --data."
            ) from None
        except OSError as error:
            os.close(self._descriptor)
            raise CannotStart(
                f"The data folder {data} cannot be locked: {error.strerror}. Choose one on a local disk with --data."
            ) from error

    def name_holder(self, url: str) -> None:
        """Store pid and address in the file, for the message to a second start."""
        os.ftruncate(self._descriptor, 0)
        os.pwrite(self._descriptor, json.dumps({"pid": os.getpid(), "url": url}).encode(), 0)

    def release(self) -> None:
        """Release the lock."""
        with contextlib.suppress(OSError):
            os.ftruncate(self._descriptor, 0)
        os.close(self._descriptor)


def _lock(descriptor: int) -> None:
    """Lock a file exclusively. Raises `BlockingIOError` if somebody has it for longer than `url_of_holder` does."""
    for _ in range(_MAX_TRIES - 1):
        with contextlib.suppress(BlockingIOError):
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        time.sleep(_PAUSE_SECONDS)
    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


def url_of_holder(data: Path) -> str | None:
    """The address of the supervisor that runs on a data folder; None if there is none."""
    try:
        descriptor = os.open(data / "lock", os.O_RDWR)
    except OSError:
        return None
    try:
        # The holder's lock refuses a shared one, other probes do not. It lasts some microseconds.
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        holder = _read(data / "lock")
        return str(holder["url"]) if holder else None
    finally:
        os.close(descriptor)
    return None


def _describe(path: Path) -> str:
    holder = _read(path)
    return f": pid {holder['pid']}, {holder['url']}" if holder else ""


def _read(path: Path) -> dict[str, Any] | None:
    """Pid and address of the holder; None if it has just started and not written them yet."""
    try:
        holder = json.loads(path.read_text())
    except (OSError, ValueError):
        return None
    return holder if isinstance(holder, dict) and {"pid", "url"} <= holder.keys() else None
