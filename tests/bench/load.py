"""Load test of a public server: many viewers of sessions that are stepped for minutes. Reports errors, frame latency and memory growth.

    .venv/bin/python -m tests.bench.load [--minutes 10] [--viewers 200] [--sessions 20] [--database postgres] [--reads 20]

Two web servers and two engine workers run as separate processes, without a supervisor. Each session is stepped once a second over REST at one
web server; its viewers are spread over both. *Frame latency* is the time from sending a step until one viewer has received and decompressed
the frame that contains it. Viewers share this machine with the servers and report the delay of their own event loop, which is part of each
latency. The report lists the seconds with the most slow frames. Afterwards, without viewers, each web server is read as fast as it responds
(tests/bench/reads.py). docs/performance.md and docs/operations.md have the figures.

Memory growth is reported per minute and, for engine workers, per cycle: each cycle places a pod, which stays in the cluster.
"""

from __future__ import annotations

import argparse
import asyncio
import math
import sys
import threading
import time
import zlib
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import httpx
import msgspec
import psutil
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from schedviz.kube.gc_tuning import freeze_loaded_objects
from tests.bench.reads import read
from tests.faults.database import KINDS, migrated_database, wait_until
from tests.faults.report import exit_on_sigterm, machine_load, quantile, say
from tests.faults.services import Services

_STEP_SECONDS = 1.0
_SAMPLE_SECONDS = 5.0
_PATIENCE_SECONDS = 120.0
#: Memory is compared after this share of the run, because caches and pools grow at first.
_WARM_UP_SHARE = 0.2
#: The goal for 99 of 100 latencies. The report lists when the longer ones occurred.
_LATE_SECONDS = 0.15
_MOMENT_SECONDS = 1.0
_SECONDS_REPORTED = 8
#: The interval at which the delay of the viewers' event loop is measured.
_DELAY_INTERVAL_SECONDS = 0.01


class _Session(msgspec.Struct, rename="camel"):
    applied_seq: int


class _Message(msgspec.Struct, rename="camel"):
    """The position of a frame or a view; the rest is not decoded."""

    type: str
    session: _Session | None = None


_decoder = msgspec.json.Decoder(_Message)


class SteppedSession:
    """One session: when each of its steps was sent, and its latency at each viewer."""

    def __init__(self, session_id: str) -> None:
        self.session_id = session_id
        self.sent: dict[int, float] = {}
        #: The time of sending and the frame latency, for each viewer.
        self.latencies: list[tuple[float, float]] = []


