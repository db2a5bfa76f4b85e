"""The connection, as Django looks for it in a module of this name."""

from __future__ import annotations

import select
from datetime import UTC, datetime
from typing import Any

import psycopg
from django.db.backends.postgresql import base
from django.utils.asyncio import async_unsafe
from psycopg.types.datetime import TimestamptzLoader

#: A side that the other can no longer reach is told of nothing. Left to themselves, the worker would wait a quarter of an hour, and the
#: server keep what the worker had locked for two: nobody could take its sessions over. Both ask after 3 s of silence, and give up after 6:
#: before the worker's watchdog, which ends it where a stage takes 10 s, holds the silence for an engine that is stuck.
_IDLE_SECONDS, _INTERVAL_SECONDS, _ATTEMPTS, _UNHEARD_MS = 3, 1, 3, 6_000
_HERE = {
    "keepalives_idle": _IDLE_SECONDS,
    "keepalives_interval": _INTERVAL_SECONDS,
    "keepalives_count": _ATTEMPTS,
    "tcp_user_timeout": _UNHEARD_MS,
}
#: Said in a statement: poolers refuse it where a connection begins.
_AT_THE_SERVER = (
    f"SELECT set_config('tcp_keepalives_idle', '{_IDLE_SECONDS}', false),"
    f" set_config('tcp_keepalives_interval', '{_INTERVAL_SECONDS}', false),"
    f" set_config('tcp_keepalives_count', '{_ATTEMPTS}', false), set_config('tcp_user_timeout', '{_UNHEARD_MS}', false)"
)


class UtcLoader(TimestamptzLoader):
    """Moments as Django gives them. Its own loader is Python and takes ten times as long: a fifth of what a list of 20 commands took."""

    #: Django looks for it.
    timezone = UTC

    def load(self, data: Any) -> datetime:
        """Such as `2026-11-22 06:48:25.123456+00`."""
        try:
            return datetime.fromisoformat(str(data, "ascii")).astimezone(UTC)
        except ValueError:
            # Before the year 1 or past 9999: psycopg says so in its words.
            return super().load(data).astimezone(UTC)


class DatabaseWrapper(base.DatabaseWrapper):
    """A connection that is looked at for nothing before each request, and asks the server only where there is reason to."""

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        """Connect; what the address says of keepalives goes before what is said here."""
        connection = super().get_new_connection({**_HERE, **conn_params})
        connection.adapters.register_loader("timestamptz", UtcLoader)
        return connection

    def init_connection_state(self) -> None:
        """Have the server, too, find out that nobody is there any more."""
        super().init_connection_state()
        self.connection.execute(_AT_THE_SERVER)

    @async_unsafe
    def prepared_cursor(self) -> Any:
        """As `cursor()`, for statements that are executed repeatedly: values are sent apart from the statement, so that psycopg prepares it
        once per connection (`prepare_threshold` in OPTIONS). That halves the time of a small query, here and on the server.
        """
        self.close_if_health_check_failed()
        self.ensure_connection()
        self.validate_thread_sharing()
        with self.wrap_database_errors:
            cursor: Any = psycopg.Cursor(self.connection)
        return self.make_debug_cursor(cursor) if self.queries_logged else self.make_cursor(cursor)

    def is_usable(self) -> bool:
        """Whether the server is still there. One that has closed the connection has said so: where nothing came, nothing is asked."""
        return self._is_silent() or super().is_usable()

    def _is_silent(self) -> bool:
        try:
            descriptor = self.connection.pgconn.socket
        except psycopg.Error:
            return False
        heard = select.poll()
        heard.register(descriptor, select.POLLIN)
        return not heard.poll(0)
