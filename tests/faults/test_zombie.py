"""A worker that is suspended past the end of its lease writes nothing when it continues (fencing)."""

from __future__ import annotations

import signal
from typing import Any

from schedviz.sessions.models import Chunk, Command, Session
from tests.conftest import until
from tests.faults import verdict
from tests.faults.conftest import StartServices
from tests.faults.services import Service, Services


def test_a_worker_that_was_suspended_past_its_lease_writes_nothing(start_services: StartServices, database_url: str) -> None:
    services = start_services(database_url, slots=(8, 8))
    client = services.client
    # Enough pods that the run is not done before its worker is suspended.
    session_id = client.make_session("a zombie's", {"nodes": 4, "pods": 4000})
    until(lambda: client.session(session_id)["status"] == "ready")
    sent = [("run", client.send(session_id, "run", {"op": "run"}))]
    until(lambda: row(session_id).cycle > 100)

    zombie = stop_between_transactions(services, session_id)
    until(lambda: not row(session_id).lease_owner.startswith(zombie.owner))
    # The other worker need not do the whole run.
    sent.append(("pause", client.send(session_id, "pause", {"op": "pause"})))
    until(lambda: row(session_id).applied_seq == 2)
    stored = chunks(session_id)

    zombie.signal(signal.SIGCONT)
    until(lambda: f"released session {session_id}: " in zombie.log.read_text())

    # It is running again, but has written none of its unfinished work.
    assert chunks(session_id) == stored
    sent.append(("last", client.send(session_id, "last", {"op": "snapshot"})))
    until(lambda: row(session_id).applied_seq == 3)
    assert verdict.check(session_id, sent)
    assert Command.objects.filter(session_id=session_id, quarantined=True).count() == 0


def stop_between_transactions(services: Services, session_id: str) -> Service:
    """Stop the owner while it computes. In a transaction it may hold locks for which the other worker would wait."""
    while True:
        owner = row(session_id).lease_owner
        service = next(engine for engine in services.engines if owner.startswith(engine.owner))
        service.signal(signal.SIGSTOP)
        if not is_in_transaction(service, session_id):
            return service
        service.signal(signal.SIGCONT)


def is_in_transaction(stopped: Service, session_id: str) -> bool:
    """Whether a stopped owner of a session is in a transaction."""
    from django.db import OperationalError, connection

    stored = row(session_id)
    assert stored.applied_seq == 0
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            try:
                cursor.execute("PRAGMA busy_timeout = 300")
                cursor.execute("UPDATE scheduling_session SET name = name WHERE id <> id")
            except OperationalError:
                return True
            finally:
                connection.close()
            return False

        def holds_a_transaction() -> bool:
            cursor.execute("SELECT 1 FROM pg_stat_activity WHERE application_name = %s AND state LIKE 'idle in tr%%'", [stopped.name])
            return cursor.fetchone() is not None

        # The server may still have to execute a statement that was sent before. It has when the lease has expired, so that the other worker
        # took the session, or waits for a lock.
        until(lambda: holds_a_transaction() or row(session_id).epoch > stored.epoch)
        return holds_a_transaction()


def row(session_id: str) -> Session:
    return Session.objects.get(pk=session_id)


def chunks(session_id: str) -> list[tuple[Any, ...]]:
    return [
        (pk, number, bytes(data))
        for pk, number, data in Chunk.objects.filter(session_id=session_id).order_by("number").values_list("pk", "number", "data")
    ]
