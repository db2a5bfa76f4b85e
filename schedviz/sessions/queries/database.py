"""The clock, the locks and the prepared cursor of the database."""

from __future__ import annotations

from typing import Any

from django.db import connection
from django.db.migrations.loader import MigrationLoader
from django.db.models import FloatField, Func

SQLITE_SECONDS = "((julianday('now') - 2440587.5) * 86400.0)"
# Not now(), which is the time at which the transaction began.
POSTGRESQL_SECONDS = "EXTRACT(EPOCH FROM clock_timestamp())::float8"


class DatabaseSeconds(Func):
    """Seconds since 1970 by the database's clock. Leases of workers on different machines are compared by this one clock."""

    output_field = FloatField()
    arity = 0

    def as_sqlite(self, *_: Any, **__: Any) -> tuple[str, tuple[str | int, ...]]:
        return SQLITE_SECONDS, ()

    def as_postgresql(self, *_: Any, **__: Any) -> tuple[str, tuple[str | int, ...]]:
        return POSTGRESQL_SECONDS, ()


def wait_for_lock(number: int) -> None:
    """Acquire the lock with this number within a transaction, and hold it until the transaction ends.

    SQLite needs no lock, because its transactions (`BEGIN IMMEDIATE`) exclude each other.
    """
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", [number])


def repeated_cursor() -> Any:
    """A cursor for a statement that is executed repeatedly with new values. PostgreSQL prepares it explicitly; SQLite caches statements
    anyway.
    """
    # A method of our backend that Django's types do not declare.
    wrapped: Any = connection
    return wrapped.prepared_cursor() if wrapped.vendor == "postgresql" else wrapped.cursor()


def migrations_of_newer_version(loader: MigrationLoader) -> list[str]:
    """The applied migrations, `app.name`, that are newer than all of this version: another version has used the database since.

    Unknown ones with smaller numbers are of an older version, which squashed migrations replace.
    """
    newest: dict[str, str] = {}
    for app, name in loader.disk_migrations:
        newest[app] = max(name, newest.get(app, ""))
    return sorted(f"{app}.{name}" for app, name in loader.applied_migrations if app in newest and name > newest[app])
