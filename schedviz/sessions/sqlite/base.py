"""The backend's connection. Django requires this module name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import OperationalError
from django.db.backends.sqlite3 import base

from schedviz.sessions.sqlite import files

#: Roles of processes that never migrate. If the file was removed, their first connection must not create an empty one.
_WITHOUT_MIGRATION = frozenset(("worker", "io", "experiments", "sweeper"))


class DatabaseFileGone(OperationalError):
    """The database's file was removed or replaced, so nothing more is read or written.

    The message is for the log. `for_clients` names no folder, because without the database permissions are unknown.
    """

    def __init__(self, path: str, fault: str) -> None:
        super().__init__(f"{fault} schedviz has stopped reading and writing the database. {files.what_to_do(path)}")
        self._without_folder = fault.replace(path, Path(path).name)

    @property
    def for_clients(self) -> str:
        """The message in responses."""
        return (
            f"{self._without_folder} schedviz has stopped reading and writing the database. The server's log names the path and the remedy."
        )


class DatabaseWrapper(base.DatabaseWrapper):
    """A connection that checks its files (three system calls) before each statement and each commit."""

    #: The files beside the database; None if not connected or in memory.
    _sidecars: files.SidecarFiles | None = None

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        """Connect, but do not replace a removed database by a new and empty one."""
        if self.is_in_memory_db():
            return super().get_new_connection(conn_params)
        self._check_files()
        if self._may_create_file:
            files.make_private(self._path)
        connection = super().get_new_connection(conn_params if self._may_create_file else self._requiring_file(conn_params))
        files.remember(self._path)
        self._sidecars = files.SidecarFiles(self._path)
        return connection

    @property
    def _may_create_file(self) -> bool:
        """Whether a missing file means a new installation. Workers start after the migration, which creates the file."""
        return settings.ROLE not in _WITHOUT_MIGRATION and not files.is_known(self._path)

    def _requiring_file(self, conn_params: dict[str, Any]) -> dict[str, Any]:
        if files.identity(self._path) is None:
            raise DatabaseFileGone(self._path, f"The database file {self._path} does not exist.")
        return {**conn_params, "database": f"{Path(self._path).absolute().as_uri()}?mode=rw"}

    def create_cursor(self, name: str | None = None) -> Any:
        """A cursor, if the files are the ones that were opened. Raises `DatabaseFileGone`."""
        self._check_files()
        return super().create_cursor(name)

    def _commit(self) -> None:
        self._check_files()
        super()._commit()  # type: ignore[misc]

    def _close(self) -> None:
        super()._close()  # type: ignore[misc]
        self._sidecars = None

    @property
    def _path(self) -> str:
        return str(self.settings_dict["NAME"])

    def _check_files(self) -> None:
        if self._sidecars is not None:
            self._sidecars.check()
        if fault := files.fault(self._path):
            raise DatabaseFileGone(self._path, fault)
