"""The PostgreSQL backend: it reads the same values as Django's, and detects connections closed by the server."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

import pytest
from django.db import DatabaseError, IntegrityError, ProgrammingError, connection, connections
from django.test.utils import CaptureQueriesContext

if connection.vendor != "postgresql":
    pytest.skip("These are about PostgreSQL: python -m tests.postgres -m pytest", allow_module_level=True)

from django.db.backends.postgresql.base import DatabaseWrapper as DjangosWrapper

from schedviz.sessions.models import Checkpoint, CheckpointPiece, Session
from schedviz.sessions.postgresql import DatabaseReadOnly
from schedviz.sessions.queries.database import repeated_cursor
from schedviz.sessions.transfer import deletion

pytestmark = pytest.mark.django_db(transaction=True)


@contextmanager
def another_connection() -> Iterator[Any]:
    other = connections.create_connection("default")
    try:
        with other.cursor() as cursor:
            yield cursor
    finally:
        other.close()


@pytest.mark.parametrize(
    "moment",
    [
        datetime(2026, 11, 22, 6, 48, 25, 123456, tzinfo=UTC),
        datetime(2026, 11, 22, 6, 48, 25, 120000, tzinfo=UTC),
        datetime(2026, 11, 22, 6, 48, 25, tzinfo=UTC),
        datetime(1, 1, 1, tzinfo=UTC),
        datetime(9999, 12, 31, 23, 59, 59, 999999, tzinfo=UTC),
    ],
)
def test_a_timestamp_is_read_as_it_was_written(moment: datetime) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT %s::timestamptz, NULL::timestamptz", [moment])
        (found, none) = cursor.fetchone()

    assert (found, found.tzinfo, none) == (moment, UTC, None)


def test_a_timestamp_in_another_time_zone_is_the_same_instant() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SET TIME ZONE 'Asia/Kathmandu'")
        cursor.execute("SELECT %s::timestamptz", [datetime(2026, 11, 22, 6, 48, tzinfo=UTC)])
        found = cursor.fetchone()[0]
        cursor.execute("SET TIME ZONE 'UTC'")

    assert (found, found.tzinfo) == (datetime(2026, 11, 22, 6, 48, tzinfo=UTC), UTC)


def test_a_silent_server_counts_as_connected_and_is_not_queried(monkeypatch: pytest.MonkeyPatch) -> None:
    connection.ensure_connection()
    monkeypatch.setattr(DjangosWrapper, "is_usable", lambda _: pytest.fail("it was asked"))

    assert connection.is_usable()


def test_a_server_that_sent_something_is_queried() -> None:
    with connection.cursor() as cursor:
        cursor.execute("LISTEN something")
    with another_connection() as cursor:
        cursor.execute("NOTIFY something")

    assert connection.is_usable()


def test_a_connection_that_the_server_closed_is_not_usable() -> None:
    connection.ensure_connection()
    with another_connection() as cursor:
        cursor.execute("SELECT pg_terminate_backend(%s, 60000)", [connection.connection.info.backend_pid])

    assert not connection.is_usable()
    connection.close()


def test_a_read_only_server_counts_as_unavailable_and_its_connection_is_not_used_again() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SET default_transaction_read_only = on")
    with pytest.raises(DatabaseReadOnly, match="cannot execute INSERT in a read-only transaction"):
        Session.objects.create(name="not stored")

    assert not connection.is_usable()
    connection.close_if_unusable_or_obsolete()

    Session.objects.create(name="stored by another connection")
    assert connection.is_usable()


def test_connections_have_keepalives_and_a_tcp_timeout() -> None:
    connection.ensure_connection()

    assert connection.connection.info.get_parameters().items() >= {
        ("keepalives_idle", "3"),
        ("keepalives_interval", "1"),
        ("keepalives_count", "3"),
        ("tcp_user_timeout", "6000"),
    }


def test_a_repeatedly_executed_statement_is_prepared() -> None:
    def prepared() -> list[str]:
        with connection.cursor() as cursor:
            cursor.execute("SELECT statement FROM pg_prepared_statements WHERE statement LIKE %s", ["% AS repeated"])
            return [statement for (statement,) in cursor.fetchall()]

    for number in range(10):
        with repeated_cursor() as cursor:
            cursor.execute("SELECT %s + 1 AS repeated", [number])
            assert cursor.fetchone() == (number + 1,)

    assert prepared() == ["SELECT $1 + 1 AS repeated"]


def test_only_the_prepared_cursor_of_a_connection_prepares_and_its_queries_are_logged() -> None:
    with connection.cursor() as cursor:
        for number in range(10):
            cursor.execute("SELECT %s + 1 AS bound_in_the_client", [number])
        cursor.execute("SELECT count(*) FROM pg_prepared_statements WHERE statement LIKE %s", ["% AS bound_in_the_client"])
        assert cursor.fetchone() == (0,)
    with CaptureQueriesContext(connection) as captured, repeated_cursor() as cursor:
        cursor.execute("SELECT %s AS logged", [1])

    assert [query["sql"] for query in captured.captured_queries] == ["SELECT $1 AS logged"]


def test_a_prepared_cursor_refuses_another_thread_and_reopens_a_closed_connection() -> None:
    results: list[Exception] = []

    def use(wrapper: Any) -> None:
        try:
            wrapper.prepared_cursor()
        except DatabaseError as error:
            results.append(error)

    other: Any = connections.create_connection("default")
    try:
        with other.prepared_cursor() as cursor:
            cursor.execute("SELECT 1")
        thread = threading.Thread(target=use, args=(other,))
        thread.start()
        thread.join()
    finally:
        other.close()

    assert "can only be used in that same thread" in str(results[0])


def test_errors_of_a_prepared_statement_are_django_errors() -> None:
    with repeated_cursor() as cursor, pytest.raises(ProgrammingError):
        cursor.execute("SELECT nothing FROM nowhere")


@pytest.mark.usefixtures("redis")
def test_a_session_can_be_deleted_while_its_checkpoint_is_being_stored() -> None:
    session = Session.objects.create(name="saving")
    checkpoint = Checkpoint.objects.create(session=session, event=0, chunk=0, cycle=0, clock_seconds=0.0, applied_seq=0, epoch=0)
    stored: list[Future[None]] = []

    def store_part(execute: Any, sql: str, *rest: Any) -> Any:
        # Between the deletion of the parts and that of the checkpoint.
        if sql.startswith('DELETE FROM "scheduling_checkpoint" ') and not stored:
            stored.append(pool.submit(_store_part, checkpoint.pk))
            wait(stored, timeout=1)
        return execute(sql, *rest)

    with ThreadPoolExecutor(1) as pool, connection.execute_wrapper(store_part):
        assert deletion.delete_session(session.pk)

    assert isinstance(stored[0].exception(timeout=30), IntegrityError)
    assert not Session.objects.exists()


def _store_part(checkpoint: int) -> None:
    try:
        CheckpointPiece.objects.create(checkpoint_id=checkpoint, part=CheckpointPiece.Part.ENGINE, number=0, data=b"")
    finally:
        connection.close()
