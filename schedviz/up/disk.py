"""Watches the free space of the data folder, and reports on the terminal, because nothing can be logged to a full disk."""

from __future__ import annotations

import shutil
from pathlib import Path

#: Below this, writes may fail: a slice with its checkpoint takes up to 4 MB, and SQLite's journal the same again.
LOW_BYTES = 16 << 20


class DiskWatch:
    """Reports only changes."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._was_low = False

    def new_warning(self) -> str:
        """A sentence, or "" if nothing changed."""
        try:
            free = shutil.disk_usage(self._folder).free
        except OSError:
            return ""
        # A higher threshold on the way back, so that it does not alternate.
        is_low = free < LOW_BYTES * (1.25 if self._was_low else 1)
        if is_low == self._was_low:
            return ""
        self._was_low = is_low
        if is_low:
            free_text = f"{free / 1e6:.1f} MB are left"
            return f"The disk of {self._folder} is full: {free_text}. Sessions pause until there is space; nothing is lost."
        return f"The disk of {self._folder} has space again; sessions continue."
