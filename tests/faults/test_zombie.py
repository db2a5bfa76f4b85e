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
    before = row(session_id)
    assert before.applied_seq == 0
    sent.append(("cycle", client.send(session_id, "cycle", {"op": "cycle"})))
    until(lambda: row(session_id).applied_seq == 2)
    other = row(session_id)
    assert other.epoch > before.epoch
    assert not other.lease_owner.startswith(zombie.owner)
    stored = chunks(session_id)

    zombie.signal(signal.SIGCONT)
    until(lambda: "Another owner has taken session" in zombie.log.read_text())

    # It is running again, but wrote nothing of its unfinished work.
    assert chunks(session_id) == stored
    sent.append(("last", client.send(session_id, "last", {"op": "snapshot"})))
    until(lambda: row(session_id).applied_seq == 3)
    assert verdict.check(session_id, sent)
    assert Command.objects.filter(session_id=session_id, quarantined=True).count() == 0


def stop_between_transactions(services: Services, session_id: str) -> Service:
    """Stop the owner while it computes. If it held a lock, SQLite's for writing or that of its session's row, all writers would wait."""
    from django.db import OperationalError, connection

    while True:
        owner = row(session_id).lease_owner
        service = next(engine for engine in services.engines if owner.startswith(engine.owner))
        service.signal(signal.SIGSTOP)
        try:
            with connection.cursor() as cursor:
                if connection.vendor == "sqlite":
                    cursor.execute("PRAGMA busy_timeout = 300")
                    cursor.execute("UPDATE scheduling_session SET name = name WHERE id <> id")
                else:
                    cursor.execute("SELECT 1 FROM scheduling_session WHERE id = %s FOR UPDATE NOWAIT", [session_id])
        except OperationalError:
            service.signal(signal.SIGCONT)
            continue
        finally:
            connection.close()
        return service


def row(session_id: str) -> Session:
    return Session.objects.get(pk=session_id)


def chunks(session_id: str) -> list[tuple[Any, ...]]:
    return [
        (pk, number, bytes(data))
        for pk, number, data in Chunk.objects.filter(session_id=session_id).order_by("number").values_list("pk", "number", "data")
    ]
