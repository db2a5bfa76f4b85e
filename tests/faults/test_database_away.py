"""PostgreSQL is stopped under load, unavailable for a while, and restarted."""

from __future__ import annotations

import gzip
import http.client
import threading

import pytest

from tests.conftest import until
from tests.faults import verdict
from tests.faults.client import Client, NoResponse
from tests.faults.conftest import StartUp
from tests.faults.database import wait_until
from tests.faults.installation import Installation
from tests.faults.sender import Sender
from tests.postgres import PostgresServer

pytestmark = pytest.mark.postgres


def test_a_database_restart_under_load_loses_nothing(start_up: StartUp, postgres: PostgresServer) -> None:
    installation = start_up(postgres.url)
    client = installation.client
    sessions = [client.make_session(f"number {n}", {"nodes": 4, "pods": 100, "seed": n}) for n in range(3)]
    until(lambda: all(client.session(session)["status"] == "ready" for session in sessions))
    stopped = threading.Event()
    senders = [Sender(client, session_id, seed, stopped) for seed, session_id in enumerate(sessions)]
    for sender in senders:
        sender.start()
    until(lambda: all(len(sender.sent) > 3 for sender in senders))

    assert large_request(client, sessions[0]) == 400
    assert all(exports(client, sessions[0]))
    for end in (postgres.stop_gracefully, postgres.crash):
        end()
        until(lambda: response(client, "/healthz")[0] == 503)
        assert response(client, "/healthz")[1]["down"] == ["database"]
        status, body = response(client, f"/api/v1/sessions/{sessions[0]}/")
        assert (status, body["error"]["code"]) == (503, "database_down")
        assert large_request(client, sessions[0]) == 503
        before = [sender.unanswered for sender in senders]
        until(lambda before=before: all(now.unanswered > was for now, was in zip(senders, before, strict=True)))
        # Meanwhile kill the housekeeper, which frees the sessions of crashed workers, and a worker with sessions.
        # In the second round they may still be restarting from the first.
        until(lambda: installation.kill("housekeeper"))
        until(lambda: installation.kill("engine-1"))
        until(lambda: "[housekeeper] The database cannot be used" in installation.output.read_text())
        postgres.resume()
        before = [len(sender.sent) for sender in senders]
        until(lambda before=before: all(len(now.sent) > was for now, was in zip(senders, before, strict=True)))
        until(client.is_up)
        # Its sender is looked up in a thread of the event loop, whose database connection dates from before the outage.
        assert large_request(client, sessions[0]) == 400
        # So are the parts of a download produced.
        assert all(exports(client, sessions[0]))
        installation.output.write_text("")

    stopped.set()
    for sender in senders:
        sender.join(timeout=60)
        assert not sender.is_alive()
        assert not sender.trouble
    wait_until(verdict.all_commands_are_applied, "not everything that was accepted was applied")
    check_at_rest(installation, senders)


def test_a_read_only_database_is_reported_and_work_continues_afterwards(start_up: StartUp, postgres: PostgresServer) -> None:
    installation = start_up(postgres.url)
    client = installation.client
    session_id = client.make_session("read-only for a while", {"nodes": 4, "pods": 100, "seed": 1})
    until(lambda: client.session(session_id)["status"] == "ready")
    stopped = threading.Event()
    sender = Sender(client, session_id, 1, stopped)
    sender.start()
    until(lambda: len(sender.sent) > 3)

    postgres.set_read_only(on=True)
    until(lambda: response(client, "/healthz")[1].get("database") == "is read-only")
    status, body = client.request("POST", f"/api/v1/sessions/{session_id}/commands/", {"key": "refused", "op": "run"})
    assert (status, body["error"]["code"]) == (503, "database_down")
    assert "read-only" in body["error"]["message"]
    assert client.session(session_id)["nodes"] == 4
    postgres.set_read_only(on=False)
    before = len(sender.sent)
    until(lambda: len(sender.sent) > before)
    until(client.is_up)

    stopped.set()
    sender.join(timeout=60)
    assert not sender.is_alive()
    assert not sender.trouble
    assert "Traceback" not in installation.output.read_text()
    wait_until(verdict.all_commands_are_applied, "not everything that was accepted was applied")
    check_at_rest(installation, [sender])


def exports(client: Client, session_id: str) -> list[bool]:
    """Whether each of several exports of a session is complete: as many as use each thread that produces downloads."""

    def export() -> bool:
        connection = http.client.HTTPConnection(client.host, client.port, timeout=60)
        try:
            connection.request(
                "GET", f"/api/v1/sessions/{session_id}/export/", headers={"Authorization": f"Bearer {client.token}", "Connection": "close"}
            )
            return bool(gzip.decompress(connection.getresponse().read()))
        except (OSError, EOFError, http.client.HTTPException):
            return False
        finally:
            connection.close()

    return [export() for _ in range(8)]


def large_request(client: Client, session_id: str) -> int:
    """The status of a request that is too large to be read before its credentials are checked."""
    status, _ = client.request("POST", f"/api/v1/sessions/{session_id}/commands/", {"op": "x" * 90_000})
    return status


def response(client: Client, path: str) -> tuple[int, dict]:
    """The first response to a GET, which is repeated after a timeout."""

    def ask() -> tuple[int, dict] | None:
        try:
            return client.request("GET", path)
        except NoResponse:
            return None

    return until(ask, seconds=180)


def check_at_rest(installation: Installation, senders: list[Sender]) -> None:
    installation.stop()
    for sender in senders:
        assert verdict.check(sender.session_id, sender.sent)
