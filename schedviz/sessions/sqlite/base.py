"""The connection, as Django looks for it in a module of this name."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.db import OperationalError
from django.db.backends.sqlite3 import base

from schedviz.sessions.sqlite import files


class DatabaseFileGone(OperationalError):  # noqa: N818 (it is read as a sentence)
    """The database's file was removed or replaced: nothing is read from it or written to it any more.

    The message is for the log. Strangers are not told where things lie: `for_clients` names no path on a public server.
    """

    def __init__(self, path: str, fault: str) -> None:
        super().__init__(f"{fault} Nothing more is read or stored. {files.what_to_do(path)}")
        self._fault = fault

    @property
    def for_clients(self) -> str:
        """The message for whoever asked."""
        if settings.PUBLIC:
            return "The database file was removed or replaced while the server was running. The server's operator has to restore it."
        return str(self)


class DatabaseWrapper(base.DatabaseWrapper):
    """A connection that looks at its files (three system calls) before each statement and each commit."""

    #: The files beside the database; None: not connected, or a database in memory.
    _companions: files.Companions | None = None

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        """Connect, but not to a new and empty file where there was a database before."""
        if self.is_in_memory_db():
            return super().get_new_connection(conn_params)
        self._look()
        connection = super().get_new_connection(conn_params)
        files.remember(self._path)
        self._companions = files.Companions(self._path)
        return connection

    def create_cursor(self, name: str | None = None) -> Any:
        """A cursor, where the files are those that were opened. Raises `DatabaseFileGone`."""
        self._look()
        return super().create_cursor(name)

    def _commit(self) -> None:
        self._look()
        super()._commit()  # type: ignore[misc]

    def _close(self) -> None:
        super()._close()  # type: ignore[misc]
        self._companions = None

    @property
    def _path(self) -> str:
        return str(self.settings_dict["NAME"])

    def _look(self) -> None:
        if self._companions is not None:
            self._companions.look()
        if fault := files.fault(self._path):
            raise DatabaseFileGone(self._path, fault)