class Load:
    """The viewers, and the clients that send steps."""

    def __init__(self, services: Services, sessions: list[str], viewers: int) -> None:
        self._services = services
        self._sessions = [SteppedSession(session_id) for session_id in sessions]
        self._viewers = viewers
        self._until = math.inf
        self.errors: Counter[str] = Counter()
        self.steps = 0
        self.frames = 0
        self.frame_bytes = 0
        self.connected = 0
        self.began = 0.0
        #: When the viewers' event loop was due to wake up, and how late it was.
        self.delays: list[tuple[float, float]] = []
        self._all_connected = asyncio.Event()

    @property
    def latencies(self) -> list[tuple[float, float]]:
        """When each step was sent, and its latency, for each viewer."""
        return [latency for session in self._sessions for latency in session.latencies]

    async def run(self, seconds: float) -> None:
        """Step for this long, once all viewers are connected."""
        watchers = [
            asyncio.create_task(
                self._watch(self._sessions[n % len(self._sessions)], self._services.clients[n // len(self._sessions) % 2].port)
            )
            for n in range(self._viewers)
        ]
        began = time.monotonic()
        try:
            async with asyncio.timeout(_PATIENCE_SECONDS):
                await self._all_connected.wait()
        except TimeoutError:
            self.errors["viewers that saw nothing"] += self._viewers - self.connected
        say(f"{self.connected} viewers are connected after {time.monotonic() - began:.1f} s")
        # A full garbage collection would stop this process for a sixth of a second.
        freeze_loaded_objects()
        self.began = time.monotonic()
        self._until = self.began + seconds
        heartbeat = asyncio.create_task(self._measure_delay())
        headers = {"Authorization": f"Bearer {self._services.client.token}"}
        async with httpx.AsyncClient(headers=headers, timeout=30, limits=httpx.Limits(max_connections=100)) as client:
            await asyncio.gather(*(self._step(n, session, client) for n, session in enumerate(self._sessions)))
        await asyncio.sleep(2)
        for task in (heartbeat, *watchers):
            task.cancel()
        await asyncio.gather(heartbeat, *watchers, return_exceptions=True)

    async def _measure_delay(self) -> None:
        while True:
            due = time.monotonic() + _DELAY_INTERVAL_SECONDS
            await asyncio.sleep(_DELAY_INTERVAL_SECONDS)
            self.delays.append((due, time.monotonic() - due))

    async def _watch(self, one: SteppedSession, port: int) -> None:
        url = f"ws://127.0.0.1:{port}/ws/v1/sessions/{one.session_id}/"
        headers = {"Authorization": f"Bearer {self._services.client.token}"}
        seen = 0
        try:
            async with connect(url, additional_headers=headers, max_size=None, compression=None, open_timeout=60) as socket:
                async for data in socket:
                    if not isinstance(data, bytes):
                        continue
                    message = _decoder.decode(zlib.decompress(data))
                    now = time.monotonic()
                    if message.session is None:
                        continue
                    if message.type == "view":
                        self._count_viewer()
                        seen = message.session.applied_seq
                        continue
                    self.frames += 1
                    self.frame_bytes += len(data)
                    for seq in range(seen + 1, message.session.applied_seq + 1):
                        if seq in one.sent:
                            one.latencies.append((one.sent[seq], now - one.sent[seq]))
                    seen = max(seen, message.session.applied_seq)
        except (ConnectionClosed, OSError, TimeoutError) as error:
            self.errors[f"a viewer lost its socket: {type(error).__name__}"] += 1

    def _count_viewer(self) -> None:
        self.connected += 1
        if self.connected == self._viewers:
            self._all_connected.set()

    async def _step(self, n: int, one: SteppedSession, client: httpx.AsyncClient) -> None:
        # Spread over the interval.
        await asyncio.sleep(n * _STEP_SECONDS / len(self._sessions))
        url = f"http://127.0.0.1:{self._services.clients[n % 2].port}/api/v1/sessions/{one.session_id}/commands/"
        # Nothing else sends commands, so each has the next number. A frame may arrive before the response.
        seq = 0
        while (now := time.monotonic()) < self._until:
            seq += 1
            one.sent[seq] = now
            try:
                response = await client.post(url, json={"op": "cycle"})
            except httpx.HTTPError as error:
                self.errors[f"a step: {type(error).__name__}"] += 1
            else:
                self.steps += 1
                if response.status_code != 202:
                    self.errors[f"a step: HTTP {response.status_code}"] += 1
                elif response.json()["seq"] != seq:
                    self.errors["a step with an unexpected number"] += 1
            await asyncio.sleep(max(0.0, now + _STEP_SECONDS - time.monotonic()))


class Resources(threading.Thread):
    """Samples the resident megabytes of each service and its children, and the share of a core that each uses. `steps` returns the number of
    steps sent so far."""

    def __init__(self, services: Services, steps: Callable[[], int]) -> None:
        super().__init__(daemon=True)
        self._services = services
        self._steps = steps
        self._steps_then: list[int] = []
        self._stopped = threading.Event()
        self._began = time.monotonic()
        self._spent_before = processor_seconds(services)
        self.samples: dict[str, list[float]] = {}
        self.cores: dict[str, float] = {}

    def run(self) -> None:
        while not self._stopped.wait(_SAMPLE_SECONDS):
            self._steps_then.append(self._steps())
            for service in self._services.all:
                processes = [psutil.Process(service.process.pid)]
                processes += processes[0].children(recursive=True)
                self.samples.setdefault(service.name, []).append(sum(process.memory_info().rss for process in processes) / 1e6)

    def stop(self) -> None:
        self._stopped.set()
        self.join()
        seconds = time.monotonic() - self._began
        spent = processor_seconds(self._services)
        self.cores = {name: (spent[name] - before) / seconds for name, before in self._spent_before.items()}

    def report(self, minutes: float) -> None:
        say("resident memory, MB:        after warm-up    at the end    a minute")
        apart = minutes * (1 - _WARM_UP_SHARE) * 2 / 3
        for name, samples in self.samples.items():
            first, last = _ends(samples)
            say(f"  {name:<24} {first:13.1f} {last:13.1f} {(last - first) / apart:+11.2f}")
        engines = [_ends(self.samples[engine.name]) for engine in self._services.engines]
        first_steps, last_steps = _ends(self._steps_then)
        grown = sum(last - first for first, last in engines) * 1e6 / max(1.0, last_steps - first_steps)
        say(f"  engine workers, for each cycle (which places a pod): {grown:+.0f} bytes")
        say("of a core: " + ", ".join(f"{name} {part:.0%}" for name, part in self.cores.items()))


def _ends(samples: Sequence[float]) -> tuple[float, float]:
    """The means of the first and of the last third after the warm-up."""
    kept = samples[int(len(samples) * _WARM_UP_SHARE) :]
    third = max(1, len(kept) // 3)
    return sum(kept[:third]) / third, sum(kept[-third:]) / third


def processor_seconds(services: Services) -> dict[str, float]:
    """The CPU seconds of each service with its children, and of this process, which runs the viewers."""
    spent: dict[str, float] = {"this program": time.process_time()}
    for service in services.all:
        processes = [psutil.Process(service.process.pid)]
        processes += processes[0].children(recursive=True)
        spent[service.name] = sum(sum(process.cpu_times()[:2]) for process in processes)
    return spent


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.load", description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--viewers", type=int, default=200)
    parser.add_argument("--sessions", type=int, default=20)
    parser.add_argument("--nodes", type=int, default=100)
    parser.add_argument("--database", choices=KINDS, default="postgres")
    parser.add_argument("--reads", type=float, default=20, help="seconds for which each web server is read (default: %(default)s)")
    options = parser.parse_args()
    exit_on_sigterm()
    with migrated_database(options.database) as (folder, url):
        return _measure(folder, url, options)


def _measure(folder: Path, url: str, options: argparse.Namespace) -> int:
    services = Services(folder / "data", url, webs=2)
    try:
        services.start()
        sessions = _sessions(services, options)
        load = Load(services, sessions, options.viewers)
        resources = Resources(services, lambda: load.steps)
        resources.start()
        asyncio.run(load.run(options.minutes * 60))
        resources.stop()
        _report(load, options)
        resources.report(options.minutes)
        errors = load.errors
        for service, client in zip(services.webs, services.clients, strict=True):
            result = read(service, client.port, services.client.token, sessions[0], seconds=options.reads)
            result.report(service.name)
            errors += result.errors
    finally:
        services.stop()
    say(f"errors: {dict(errors) or 'none'}")
    return 1 if errors else 0


def _sessions(services: Services, options: argparse.Namespace) -> list[str]:
    pods = math.ceil(options.minutes * 60 / _STEP_SECONDS) + 50
    made = [services.client.make_session(f"load {n}", {"nodes": options.nodes, "pods": pods}) for n in range(options.sessions)]
    for session_id in made:
        wait_until(
            lambda session_id=session_id: services.client.session(session_id)["status"] == "ready", "an import did not end", seconds=300
        )
    say(f"{len(made)} sessions of {options.nodes} nodes and {pods} pods")
    return made


def _report(load: Load, options: argparse.Namespace) -> None:
    latencies = sorted(seconds for _, seconds in load.latencies)
    minutes = options.minutes
    say(f"{minutes:g} minutes, {options.viewers} viewers, {options.sessions} sessions, {options.database}; {machine_load()}")
    say(
        f"{load.steps} steps, {load.frames} frames of {load.frame_bytes / max(1, load.frames) / 1000:.1f} kB, {len(latencies)} frames delivered"
    )
    say(f"frame latency: p50 {_ms(latencies, 0.5)}, p90 {_ms(latencies, 0.9)}, p99 {_ms(latencies, 0.99)}, longest {_ms(latencies, 1)}")
    delays = sorted(seconds for _, seconds in load.delays)
    say(f"delay of the viewers' event loop: p50 {_ms(delays, 0.5)}, p99 {_ms(delays, 0.99)}, longest {_ms(delays, 1)}")
    _report_late_seconds(load, len(latencies))


def _report_late_seconds(load: Load, frames: int) -> None:
    """The moments with the most latencies beyond the goal, and the largest delay of the viewers themselves in each."""
    late: dict[int, list[float]] = {}
    for sent, seconds in load.latencies:
        if seconds > _LATE_SECONDS:
            late.setdefault(int((sent - load.began) / _MOMENT_SECONDS), []).append(seconds)
    own: dict[int, float] = {}
    for due, seconds in load.delays:
        moment = int((due - load.began) / _MOMENT_SECONDS)
        own[moment] = max(own.get(moment, 0.0), seconds)
    count = sum(map(len, late.values()))
    say(
        f"{count} frames ({count / max(1, frames):.2%}) took longer than {_LATE_SECONDS * 1000:.0f} ms, of steps sent in {len(late)} different seconds; the worst:"
    )
    for moment in sorted(sorted(late, key=lambda one: -len(late[one]))[:_SECONDS_REPORTED]):
        connected = max(own.get(moment, 0.0), own.get(moment + 1, 0.0))
        say(
            f"  {moment:5} s: {len(late[moment]):4}, longest {max(late[moment]) * 1000:.0f} ms; viewers' event loop delayed by {connected * 1000:.0f} ms at most"
        )


def _ms(values: list[float], part: float) -> str:
    return f"{quantile(values, part) * 1000:.0f} ms" if values else "-"


if __name__ == "__main__":
    sys.exit(main())
