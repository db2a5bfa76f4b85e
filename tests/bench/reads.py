"""The read throughput of one web server, the latency of reads, and their CPU cost.

    .venv/bin/python -m tests.bench.reads [--seconds 10] [--readers 8] [--database postgres] [--nodes 100] [--cycles 100]

Reads alternate between a session, 20 of its commands and 20 of its cycles; each reader sends the next one when it has the response. Readers
run in a separate process on the same machine. docs/operations.md has the figures.
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

from tests.faults.database import KINDS, migrated_database, wait_until
from tests.faults.report import exit_on_sigterm, machine_load, quantile, say
from tests.faults.services import Service, Services

#: Not measured: connections are opened, threads are started, statements are prepared.
_WARM_UP_SECONDS = 2.0


class Reads(msgspec.Struct):
    """The results of the readers, and their cost."""

    #: The latency of each read, sorted.
    seconds: list[float]
    errors: Counter[str]
    #: From the first read to the last, in seconds.
    duration: float
    #: CPU seconds, user and system.
    of_server: float = 0.0
    of_readers: float = 0.0

    def report(self, of: str) -> None:
        """Print the results."""
        count = max(1, len(self.seconds))
        p50, p99 = (f"{quantile(self.seconds or [0.0], part) * 1000:.0f} ms" for part in (0.5, 0.99))
        say(f"reads at {of}: {count / self.duration:.0f} a second, p50 {p50}, p99 {p99}; {machine_load()}")
        of_server, of_readers = (f"{seconds / count * 1000:.2f} ms" for seconds in (self.of_server, self.of_readers))
        say(f"  CPU time of a read: {of_server} in the web server, {of_readers} in the reader")


def read(server: Service, port: int, token: str, session_id: str, *, seconds: float, readers: int = 8) -> Reads:
    """Read as fast as one web server responds, from a separate process."""
    process = psutil.Process(server.process.pid)
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        pool.submit(_read, port, token, session_id, _WARM_UP_SECONDS, readers).result()
        before = process.cpu_times()
        result = pool.submit(_read, port, token, session_id, seconds, readers).result()
        after = process.cpu_times()
    result.of_server = after.user + after.system - before.user - before.system
    return result


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
            response = connection.getresponse()
            response.read()
            taken.append(time.monotonic() - sent)
            if response.status != 200:
                errors[f"a read: HTTP {response.status}"] += 1
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
    exit_on_sigterm()
    with migrated_database(options.database) as (folder, url):
        return _measure(folder, url, options)


def _measure(folder: Path, url: str, options: argparse.Namespace) -> int:
    services = Services(folder / "data", url)
    try:
        services.start()
        session_id = _session(services, options)
        result = read(
            services.web, services.client.port, services.client.token, session_id, seconds=options.seconds, readers=options.readers
        )
    finally:
        services.stop()
    say(f"{options.readers} readers for {options.seconds:g} s, {options.nodes} nodes, {options.cycles} cycles, {options.database}")
    result.report(services.web.name)
    say(f"errors: {dict(result.errors) or 'none'}")
    return 1 if result.errors else 0


def _session(services: Services, options: argparse.Namespace) -> str:
    client = services.client
    made = client.make_session("reads", {"nodes": options.nodes, "pods": options.cycles})
    wait_until(lambda: client.session(made)["status"] == "ready", "an import did not end")
    for n in range(options.cycles):
        # Each cycle is committed by itself, as after a click.
        seq = client.send(made, f"cycle {n}", {"op": "cycle"})
        wait_until(lambda seq=seq: client.session(made)["appliedSeq"] == seq, "a cycle did not end", pause=0.01)
    return made


if __name__ == "__main__":
    sys.exit(main())
