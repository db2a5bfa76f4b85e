"""Watches the SQLite file, and reports on the terminal when it was removed or replaced."""

from __future__ import annotations

from schedviz.sessions.sqlite import files


class DatabaseFileWatch:
    """Reports only changes."""

    def __init__(self, path: str | None) -> None:
        #: None: the database is not a file.
        self._path = path
        #: The last report; "" if the file is fine.
        self._reported = ""

    def new_warning(self) -> str:
        """A sentence, or "" if nothing changed. The first check that finds the file identifies it."""
        if self._path is None:
            return ""
        files.remember(self._path)
        fault = files.fault(self._path)
        if fault == self._reported:
            return ""
        self._reported = fault
        if fault:
            return f"{fault} Nothing is stored any more. {files.what_to_do(self._path)}"
        return f"The database file {self._path} is back; sessions continue."
