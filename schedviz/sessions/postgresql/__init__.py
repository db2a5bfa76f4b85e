"""A Django database backend for PostgreSQL with less work per request and row. Settings name it as `ENGINE`."""

from __future__ import annotations

from django.db import OperationalError


class DatabaseReadOnly(OperationalError):
    """The database accepts no writes, as a standby after a failover, or a server that its operator has made read-only.

    It is here because the backend needs psycopg, which installations with SQLite lack.
    """
