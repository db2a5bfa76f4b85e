"""Whether the SQLite file is still the one that this installation runs on: said on the terminal, where somebody sees it."""

from __future__ import annotations

from schedviz.sessions.sqlite import files


class DatabaseFileWatch:
    """Looks at the file, and speaks only when something changed."""

    def __init__(self, path: str | None) -> None:
        #: None: the database is another program's.
        self._path = path
        #: What was said last; "": all is well.
        self._said = ""

    def news(self) -> str:
        """A sentence, or "" where there is nothing new to say. The file is known from the first look that finds it."""
        if self._path is None:
            return ""
        files.remember(self._path)
        fault = files.fault(self._path)
        if fault == self._said:
            return ""
        self._said = fault
        if fault:
            return f"{fault} Nothing more is stored. {files.what_to_do(self._path)}"
        return f"The database file {self._path} is back; sessions go on."
