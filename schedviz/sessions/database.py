"""The database's own clock."""

from __future__ import annotations

from typing import Any

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
