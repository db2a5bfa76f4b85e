"""Many who look while others work, as a public server has them, for minutes: errors, how soon a command is seen, and whether memory grows.

    .venv/bin/python -m tests.bench.load [--minutes 10] [--viewers 200] [--sessions 20] [--database postgres] [--reads 20]

Two web servers and two engine workers as processes of their own, without a supervisor. In each session somebody takes a step a second, over REST at
one web server; its viewers are spread over both. *Frame latency* is the time from before a step is sent until the frame that has it was received and opened by
one viewer. Viewers share this machine with what they look at, and say how late they were themselves: a latency is never shorter than that. Where latencies
were late is told by the moment. Then, with nobody looking, each web server is read as
fast as it answers (tests/bench/reads.py). docs/performance.md and
docs/operations.md hold the figures.

Memory is told by the minute and, of engine workers, by the cycle: each cycle places a pod, which the cluster has from then on.
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

from schedviz.kube.collector import keep_what_is_loaded
from tests.bench.reads import read
from tests.faults.database import KINDS, await_true, migrated_database
from tests.faults.report import end_in_order, machine_load, say, share
from tests.faults.services import Services

_STEP_SECONDS = 1.0
_SAMPLE_SECONDS = 5.0
_PATIENCE_SECONDS = 120.0
#: Memory is compared from here on: caches fill and pools grow at first.
_WARM_UP_SHARE = 0.2
#: The goal for 99 of 100 latencies. The report lists when the longer ones occurred.
_LATE_SECONDS = 0.15
_MOMENT_SECONDS = 1.0
_MOMENTS_TOLD = 8
#: How often the viewers' event loop is asked how late it is.
_BEAT_SECONDS = 0.01


class _Session(msgspec.Struct, rename="camel"):
    applied_seq: int


class _Message(msgspec.Struct, rename="camel"):
    """Of a frame or a view, what says how far it is; the rest is not decoded."""

    type: str
    session: _Session | None = None


_decoder = msgspec.json.Decoder(_Message)


class Watched:
    """One session: when each of its steps was sent, and how long each viewer waited to see it."""

    def __init__(self, session_id: str) -> None:
        self.session_id = session_id
        self.sent: dict[int, float] = {}
        #: When it was sent, and how long it took until it was seen.
        self.latencies: list[tuple[float, float]] = []


class Load:
    """The viewers and those who step."""

    def __init__(self, services: Services, sessions: list[str], viewers: int) -> None:
        self._services = services
        self._sessions = [Watched(session_id) for session_id in sessions]
        self._viewers = viewers
        self._until = math.inf
        self.errors: Counter[str] = Counter()
        self.steps = 0
        self.frames = 0
        self.frame_bytes = 0
        self.looking = 0
        self.began = 0.0
        #: When the event loop of those who look was asked, and how late it was.
        self.beats: list[tuple[float, float]] = []
        self._all_look = asyncio.Event()

    @property
    def latencies(self) -> list[tuple[float, float]]:
        """When each step was sent, and how long it took until one viewer saw it."""
        return [latency for one in self._sessions for latency in one.latencies]

    async def run(self, seconds: float) -> None:
        """Look and step for so long, once all look."""
        watchers = [
            asyncio.create_task(
                self._watch(self._sessions[n % len(self._sessions)], self._services.clients[n // len(self._sessions) % 2].port)
            )
            for n in range(self._viewers)
        ]
        began = time.monotonic()
        try:
            async with asyncio.timeout(_PATIENCE_SECONDS):
                await self._all_look.wait()
        except TimeoutError:
            self.errors["viewers that saw nothing"] += self._viewers - self.looking
        say(f"{self.looking} viewers look after {time.monotonic() - began:.1f} s")
        # A full collection of this process takes a sixth of a second, in which it sees nothing.
        keep_what_is_loaded()
        self.began = time.monotonic()
        self._until = self.began + seconds
        heartbeat = asyncio.create_task(self._beat())
        headers = {"Authorization": f"Bearer {self._services.client.token}"}
        async with httpx.AsyncClient(headers=headers, timeout=30, limits=httpx.Limits(max_connections=100)) as client:
            await asyncio.gather(*(self._step(n, one, client) for n, one in enumerate(self._sessions)))
        await asyncio.sleep(2)
        for task in (heartbeat, *watchers):
            task.cancel()
        await asyncio.gather(heartbeat, *watchers, return_exceptions=True)

    async def _beat(self) -> None:
        while True:
            due = time.monotonic() + _BEAT_SECONDS
            await asyncio.sleep(_BEAT_SECONDS)
            self.beats.append((due, time.monotonic() - due))

    async def _watch(self, one: Watched, port: int) -> None:
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
                        self._looks()
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

    def _looks(self) -> None:
        self.looking += 1
        if self.looking == self._viewers:
            self._all_look.set()

    async def _step(self, n: int, one: Watched, client: httpx.AsyncClient) -> None:
        # Not all in the same moment.
        await asyncio.sleep(n * _STEP_SECONDS / len(self._sessions))
        url = f"http://127.0.0.1:{self._services.clients[n % 2].port}/api/v1/sessions/{one.session_id}/commands/"
        # Each command has the next number, as nobody else sends any: a frame may come before the answer.
        seq = 0
        while (now := time.monotonic()) < self._until:
            seq += 1
            one.sent[seq] = now
            try:
                answer = await client.post(url, json={"op": "cycle"})
            except httpx.HTTPError as error:
                self.errors[f"a step: {type(error).__name__}"] += 1
            else:
                self.steps += 1
                if answer.status_code != 202:
                    self.errors[f"a step: HTTP {answer.status_code}"] += 1
                elif answer.json()["seq"] != seq:
                    self.errors["a step with another number than the next"] += 1
            await asyncio.sleep(max(0.0, now + _STEP_SECONDS - time.monotonic()))


class Resources(threading.Thread):
    """Resident megabytes of each service and what it started, every few seconds, and how much of a core each has. `steps`: those that were
    sent so far."""

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
    """The mean of the first and of the last third after the warm-up."""
    kept = samples[int(len(samples) * _WARM_UP_SHARE) :]
    third = max(1, len(kept) // 3)
    return sum(kept[:third]) / third, sum(kept[-third:]) / third


def processor_seconds(services: Services) -> dict[str, float]:
    """Of each service and what it started so far, and of this process, which is those who look."""
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
    end_in_order()
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
            found = read(service, client.port, services.client.token, sessions[0], seconds=options.reads)
            found.report(service.name)
            errors += found.errors
    finally:
        services.stop()
    say(f"errors: {dict(errors) or 'none'}")
    return 1 if errors else 0


def _sessions(services: Services, options: argparse.Namespace) -> list[str]:
    pods = math.ceil(options.minutes * 60 / _STEP_SECONDS) + 50
    made = [services.client.make_session(f"load {n}", {"nodes": options.nodes, "pods": pods}) for n in range(options.sessions)]
    for session_id in made:
        await_true(
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
    beats = sorted(seconds for _, seconds in load.beats)
    say(f"those who look were themselves late by: p50 {_ms(beats, 0.5)}, p99 {_ms(beats, 0.99)}, longest {_ms(beats, 1)}")
    _tell_late_moments(load, len(latencies))


def _tell_late_moments(load: Load, frames: int) -> None:
    """The moments with the most latencies beyond the goal, and the largest delay of the viewers themselves in each."""
    late: dict[int, list[float]] = {}
    for sent, seconds in load.latencies:
        if seconds > _LATE_SECONDS:
            late.setdefault(int((sent - load.began) / _MOMENT_SECONDS), []).append(seconds)
    own: dict[int, float] = {}
    for due, seconds in load.beats:
        moment = int((due - load.began) / _MOMENT_SECONDS)
        own[moment] = max(own.get(moment, 0.0), seconds)
    count = sum(map(len, late.values()))
    say(
        f"{count} frames ({count / max(1, frames):.2%}) took longer than {_LATE_SECONDS * 1000:.0f} ms, of steps sent in {len(late)} seconds; the most:"
    )
    for moment in sorted(sorted(late, key=lambda one: -len(late[one]))[:_MOMENTS_TOLD]):
        looking = max(own.get(moment, 0.0), own.get(moment + 1, 0.0))
        say(
            f"  {moment:5} s: {len(late[moment]):4}, longest {max(late[moment]) * 1000:.0f} ms; those who look late by {looking * 1000:.0f} ms at most"
        )


def _ms(values: list[float], part: float) -> str:
    return f"{share(values, part) * 1000:.0f} ms" if values else "-"


if __name__ == "__main__":
    sys.exit(main())
