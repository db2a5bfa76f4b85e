"""Kills random parts of a running schedviz with -9, and then checks that no command was lost, applied twice or applied out of order.

    python -m tests.faults --minutes 20 --database sqlite --sessions 8 --seed 7

Everything is real: `schedviz up` with its supervisor, web server, workers, Redis and database, and commands over REST. Exits with 0, or
with 1 and a description of the failure.
"""

from __future__ import annotations

import argparse
import collections
import json
import random
import shutil
import sys
import tempfile
import threading
import time
from pathlib import Path

from tests.faults.client import Client
from tests.faults.database import KINDS, PATIENCE_SECONDS, close_connections, database, set_up_django, wait_until
from tests.faults.installation import PARTS, SUPERVISOR, Installation
from tests.faults.report import exit_on_sigterm, machine_load, quantile, say
from tests.postgres import PostgresServer

#: How often each part is chosen. The supervisor is chosen less often, because all parts end with it.
CHANCES = {**dict.fromkeys(PARTS, 3), SUPERVISOR: 1}
DATABASE = "database"


def main() -> int:
    options = _options()
    exit_on_sigterm()
    say(f"seed {options.seed}")
    folder = Path(tempfile.mkdtemp(prefix="schedviz-faults-"))
    with database(options.database, folder) as (url, crash):
        set_up_django(folder, url)
        installation = Installation(folder, url)
        installation.start()
        try:
            installation.wait_until_up()
            figures = run(installation, options, crash)
        except AssertionError as error:
            from tests.faults import verdict

            say(f"FAILED with seed {options.seed}: {error}\n{verdict.state_of_sessions()}\n{installation.logs()}")
            return 1
        finally:
            installation.stop()
            close_connections()
        say(f"{json.dumps(figures)}\naccepted = applied = sent, every chunk as in a straight replay; {machine_load()}")
    shutil.rmtree(folder, ignore_errors=True)
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__.split("\n", maxsplit=1)[0] if __doc__ else None)
    parser.add_argument("--minutes", type=float, default=0.5)
    parser.add_argument("--database", choices=KINDS, default="sqlite")
    parser.add_argument("--sessions", type=int, default=8)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 30))
    parser.add_argument("--pause", type=float, default=2.0, help="seconds between two kills, on average (default: %(default)s)")
    return parser.parse_args()


def run(installation: Installation, options: argparse.Namespace, server: PostgresServer | None) -> dict[str, object]:
    """Send commands and kill parts, wait, check. Returns the summary. Raises AssertionError."""
    from tests.faults import verdict
    from tests.faults.sender import Sender

    chance = random.Random(options.seed)
    stopped = threading.Event()
    senders = [
        Sender(installation.client, made, chance.randrange(1 << 30), stopped)
        for made in make_sessions(installation.client, options.sessions)
    ]
    for sender in senders:
        sender.start()
    killed = kill_at_random(installation, server, chance, seconds=options.minutes * 60, pause=options.pause)
    stopped.set()
    for sender in senders:
        sender.join(timeout=PATIENCE_SECONDS)
    assert not any(sender.trouble or sender.is_alive() for sender in senders), [sender.trouble for sender in senders]
    ended = time.monotonic()
    wait_until(verdict.all_commands_are_applied, "not everything that was accepted was applied")
    caught_up = time.monotonic() - ended
    installation.stop()

    events = sum(verdict.check(sender.session_id, sender.sent) for sender in senders)
    waits = sorted(wait for sender in senders for wait in verdict.waiting_seconds(sender.session_id))
    return {
        "killed": killed,
        "commands": sum(len(sender.sent) for sender in senders),
        "events": events,
        "unanswered": sum(sender.unanswered for sender in senders),
        "longest until accepted, s": round(max(sender.longest_seconds for sender in senders), 2),
        "accepted to applied, s": {name: round(quantile(waits, part), 3) for name, part in (("p50", 0.5), ("p99", 0.99))}
        | {"max": round(waits[-1], 2)},
        "caught up after, s": round(caught_up, 2),
    }


def make_sessions(client: Client, number: int) -> list[str]:
    """Create sessions of a small cluster each, and wait until they are ready."""
    made = [client.make_session(f"fault {seed}", {"nodes": 4, "pods": 100, "seed": seed}) for seed in range(number)]
    wait_until(lambda: all(client.session(each)["status"] == "ready" for each in made), "not every session was imported")
    return made


def kill_at_random(
    installation: Installation, server: PostgresServer | None, chance: random.Random, *, seconds: float, pause: float
) -> dict[str, int]:
    """Kill one part at random times. Returns the number of kills of each part."""
    killed: collections.Counter[str] = collections.Counter()
    chances = CHANCES if server is None else {**CHANCES, DATABASE: 1}
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        time.sleep(chance.uniform(0.2 * pause, 1.8 * pause))
        part = chance.choices(list(chances), list(chances.values()))[0]
        if part == DATABASE and server is not None:
            server.crash()
            time.sleep(chance.uniform(0.0, 2.0))
            server.resume()
            killed[part] += 1
        else:
            killed[part] += installation.kill(part)
    return dict(killed)


if __name__ == "__main__":
    sys.exit(main())
