"""The children's logs: complete in DATA/logs, and problems on the terminal."""

from __future__ import annotations

import contextlib
import json
import re
import shutil
import time
from pathlib import Path

#: A larger log is copied to `NAME.log.1` and emptied.
ROTATE_BYTES = 10 << 20
_MAX_LINE_LENGTH = 240
_LINES_PER_MINUTE = 6
_ERROR_LINE = re.compile(r"\b(ERROR|CRITICAL)\b|^\w*(Error|Exception)\b|^[\w.]+(Error|Exception): ")


class LogTail:
    """New errors in one log, limited to a few per minute."""

    def __init__(self, path: Path) -> None:
        self.path = path
        rotate(path, ROTATE_BYTES)
        self._position = _size(path)
        self._minute = 0.0
        self._shown = 0

    def new_lines(self) -> list[str]:
        """Lines for the terminal."""
        if _size(self.path) <= self._position:
            return []
        with contextlib.suppress(OSError), self.path.open("rb") as log:
            log.seek(self._position)
            text = log.read(1 << 20)
            self._position += len(text)
            errors = [line for line in map(_error_in, text.decode(errors="replace").splitlines()) if line]
            if rotate(self.path, ROTATE_BYTES):
                self._position = 0
            return self._limited(errors)
        return []

    def _limited(self, lines: list[str]) -> list[str]:
        now = time.monotonic()
        if now - self._minute > 60:
            self._minute, self._shown = now, 0
        remaining = max(0, _LINES_PER_MINUTE - self._shown)
        self._shown += len(lines)
        return [*lines[:remaining], f"… and more in {self.path}"] if 0 < remaining < len(lines) else lines[:remaining]


def last_lines(path: Path, *, lines: int = 5) -> list[str]:
    """The last lines of a log, which explain why a child did not start."""
    try:
        with path.open("rb") as log:
            log.seek(max(0, _size(path) - 8192))
            lines_ = log.read().decode(errors="replace").splitlines()
    except OSError:
        return []
    return [_shortened(line) for line in lines_ if line.strip()][-lines:]


def rotate(path: Path, limit: int) -> bool:
    """Copy a log that is larger than `limit` bytes, and empty it. Its writers append, so they continue in the emptied file."""
    if _size(path) <= limit:
        return False
    with contextlib.suppress(OSError):
        shutil.copyfile(path, path.with_name(path.name + ".1"))
        with path.open("r+b") as log:
            log.truncate()
        return True
    return False


def _error_in(line: str) -> str | None:
    if line.startswith("{"):
        with contextlib.suppress(ValueError):
            entry = json.loads(line)
            if entry.get("level") in {"error", "critical"}:
                return _shortened(" ".join(str(entry.get("event", line)).split()))
            return None
    return _shortened(line) if _ERROR_LINE.search(line) else None


def _shortened(line: str) -> str:
    return line if len(line) <= _MAX_LINE_LENGTH else line[: _MAX_LINE_LENGTH - 1] + "…"


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
