"""The clocks of the database and Redis servers jump by hours under load: sessions continue, also those of a crashed worker.

A test cannot set the clock of the machine. Instead it shifts the stored times that are compared with the clock by the same amount in the
other direction: the ends of leases in the database, and the expiry times of keys in Redis.
"""

from __future__ import annotations

import threading

import redis
from django.db import OperationalError
from django.db.models import F

from schedviz.sessions.models import Session
from tests.conftest import until
from tests.faults import verdict
from tests.faults.conftest import StartServices
from tests.faults.database import wait_until
from tests.faults.sender import Sender
from tests.faults.services import Services
from tests.faults.viewer import Viewer

_HOUR = 3600
_JUMPS = (-3 * _HOUR, 5 * _HOUR, -400 * 24 * _HOUR)


def test_sessions_continue_after_a_clock_jump(start_services: StartServices, database_url: str) -> None:
    services = start_services(database_url, slots=(8, 8))
    client = services.client
    sessions = [client.make_session(f"number {n}", {"nodes": 4, "pods": 100, "seed": n}) for n in range(4)]
    until(lambda: all(client.session(session)["status"] == "ready" for session in sessions))
    sending, looking = threading.Event(), threading.Event()
    senders = [Sender(client, session_id, seed, sending) for seed, session_id in enumerate(sessions)]
    viewers = [Viewer(client, session_id, looking) for session_id in sessions]
    for thread in (*senders, *viewers):
        thread.start()

    for number, seconds in enumerate(_JUMPS):
        assert_all_continue(senders)
        # Its leases stay, since there is no supervisor.
        dying = services.engines[number % 2]
        dying.kill()
        jump(services, seconds)
        assert_all_continue(senders)
        dying.start()

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
    for sender in senders:
        assert verdict.check(sender.session_id, sender.sent)


def jump(services: Services, seconds: int) -> None:
    """Set the clock forward, or back by a negative number of seconds."""
    until(lambda: leases_moved(seconds))
    connection = redis.Redis.from_url(services.redis.url)
    for key in connection.scan_iter():
        left = connection.pttl(key)
        if left > 0:
            connection.pexpire(key, max(1, left - seconds * 1000))


def leases_moved(seconds: int) -> bool:
    try:
        Session.objects.exclude(lease_owner="").update(lease_until=F("lease_until") - seconds)
    except OperationalError:
        # SQLite: another process is writing.
        return False
    return True


def assert_all_continue(senders: list[Sender]) -> None:
    """Check that commands of each session are accepted and applied."""
    before = [len(sender.sent) for sender in senders]
    until(lambda: all(len(sender.sent) > was + 3 for sender, was in zip(senders, before, strict=True)))
    wanted = {sender.session_id: sender.sent[-1][1] for sender in senders}
    until(lambda: not any(Session.objects.filter(pk=each, applied_seq__lt=seq).exists() for each, seq in wanted.items()))
