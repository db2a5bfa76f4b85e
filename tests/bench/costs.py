"""What one user costs to serve, and how that grows: CPU time of a step and of a viewer's frame, memory of a session, storage of a cycle.

    .venv/bin/python -m tests.bench.costs [--steps 300]
    .venv/bin/python -m tests.bench.costs --growth docs/pictures/growth.svg

CPU time and memory are those of the web server and the engine workers of a `schedviz up`. `--growth` plots CPU time against viewers,
cycles of history and sessions of one worker; it takes five minutes. docs/operations.md calculates from these figures what schedviz costs
for 10, 100 and 1,000 users.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
import time
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Final, NamedTuple

import psutil
from websockets.sync.client import ClientConnection, connect

from schedviz.cli.bench.plot import Line, panels
from tests.bench import jumps
from tests.bench.engine import load_average
from tests.bench.report import Figure, print_figures
from tests.bench.round_trip import _receive_until
from tests.bench.server import Server

WEB, ENGINE = "web server", "engine worker"
_MODULES: Final = {"schedviz.up.web_server": WEB, "engine": ENGINE}
_MEBIBYTE: Final = 2**20
_VIEWERS: Final = 20
_SESSIONS: Final = 8
#: A user may have 50 sockets for a session.
MAX_VIEWERS: Final = 48


class Used(NamedTuple):
    """What the processes of a role have used: CPU seconds since they started, and resident bytes now."""

    cpu: float = 0.0
    memory: int = 0

    def __sub__(self, before: Used) -> Used:
        return Used(self.cpu - before.cpu, self.memory - before.memory)


def used(server: Server) -> dict[str, Used]:
    """By role, for the processes that the server started."""
    sums = {WEB: Used(), ENGINE: Used()}
    for process in psutil.Process(server.pid).children():
        role = next((_MODULES[word] for word in process.cmdline() if word in _MODULES), None)
        if role is not None:
            times, known = process.cpu_times(), sums[role]
            sums[role] = Used(known.cpu + times.user + times.system, known.memory + process.memory_info().rss)
    return sums


def watch(server: Server, session: str) -> ClientConnection:
    """A viewer of a session."""
    url = server.url.replace("http", "ws") + f"/ws/v1/sessions/{session}/"
    viewer = connect(url, additional_headers={"Authorization": f"Bearer {server.token}"}, max_size=None, compression=None)
    _receive_until(viewer, "view")
    return viewer


def step(viewers: Sequence[ClientConnection], count: int) -> None:
    """Step by cycles, each when all viewers have the frame of the previous one."""
    for _ in range(count):
        command = {"op": "step", "unit": "cycle", "count": 1}
        viewers[0].send(json.dumps({"type": "command", "key": f"cost-{time.time_ns()}", "command": command}))
        for viewer in viewers:
            _receive_until(viewer, "frame")
        time.sleep(0.06)


def generated(server: Server, nodes: int, pods: int) -> str:
    """A session with pods to schedule."""
    return server.create(json={"generate": {"shape": "basic", "nodes": nodes, "pods": pods}})[0]


# --- One user


def of_steps(server: Server, steps: int) -> list[Figure]:
    """CPU time and storage of a step with one viewer, and CPU time of each further viewer."""
    alone, written = cpu_of_steps(server, steps, viewers=1)
    together, _ = cpu_of_steps(server, steps, viewers=_VIEWERS)
    more = (together[WEB] - alone[WEB]) / (_VIEWERS - 1)
    return [
        Figure(f"CPU time of a step of one cycle, 500 nodes, one viewer: {WEB}, {ENGINE}", f"{alone[WEB]:.1f} ms, {alone[ENGINE]:.1f} ms"),
        Figure(f"CPU time of its frame for each further viewer: {WEB}", f"{more:.2f} ms"),
        Figure("growth of the database for a step", f"{written:,.0f} bytes"),
    ]


def cpu_of_steps(server: Server, steps: int, *, viewers: int) -> tuple[dict[str, float], float]:
    """CPU milliseconds of a step by role, and bytes that it adds to the database."""
    session = generated(server, 500, steps + 40)
    with ExitStack() as stack:
        watching = [stack.enter_context(watch(server, session)) for _ in range(viewers)]
        step(watching, 20)
        stored, before = _database_bytes(server), used(server)
        step(watching, steps)
        after, written = used(server), _database_bytes(server) - stored
    return {role: (after[role] - before[role]).cpu * 1000 / steps for role in after}, written / steps


def of_sessions(server: Server, nodes: int, pods: int) -> Figure:
    """Memory of a hosted session and of its viewer."""
    sessions = [generated(server, nodes, pods) for _ in range(_SESSIONS)]
    before = used(server)
    with ExitStack() as stack:
        for session in sessions:
            step([stack.enter_context(watch(server, session))], 20)
        after = used(server)
    each = {role: (after[role] - before[role]).memory / _SESSIONS / _MEBIBYTE for role in after}
    what = f"memory of a hosted session of {nodes:,} nodes and {pods:,} pods, and of its viewer: {ENGINE}, {WEB}"
    return Figure(what, f"{each[ENGINE]:.1f} MiB, {each[WEB]:.1f} MiB")


def _database_bytes(server: Server) -> int:
    """The size of the database with its log of writes."""
    return sum(file.stat().st_size for file in server.data.glob("*.sqlite3*") if not file.name.endswith("-shm"))


# --- Growth


def growth(server: Server) -> list[tuple[str, list[Line]]]:
    """Panels of a plot: CPU milliseconds against viewers, cycles of history, and sessions."""
    return [
        (
            "CPU ms a step against viewers",
            _by_role((count, cpu_of_steps(server, 60, viewers=count)[0]) for count in (1, 4, 16, MAX_VIEWERS)),
        ),
        (
            "CPU ms a jump against cycles of history",
            [("a cycle and the state before it", [_of_jumps(server, n) for n in (200, 2_000, 20_000)])],
        ),
        ("CPU ms a step against watched sessions", _by_role((count, _of_many_sessions(server, count)) for count in (1, 4, 16, 64))),
    ]


def _by_role(points: Iterable[tuple[int, dict[str, float]]]) -> list[Line]:
    measured = list(points)
    return [(role, [(count, cost[role]) for count, cost in measured]) for role in (WEB, ENGINE)]


def _of_jumps(server: Server, cycles: int) -> tuple[float, float]:
    """CPU milliseconds of all processes for a jump to any cycle of a session of 100 nodes."""
    session = jumps._make(server, nodes=100, pods=0, cycles=cycles)
    base, chosen, count = f"/api/v1/sessions/{session}/", random.Random(1), 100
    before = jumps._processor_seconds(server)
    for _ in range(count):
        summary = server.client.get(f"{base}cycles/{chosen.randint(1, cycles)}/", params={"detail": "0"}).json()
        server.client.get(f"{base}view/", params={"at": summary["firstEvent"]}).raise_for_status()
    return cycles, (jumps._processor_seconds(server) - before) / count * 1000


def _of_many_sessions(server: Server, count: int) -> dict[str, float]:
    """CPU milliseconds of a step by role, while this many sessions are stepped in turn."""
    sessions = [generated(server, 100, 200) for _ in range(count)]
    with ExitStack() as stack:
        viewers = [stack.enter_context(watch(server, session)) for session in sessions]
        for viewer in viewers:
            step([viewer], 2)
        turns = max(2, 64 // count)
        before = used(server)
        for _ in range(turns):
            for viewer in viewers:
                step([viewer], 1)
        after = used(server)
    return {role: (after[role] - before[role]).cpu * 1000 / turns / count for role in after}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--growth", type=Path, metavar="FILE.svg")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="schedviz-costs-") as folder, Server(Path(folder)) as server:
        if options.growth:
            drawn = growth(server)
            options.growth.write_text(panels(drawn), "utf-8")
            figures = [
                Figure(f"{title}: {name}", ", ".join(f"{x:,.0f}: {y:.2f}" for x, y in line))
                for title, lines in drawn
                for name, line in lines
            ]
        else:
            sizes = [(100, 500), (500, 5_000)]
            figures = [*of_steps(server, options.steps), *(of_sessions(server, nodes, pods) for nodes, pods in sizes)]
    print_figures([*figures, Figure("load average at the end", load_average())])


if __name__ == "__main__":
    main()
