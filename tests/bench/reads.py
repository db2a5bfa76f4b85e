"""How many reads a second one web server answers, how long they take, and what they cost it.

    .venv/bin/python -m tests.bench.reads [--seconds 10] [--readers 8] [--database postgres] [--nodes 100] [--cycles 100]

A read is a session's row, 20 of its commands or 20 of its cycles, in turn; each reader sends the next when it has the answer. Readers are
a process of their own, and share this machine with what they read. docs/operations.md holds the figures.
"""

from __future__ import annotations

import argparse
import http.client
import multiprocessing
import sys
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path

import msgspec
import psutil

from tests.faults.database import KINDS, await_true, migrated_database
from tests.faults.report import end_in_order, machine_load, say, share
from tests.faults.services import Service, Services

#: Before it counts: connections are made, threads begin, statements are written.
_WARM_UP_SECONDS = 2.0


class Reads(msgspec.Struct):
    """What readers met, and what it cost."""

    #: Of each read, in order of length.
    seconds: list[float]
    errors: Counter[str]
    #: From the first to the last.
    duration: float
    #: Of a processor, user and system.
    of_server: float = 0.0
    of_readers: float = 0.0

    def report(self, of: str) -> None:
        """Say it."""
        count = max(1, len(self.seconds))
        p50, p99 = (f"{share(self.seconds or [0.0], part) * 1000:.0f} ms" for part in (0.5, 0.99))
        say(f"reads at {of}: {count / self.duration:.0f} a second, p50 {p50}, p99 {p99}; {machine_load()}")
        of_server, of_readers = (f"{seconds / count * 1000:.2f} ms" for seconds in (self.of_server, self.of_readers))
        say(f"  processor time of one: {of_server} of the web server, {of_readers} of the one who reads")


def read(server: Service, port: int, token: str, session_id: str, *, seconds: float, readers: int = 8) -> Reads:
    """Read as fast as one web server answers, from a process of its own."""
    process = psutil.Process(server.process.pid)
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        pool.submit(_read, port, token, session_id, _WARM_UP_SECONDS, readers).result()
        before = process.cpu_times()
        found = pool.submit(_read, port, token, session_id, seconds, readers).result()
        after = process.cpu_times()
    found.of_server = after.user + after.system - before.user - before.system
    return found


def _read(port: int, token: str, session_id: str, seconds: float, readers: int) -> Reads:
    taken: list[float] = []
    errors: Counter[str] = Counter()
    headers = {"Authorization": f"Bearer {token}"}
    addresses = [f"/api/v1/sessions/{session_id}/{rest}" for rest in ("", "commands/?limit=20", "cycles/?limit=20&tail=1")]
    began, spent = time.monotonic(), time.process_time()

    def one(n: int) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        while (sent := time.monotonic()) < began + seconds:
            connection.request("GET", addresses[n % len(addresses)], headers=headers)
            answer = connection.getresponse()
            answer.read()
            taken.append(time.monotonic() - sent)
            if answer.status != 200:
                errors[f"a read: HTTP {answer.status}"] += 1
            n += 1
        connection.close()

    with ThreadPoolExecutor(readers) as pool:
        list(pool.map(one, range(readers)))
    return Reads(sorted(taken), errors, time.monotonic() - began, of_readers=time.process_time() - spent)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.reads", description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--readers", type=int, default=8)
    parser.add_argument("--database", choices=KINDS, default="postgres")
    parser.add_argument("--nodes", type=int, default=100)
    parser.add_argument("--cycles", type=int, default=100)
    options = parser.parse_args()
    end_in_order()
    with migrated_database(options.database) as (folder, url):
        return _measure(folder, url, options)


def _measure(folder: Path, url: str, options: argparse.Namespace) -> int:
    services = Services(folder / "data", url)
    try:
        services.start()
        session_id = _session(services, options)
        found = read(
            services.web, services.client.port, services.client.token, session_id, seconds=options.seconds, readers=options.readers
        )
    finally:
        services.stop()
    say(f"{options.readers} readers for {options.seconds:g} s, {options.nodes} nodes, {options.cycles} cycles, {options.database}")
    found.report(services.web.name)
    say(f"errors: {dict(found.errors) or 'none'}")
    return 1 if found.errors else 0


def _session(services: Services, options: argparse.Namespace) -> str:
    client = services.client
    made = client.make_session("reads", {"nodes": options.nodes, "pods": options.cycles})
    await_true(lambda: client.session(made)["status"] == "ready", "an import did not end")
    for n in range(options.cycles):
        # Each is committed by itself, as where somebody clicks.
        seq = client.send(made, f"cycle {n}", {"op": "cycle"})
        await_true(lambda seq=seq: client.session(made)["appliedSeq"] == seq, "a cycle did not end", pause=0.01)
    return made


if __name__ == "__main__":
    sys.exit(main())
