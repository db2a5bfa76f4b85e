"""Measures how soon a session continues after its worker was killed with -9.

    python -m tests.faults.recovery [--times 30] [--database sqlite|postgres] [--only CASE]...

another: the owner is killed under `schedviz up`, another engine worker is running. none: all engine workers are killed at once.
alone: no supervisor reports the death or restarts the worker; another worker is running. A command is sent right after each kill; the
time from the kill until the command is stored as applied is measured. Exits with 1 if a p99 is above its goal.
"""

from __future__ import annotations

import argparse
import itertools
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import redis

from tests.faults.client import Client, NoResponse
from tests.faults.database import KINDS, close_connections, database, set_up_django, wait_until
from tests.faults.installation import Installation
from tests.faults.report import exit_on_sigterm, machine_load, quantile, say
from tests.faults.services import Services

#: Case → the goal in seconds.
GOALS = {"another": 1.0, "none": 4.0, "alone": 8.0}
ENGINES = ("engine-1", "engine-2")
GENERATE = {"nodes": 100, "pods": 500}
_keys = itertools.count(1)


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.faults.recovery", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--times", type=int, default=30)
    parser.add_argument("--database", choices=KINDS, default="sqlite")
    parser.add_argument("--only", choices=GOALS, action="append")
    options = parser.parse_args()
    exit_on_sigterm()
    folder = Path(tempfile.mkdtemp(prefix="schedviz-recovery-"))
    missed = False
    with database(options.database, folder) as (url, _):
        set_up_django(folder, url)
        try:
            for case in options.only or GOALS:
                measure = alone if case == "alone" else supervised
                taken = sorted(measure(folder, url, case, options.times))
                p50, p99 = quantile(taken, 0.5), quantile(taken, 0.99)
                missed |= p99 > GOALS[case]
                say(
                    f"{case} ({options.database}, {len(taken)} times): p50 {p50:.2f} s, p99 {p99:.2f} s, longest {taken[-1]:.2f} s; "
                    f"goal {GOALS[case]:g} s; {machine_load()}"
                )
        finally:
            close_connections()
    shutil.rmtree(folder, ignore_errors=True)
    return 1 if missed else 0


def supervised(folder: Path, url: str, case: str, times: int) -> list[float]:
    """Measure under `schedviz up`."""
    installation = Installation(folder, url)
    installation.start()
    try:
        installation.wait_until_up()
        session_id = make_session(installation.client)

        def kill() -> None:
            for part in [owner_of(session_id)] if case == "another" else ENGINES:
                assert installation.kill(part)

        taken = []
        for _ in range(times):
            await_workers(installation.redis_url())
            taken.append(seconds_until_applied(installation.client, session_id, kill))
        return taken
    finally:
        installation.stop()


def alone(folder: Path, url: str, case: str, times: int) -> list[float]:
    """Measure with workers, web server and sweeper without a supervisor."""
    from django.core.management import call_command

    call_command("migrate", interactive=False, verbosity=0)
    services = Services(folder / "data", url)
    services.start()
    try:
        session_id = make_session(services.client)
        taken = []
        for _ in range(times):
            await_workers(services.redis.url)

            def kill() -> None:
                next(engine for engine in services.engines if engine.name == owner_of(session_id)).kill()

            taken.append(seconds_until_applied(services.client, session_id, kill))
            for engine in services.engines:
                if engine.process.poll() is not None:
                    engine.start()
        return taken
    finally:
        services.stop()


def make_session(client: Client) -> str:
    session_id = client.make_session("recovery", GENERATE)
    wait_until(lambda: client.session(session_id)["status"] == "ready", "the session was not imported")
    return session_id


def seconds_until_applied(client: Client, session_id: str, kill: Callable[[], None]) -> float:
    """Kill, send a command, and wait until it is applied. Returns the seconds since the kill."""
    from schedviz.sessions.models import Command

    # The owner keeps the session for a while after this command.
    await_applied(session_id, client.send(session_id, f"before-{next(_keys)}", {"op": "cycle"}))
    assert owner_of(session_id)
    began = time.time()
    kill()
    key = f"after-{next(_keys)}"
    while True:
        try:
            seq = client.send(session_id, key, {"op": "snapshot"})
            break
        except NoResponse:
            time.sleep(0.01)
    await_applied(session_id, seq)
    applied = Command.objects.get(session_id=session_id, seq=seq).applied_at
    assert applied is not None
    return float(applied.timestamp() - began)


def await_applied(session_id: str, seq: int) -> None:
    from schedviz.sessions.models import Command

    def is_applied() -> bool:
        return Command.objects.filter(session_id=session_id, seq=seq, applied_at__isnull=False).exists()

    wait_until(is_applied, f"command {seq} was not applied", pause=0.02)


def await_workers(redis_url: str) -> None:
    """Wait for a new heartbeat of each engine worker."""
    from schedviz.sessions.redis import heartbeat

    connection = redis.Redis.from_url(redis_url)
    keys = [f"{heartbeat.PREFIX}{name}@schedviz" for name in ENGINES]

    def all_beat() -> bool:
        return connection.exists(*keys) == len(keys)

    connection.delete(*keys)
    wait_until(all_beat, "not every worker came back", pause=0.05)
    connection.close()


def owner_of(session_id: str) -> str:
    """The engine worker that has the session's lease; "" if none has."""
    from schedviz.sessions.models import Session

    owner = Session.objects.values_list("lease_owner", flat=True).get(pk=session_id)
    return next((name for name in ENGINES if name in owner), "")


if __name__ == "__main__":
    sys.exit(main())
