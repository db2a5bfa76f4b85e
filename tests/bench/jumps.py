"""The time to jump to any cycle of a long session over REST, and the size of its history.

    .venv/bin/python -m tests.bench.jumps                                     # 100 nodes, 100,000 cycles; pods are created and deleted
    .venv/bin/python -m tests.bench.jumps --nodes 5000 --pods 50000 --cycles 20000

Without `--pods` each run of 20 cycles places 20 new pods, and the 20 oldest of 500 are deleted; with it the cluster starts with that
many pods, which are placed. A jump requests a cycle's events and then the view before it, as the page does. `--data` keeps the folder, so
that a second call measures the existing session. `--alone` does everything in this process, with REST but without a network, and reports
CPU time, which is meaningful on a busy machine, too.
"""

from __future__ import annotations

import argparse
import json
import random
import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
from rich.console import Console

from tests.bench.engine import load_average
from tests.bench.report import Figure, print_figures
from tests.bench.server import Server

_TOGETHER = 20
_ALIVE = 500
_TABLES = {
    "events": "SELECT SUM(LENGTH(data)) FROM scheduling_chunk WHERE session_id = :id",
    "summaries": "SELECT SUM(LENGTH(data)) FROM scheduling_cyclegroup WHERE session_id = :id",
    "engines": "SELECT SUM(engine_bytes) FROM scheduling_checkpoint WHERE session_id = :id",
    "views": "SELECT SUM(view_bytes) FROM scheduling_checkpoint WHERE session_id = :id",
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=100)
    parser.add_argument("--pods", type=int, default=0)
    parser.add_argument("--cycles", type=int, default=100_000)
    parser.add_argument("--jumps", type=int, default=300)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--alone", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="schedviz-bench-") as folder:
        data = options.data or Path(folder)
        if options.alone:
            from tests.bench import alone

            figures = alone.jumps(data, steps=_steps(options), generated=_generated(options), cycles=options.cycles, count=options.jumps)
            print_figures([*figures, *sizes(data / "schedviz.sqlite3", "")])
            return 0
        with Server(data) as server:
            before = load_average()
            session = _existing(server) or _make(server, nodes=options.nodes, pods=options.pods, cycles=options.cycles)
            figures = jumps(server, session, count=options.jumps, nodes=options.nodes)
        figures += sizes(data / "schedviz.sqlite3", session)
        print_figures([*figures, Figure("load average before and after", f"{before}, {load_average()}")])
    return 0


def _steps(options: argparse.Namespace) -> list[dict[str, Any]]:
    return [] if options.pods else list(_coming_and_going(options.nodes, options.cycles))


def _generated(options: argparse.Namespace) -> dict[str, Any]:
    return {"shape": "basic", "nodes": options.nodes, "pods": options.pods} if options.pods else {}


def _existing(server: Server) -> str | None:
    results = server.client.get("/api/v1/sessions/", params={"q": "jumps"}).json()["results"]
    return results[0]["id"] if results else None


def _make(server: Server, *, nodes: int, pods: int, cycles: int) -> str:
    if pods:
        session, _ = server.create(json={"name": "jumps", "generate": {"shape": "basic", "nodes": nodes, "pods": pods}})
        server.client.post(f"/api/v1/sessions/{session}/commands/", json={"op": "run", "max": cycles}).raise_for_status()
    else:
        trace = {"format": "schedviz-trace/1", "name": "jumps", "steps": list(_coming_and_going(nodes, cycles))}
        made = server.client.post(
            "/api/v1/sessions/", files={"file": ("jumps.json", json.dumps(trace).encode())}, data={"name": "jumps"}, timeout=600
        )
        made.raise_for_status()
        session = made.json()["id"]
    _wait(server, session)
    return session


def _wait(server: Server, session: str) -> None:
    began = time.monotonic()
    told = 0.0
    while True:
        response = server.client.get(f"/api/v1/sessions/{session}/")
        state = response.json() if response.status_code == 200 else {"status": "", "cycle": -1}
        if state["status"] == "failed":
            raise RuntimeError(json.dumps(state))
        if state["status"] in ("ready", "paused") and state["appliedSeq"] == state["lastSeq"]:
            return
        if time.monotonic() - told > 30:
            told = time.monotonic()
            Console(stderr=True).print(f"{told - began:.0f} s: cycle {state['cycle']:,}")
        time.sleep(2)


