"""Measures a room under load, on a real `schedviz up` with real clients: `python -m tests.rooms.load`.

The latency of the teacher's steps and positions at all participants, a worker's CPU time for one participant and for all, the latency of
steps in students' own sessions, and whether a participant with a slow connection keeps up.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

import click
import psutil

from tests.rooms.crowd import Client, crowd_of, own_step, ready_session, teacher_steps, until_ready
from tests.rooms.slow_connection import SlowConnection

CLUSTER = {"generate": {"nodes": 50, "pods": 1500}, "name": "load"}
PARTS = ["teacher", "students", "slow", "cpu"]
_PACE_SECONDS = 0.5
SLOW_BITS_PER_SECOND, SLOW_DELAY_SECONDS = 1e6, 0.3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--participants", type=int, default=100)
    parser.add_argument("--students", type=int, default=30)
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--only", nargs="*", choices=PARTS, default=PARTS, help="what is measured (everything)")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="schedviz-load-") as folder:
        command = [sys.executable, "-m", "schedviz.cli.main", "up", "--no-open", "--port", "0", "--data", folder]
        log = Path(folder) / "up.txt"
        with log.open("wb") as out:
            server = subprocess.Popen(command, stdout=out, stderr=out, stdin=subprocess.DEVNULL)
        try:
            base = _base(server, log)
            token = (Path(folder) / "token").read_text().strip()
            asyncio.run(_measure(base, token, server.pid, chosen))
        finally:
            server.terminate()
            server.wait(60)


async def _measure(base: str, token: str, pid: int, chosen: argparse.Namespace) -> None:
    click.echo(f"{os.cpu_count()} cores, load {', '.join(f'{one:.1f}' for one in os.getloadavg())}")
    async with Client(base, token=token) as teacher:
        session = await ready_session(teacher, CLUSTER)
        room = await teacher.request("POST", "rooms/", {"session": session})
        await teacher.enter(room["id"], session)
        crowd = await crowd_of(base, room, chosen.participants)
        if "teacher" in chosen.only:
            await _teacher(teacher, crowd, session, chosen.steps)
        if "students" in chosen.only:
            await _students(crowd[: chosen.students], room["id"])
        for one in crowd:
            await one.close()
        if "slow" in chosen.only:
            await _slow(base, teacher, room, session)
        await teacher.request("POST", f"rooms/{room['id']}/end/", {})
        if "cpu" in chosen.only:
            await _cpu(base, teacher, pid, chosen)


async def _teacher(teacher: Client, crowd: list[Client], session: str, steps: int) -> None:
    seen: list[float] = []
    moved: list[float] = []
    for _ in range(steps):
        step, moment = await teacher_steps(teacher, crowd, session)
        seen += step
        moved += moment
        await asyncio.sleep(0.2)
    click.echo(f"teacher's step seen by each of {len(crowd)}: {_spread(seen)}")
    click.echo(f"teacher's moment seen by each of {len(crowd)}: {_spread(moved)}")


async def _students(students: list[Client], room: str) -> None:
    """Step each student's fork, with human-like pauses."""
    took: list[float] = []

    async def study(student: Client) -> None:
        fork = await student.request("POST", f"rooms/{room}/forks/", {})
        watcher = await student.watch(await until_ready(student, fork["id"]))
        for _ in range(20):
            await asyncio.sleep(random.uniform(0.5, 2.5))
            took.append(await own_step(watcher))
        await watcher.close()

    await asyncio.gather(*(study(student) for student in students))
    click.echo(f"own step of each of {len(students)} students, one in 1.5 s: {_spread(took)}")


async def _slow(base: str, teacher: Client, room: dict[str, str], session: str) -> None:
    host, port = base.partition("://")[2].split(":")
    async with SlowConnection(host, int(port), bits_per_second=SLOW_BITS_PER_SECOND, delay_seconds=SLOW_DELAY_SECONDS) as connection:
        (slow,) = await crowd_of(base, room, 1, prefix="slow", over=f"http://127.0.0.1:{connection.port}")
        lags: list[float] = []
        for _ in range(50):
            step, _ = await teacher_steps(teacher, [slow], session)
            lags += step
        began = time.perf_counter()
        event = await teacher.watcher.do(op="run", max=300)
        late = await slow.watcher.reached(event) - began
        ran = await teacher.watcher.reached(event) - began
        click.echo(f"on 1 Mbit/s with 300 ms each way, teacher's step: {_spread(lags)}")
        click.echo(
            f"on it, the end of a run of 300 cycles {late - ran:.2f} s after the teacher, "
            f"who saw it after {ran:.2f} s; the view was sent anew {slow.watcher.renewed} times"
        )
        await slow.close()


async def _cpu(base: str, teacher: Client, pid: int, chosen: argparse.Namespace) -> None:
    """Measured alternately, so that other load on the machine affects both."""
    used = {1: 0.0, chosen.participants: 0.0}
    for turn in range(6):
        size = list(used)[turn % 2]
        session = await ready_session(teacher, CLUSTER)
        room = await teacher.request("POST", "rooms/", {"session": session})
        teacher.watcher = await teacher.watch(session)
        crowd = await crowd_of(base, room, size)
        # Loading the engine is not measured.
        await teacher.watcher.do(op="step", unit="cycle")
        before = _worker_seconds(pid)
        due = time.perf_counter()
        for _ in range(chosen.steps):
            # At the same rate, so that periodic work of a worker, such as renewing leases, counts equally in both.
            due += _PACE_SECONDS
            event = await teacher.watcher.do(op="step", unit="cycle")
            await asyncio.gather(*(one.watcher.reached(event) for one in crowd))
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
        used[size] += _worker_seconds(pid) - before
        for one in crowd:
            await one.close()
        await teacher.request("POST", f"rooms/{room['id']}/end/", {})
        await teacher.watcher.close()
    one, many = used.values()
    steps = 3 * chosen.steps
    click.echo(
        f"engine workers' CPU for a step: {1000 * one / steps:.2f} ms with 1 participant, {1000 * many / steps:.2f} ms with "
        f"{chosen.participants}: {100 * (many / one - 1):+.1f} % ({steps} steps each)"
    )


def _worker_seconds(pid: int) -> float:
    found = 0.0
    for child in psutil.Process(pid).children(recursive=True):
        line = child.cmdline()
        if "schedviz.up.worker" in line and any(word.startswith("engine-") for word in line):
            times = child.cpu_times()
            found += times.user + times.system
    return found


def _spread(seconds: list[float]) -> str:
    ordered = sorted(seconds)
    at = {name: ordered[min(len(ordered) - 1, int(part * len(ordered)))] for name, part in (("p50", 0.5), ("p99", 0.99))}
    latencies = ", ".join(f"{name} {1000 * value:.0f} ms" for name, value in at.items())
    return f"{latencies}, longest {1000 * ordered[-1]:.0f} ms ({len(ordered)} measured)"


def _base(server: subprocess.Popen[bytes], log: Path) -> str:
    while True:
        log_text = log.read_text()
        if server.poll() is not None:
            sys.exit(log_text)
        if "starts on " in log_text and "," in log_text.partition("starts on ")[2]:
            base = log_text.partition("starts on ")[2].partition(",")[0]
            try:
                with urllib.request.urlopen(f"{base}/healthz", timeout=5) as response:
                    if response.status == 200:
                        return base
            except OSError:
                pass
        time.sleep(0.2)


if __name__ == "__main__":
    main()
