"""Many sessions at once: fairness between them, and the latency of a single step alongside long runs of other sessions.

    .venv/bin/python -m tests.bench.many turns [--sessions 150] [--slots 64]
    .venv/bin/python -m tests.bench.many step [--runs 10] [--steps 300]

`turns`: one engine worker with `--slots` slots, and more sessions than slots, each with one long run. `step`: `schedviz up`, `--runs` long
runs, and one session that is stepped by cycles over its WebSocket; each step is sent when the frame of the previous one has arrived.
Commands are sent over HTTP; progress is read from the database. docs/measurements/reliability.md has the figures.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
import time
from pathlib import Path

from websockets.sync.client import connect

from tests.bench.round_trip import _receive_until
from tests.faults.client import Client
from tests.faults.database import KINDS, close_connections, database, set_up_django, wait_until
from tests.faults.installation import Installation
from tests.faults.report import exit_on_sigterm, machine_load, quantile, say
from tests.faults.services import Services

_SAMPLE_SECONDS = 0.2
_WARM_UP_STEPS = 20


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.many", description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("what", choices=("turns", "step"))
    parser.add_argument("--database", choices=KINDS, default="sqlite")
    parser.add_argument("--sessions", type=int, default=150)
    parser.add_argument("--slots", type=int, default=64)
    parser.add_argument("--pods", type=int, default=300, help="of each session that takes turns (default: %(default)s)")
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--steps", type=int, default=300)
    options = parser.parse_args()
    exit_on_sigterm()
    folder = Path(tempfile.mkdtemp(prefix="schedviz-many-"))
    with database(options.database, folder) as (url, _):
        set_up_django(folder, url)
        try:
            (turns if options.what == "turns" else step)(folder, url, options)
        finally:
            close_connections()
    shutil.rmtree(folder, ignore_errors=True)
    return 0


def turns(folder: Path, url: str, options: argparse.Namespace) -> None:
    from django.core.management import call_command

    call_command("migrate", interactive=False, verbosity=0)
    services = Services(folder / "data", url, slots=(options.slots,))
    services.start()
    try:
        sessions = make_sessions(services.client, options.sessions, nodes=20, pods=options.pods)
        say(f"{len(sessions)} sessions are ready")
        began = time.monotonic()
        for session_id in sessions:
            services.client.send(session_id, "run", {"op": "run"})
        progress = watch(sessions, began)
    finally:
        services.stop()
    report_turns(progress, options)


class Progress:
    """When each session made progress, and the progress of all at each sample."""

    def __init__(self) -> None:
        self.progress: dict[str, list[float]] = {}
        self.samples: list[tuple[float, list[int]]] = []
        self.done: dict[str, float] = {}


def watch(sessions: list[str], began: float) -> Progress:
    """Sample the progress until all sessions are done."""
    from schedviz.sessions.models import Session

    progress, last = Progress(), dict.fromkeys(sessions, 0)
    while len(progress.done) < len(sessions):
        time.sleep(_SAMPLE_SECONDS)
        rows = {str(pk): (cycle, applied) for pk, cycle, applied in Session.objects.values_list("pk", "cycle", "applied_seq")}
        now = time.monotonic() - began
        for session_id in sessions:
            cycle, applied = rows[session_id]
            if cycle > last[session_id]:
                progress.progress.setdefault(session_id, []).append(now)
                last[session_id] = cycle
            if applied and session_id not in progress.done:
                progress.done[session_id] = now
        progress.samples.append((now, list(last.values())))
    return progress


def report_turns(progress: Progress, options: argparse.Namespace) -> None:
    firsts = sorted(times[0] for times in progress.progress.values())
    waits = sorted(max(b - a for a, b in zip([0.0, *times], times, strict=False)) for times in progress.progress.values())
    ended = sorted(progress.done.values())
    total = sum(progress.samples[-1][1])
    cycles = next(cycles for _, cycles in progress.samples if sum(cycles) >= total / 2)
    fairness = sum(cycles) ** 2 / (len(cycles) * sum(cycle * cycle for cycle in cycles))
    say(
        f"{options.sessions} sessions on {options.slots} slots ({options.database}), a run of {options.pods} cycles in each; {machine_load()}"
    )
    say(f"first progress: p50 {quantile(firsts, 0.5):.1f} s, last {firsts[-1]:.1f} s")
    say(
        f"longest wait of a session between two samples at which it had gone on: p50 {quantile(waits, 0.5):.1f} s, longest {waits[-1]:.1f} s"
    )
    say(f"when half was done: fewest cycles {min(cycles)}, most {max(cycles)}, fairness (Jain) {fairness:.3f}")
    say(f"ended: first after {ended[0]:.1f} s, last after {ended[-1]:.1f} s; {total / ended[-1]:.0f} cycles a second in all")


def step(folder: Path, url: str, options: argparse.Namespace) -> None:
    installation = Installation(folder, url)
    installation.start()
    try:
        installation.wait_until_up()
        client = installation.client
        (stepped,) = make_sessions(client, 1, nodes=100, pods=options.steps + 50)
        runs = make_sessions(client, options.runs, nodes=200, pods=10_000)
        quiet = take_steps(client, stepped, 50, "quiet")
        for session_id in runs:
            client.send(session_id, "run", {"op": "run"})
        wait_until(lambda: all(client.session(run)["cycle"] > 0 for run in runs), "not every run began")
        taken = take_steps(client, stepped, options.steps - 50, "alongside")
        still = sum(client.session(run)["status"] == "running" for run in runs)
    finally:
        installation.stop()
    for words, times in (("alone", quiet), (f"alongside {options.runs} long runs, {still} of them still running at the end", taken)):
        ordered = sorted(times)
        say(
            f"a step of one cycle, {words} ({options.database}): p50 {quantile(ordered, 0.5):.0f} ms, p90 {quantile(ordered, 0.9):.0f} ms, "
            f"p99 {quantile(ordered, 0.99):.0f} ms, longest {ordered[-1]:.0f} ms; {machine_load()}"
        )


def take_steps(client: Client, session_id: str, number: int, name: str) -> list[float]:
    """Milliseconds from sending each command to its frame."""
    url = f"ws://127.0.0.1:{client.port}/ws/v1/sessions/{session_id}/"
    taken: list[float] = []
    with connect(url, additional_headers={"Authorization": f"Bearer {client.token}"}, max_size=None, compression=None) as socket:
        _receive_until(socket, "view")
        for index in range(number):
            began = time.perf_counter()
            command = {"op": "step", "unit": "cycle", "count": 1}
            socket.send(json.dumps({"type": "command", "key": f"{name}-{index}", "command": command}))
            _receive_until(socket, "frame")
            if index >= _WARM_UP_STEPS:
                taken.append((time.perf_counter() - began) * 1000)
            time.sleep(0.06)  # Like a person: the hub sends the first frame after 50 ms without one at once.
    return taken


def make_sessions(client: Client, number: int, *, nodes: int, pods: int) -> list[str]:
    """Create sessions, and wait until they are ready."""
    made = [client.make_session(f"{n} of many", {"nodes": nodes, "pods": pods, "seed": n}) for n in range(number)]
    wait_until(lambda: all(client.session(each)["status"] == "ready" for each in made), "not every session was imported", seconds=600)
    return made


if __name__ == "__main__":
    sys.exit(main())
