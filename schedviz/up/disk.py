"""Whether there is room for the data: said on the terminal, since logs on a full disk say nothing."""

from __future__ import annotations

import shutil
from pathlib import Path

#: Below this nothing can be counted on: a slice with its checkpoint takes up to 4 MB, and SQLite's journal as much again.
LOW_BYTES = 16 << 20


class DiskWatch:
    """Looks at the disk under one folder, and speaks only when something changed."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._was_low = False

    def news(self) -> str:
        """A sentence, or "" where there is nothing new to say."""
        try:
            free = shutil.disk_usage(self._folder).free
        except OSError:
            return ""
        # With a little more than that it is not said again and again.
        is_low = free < LOW_BYTES * (1.25 if self._was_low else 1)
        if is_low == self._was_low:
            return ""
        self._was_low = is_low
        if is_low:
            left = f"{free / 1e6:.1f} MB are left"
            return f"The disk that holds {self._folder} is full: {left}. Sessions stand still until there is room; nothing is lost."
        return f"The disk that holds {self._folder} has room again; sessions go on."
