"""The clock, the locks and the prepared cursor of the database."""

from __future__ import annotations

from typing import Any

from django.db import connection
from django.db.models import FloatField, Func

SQLITE_SECONDS = "((julianday('now') - 2440587.5) * 86400.0)"
# clock_timestamp, not now(): the latter is when the transaction began.
POSTGRESQL_SECONDS = "EXTRACT(EPOCH FROM clock_timestamp())::float8"


class DatabaseSeconds(Func):
    """Seconds since 1970 by the database's clock: leases of workers on several machines are compared by one clock."""

    output_field = FloatField()
    arity = 0

    def as_sqlite(self, *_: Any, **__: Any) -> tuple[str, tuple[str | int, ...]]:
        return SQLITE_SECONDS, ()

    def as_postgresql(self, *_: Any, **__: Any) -> tuple[str, tuple[str | int, ...]]:
        return POSTGRESQL_SECONDS, ()


def wait_for_lock(number: int) -> None:
    """Within a transaction: wait until no other transaction holds the lock of this number, and hold it until the end.

    Transactions of SQLite (`BEGIN IMMEDIATE`) exclude each other without it.
    """
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", [number])


def repeated_cursor() -> Any:
    """A cursor for a statement of which only the values are new each time: PostgreSQL prepares it, SQLite does so anyway."""
    # Ours, which Django's types do not know.
    found: Any = connection
    return found.prepared_cursor() if found.vendor == "postgresql" else found.cursor()
