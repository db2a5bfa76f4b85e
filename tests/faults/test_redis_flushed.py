"""Redis is flushed (FLUSHALL) repeatedly under load: nothing is lost, and viewers repair gaps from the database."""

from __future__ import annotations

import threading

import redis

from tests.conftest import until
from tests.faults import verdict
from tests.faults.conftest import StartUp
from tests.faults.database import wait_until
from tests.faults.sender import Sender
from tests.faults.viewer import Viewer

_TIMES = 8


def test_a_flush_of_redis_loses_no_command_and_no_frame(start_up: StartUp, database_url: str) -> None:
    installation = start_up(database_url)
    client = installation.client
    sessions = [client.make_session(f"number {n}", {"nodes": 4, "pods": 100, "seed": n}) for n in range(3)]
    until(lambda: all(client.session(session)["status"] == "ready" for session in sessions))
    sending, looking = threading.Event(), threading.Event()
    senders = [Sender(client, session_id, seed, sending) for seed, session_id in enumerate(sessions)]
    viewers = [Viewer(client, session_id, looking) for session_id in sessions]
    for thread in (*senders, *viewers):
        thread.start()

    for _ in range(_TIMES):
        before = [len(sender.sent) for sender in senders]
        until(lambda before=before: all(len(now.sent) > was + 2 for now, was in zip(senders, before, strict=True)))
        assert redis.Redis.from_url(installation.redis_url()).flushall()

    sending.set()
    for sender in senders:
        sender.join(timeout=60)
        assert not sender.is_alive()
        assert not sender.trouble
    wait_until(verdict.all_commands_are_applied, "not everything that was accepted was applied")
    until(lambda: all(viewer.event == client.session(each)["event"] for viewer, each in zip(viewers, sessions, strict=True)))
    until(client.is_up)
    looking.set()
    for viewer in viewers:
        viewer.join(timeout=30)
        assert not viewer.trouble
    installation.stop()
    assert "Traceback" not in installation.output.read_text()
    for sender in senders:
        assert verdict.check(sender.session_id, sender.sent)
