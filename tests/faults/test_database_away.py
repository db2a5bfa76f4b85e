"""PostgreSQL is stopped under load, unavailable for a while, and restarted."""

from __future__ import annotations

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
        installation.output.write_text("")

    stopped.set()
    for sender in senders:
        sender.join(timeout=60)
        assert not sender.is_alive()
        assert not sender.trouble
    wait_until(verdict.all_commands_are_applied, "not everything that was accepted was applied")
    check_at_rest(installation, senders)


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