def _coming_and_going(nodes: int, cycles: int) -> Iterator[dict[str, Any]]:
    amounts = {"cpu": "16", "memory": "64Gi", "pods": "110"}
    for number in range(nodes):
        metadata = {
            "name": f"node-{number}",
            "labels": {"kubernetes.io/hostname": f"node-{number}", "topology.kubernetes.io/zone": f"z{number % 3}"},
        }
        node = {"apiVersion": "v1", "kind": "Node", "metadata": metadata, "status": {"allocatable": amounts, "capacity": amounts}}
        yield {"op": "create", "object": node}
    for first in range(0, cycles, _TOGETHER):
        for number in range(first, first + _TOGETHER):
            requests = {"cpu": f"{100 + number % 9 * 50}m", "memory": f"{128 + number % 7 * 64}Mi"}
            spec = {"containers": [{"name": "main", "image": f"app:{number % 30}", "resources": {"requests": requests}}]}
            pod = {
                "apiVersion": "v1",
                "kind": "Pod",
                "metadata": {"name": f"pod-{number}", "labels": {"app": f"a{number % 30}"}},
                "spec": spec,
            }
            yield {"op": "create", "object": pod}
        yield {"op": "run"}
        for number in range(first - _ALIVE, first - _ALIVE + _TOGETHER):
            if number >= 0:
                yield {"op": "delete", "kind": "Pod", "name": f"pod-{number}"}


def jumps(server: Server, session: str, *, count: int, nodes: int) -> list[Figure]:
    """Jump to random cycles of the session."""
    base = f"/api/v1/sessions/{session}/"
    cycles = server.client.get(base).json()["cycle"]
    chosen = random.Random(1)
    taken: list[float] = []
    before = _processor_seconds(server)
    for _ in range(count):
        cycle = chosen.randint(1, cycles)
        began = time.perf_counter()
        summary = server.client.get(f"{base}cycles/{cycle}/", params={"detail": "0"}).json()
        view = server.client.get(f"{base}view/", params={"at": summary["firstEvent"]})
        taken.append((time.perf_counter() - began) * 1000)
        assert view.json()["event"] == summary["firstEvent"]
    spent = (_processor_seconds(server) - before) / count * 1000
    cuts = statistics.quantiles(taken, n=100)
    goal = "p99 ≤ 200 ms" if nodes <= 100 else "p99 ≤ 1,000 ms"
    shown = f"{cuts[49]:.0f} / {cuts[98]:.0f} / {max(taken):.0f} ms"
    return [
        Figure(f"jump to one of {cycles:,} cycles at {nodes:,} nodes (p50 / p99 / longest of {count})", shown, goal),
        Figure("the same: processor time of the server, mean", f"{spent:.0f} ms"),
    ]


def _processor_seconds(server: Server) -> float:
    """The CPU time of all processes of the server so far."""
    times = [each.cpu_times() for each in psutil.Process(server.pid).children(recursive=True)]
    return sum(time_.user + time_.system for time_ in times)


def sizes(database: Path, session: str) -> list[Figure]:
    """The stored bytes per cycle."""
    with sqlite3.connect(database) as connection:
        chosen = session.replace("-", "") or connection.execute("SELECT id FROM scheduling_session").fetchone()[0]
        results = {name: connection.execute(query, {"id": chosen}).fetchone()[0] or 0 for name, query in _TABLES.items()}
        cycles = connection.execute("SELECT cycle FROM scheduling_session WHERE id = ?", [chosen]).fetchone()[0]
        chunks = connection.execute("SELECT COUNT(*) FROM scheduling_chunk WHERE session_id = ?", [chosen]).fetchone()[0]
    a_cycle = {name: size / cycles for name, size in results.items()}
    return [
        Figure("events and summaries, bytes a cycle", f"{a_cycle['events']:.0f} + {a_cycle['summaries']:.0f}", "≤ 500 in all"),
        Figure("engines and views, bytes a cycle", f"{a_cycle['engines']:.0f} + {a_cycle['views']:.0f}", "≤ 500 in all"),
        Figure("cycles in one commit, mean", f"{cycles / chunks:.0f}"),
        Figure("the database file", f"{database.stat().st_size / 2**20:.0f} MB"),
    ]


if __name__ == "__main__":
    sys.exit(main())
