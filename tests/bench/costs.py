"""What one user costs to serve: CPU time of a step and of a viewer's frame, memory of a hosted session and of a viewer, storage of a cycle.

    .venv/bin/python -m tests.bench.costs [--steps 300]

CPU time and memory are those of the web server and the engine workers of a `schedviz up`, read from /proc, so this needs Linux.
docs/operations.md calculates from these figures what schedviz costs for 10, 100 and 1,000 users.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Final, NamedTuple

from websockets.sync.client import ClientConnection, connect

from tests.bench.report import Figure, print_figures
from tests.bench.round_trip import _receive_until
from tests.bench.server import Server

_TICKS: Final = os.sysconf("SC_CLK_TCK")
_MEBIBYTE: Final = 2**20
_VIEWERS: Final = 20
_SESSIONS: Final = 8
_ROLES: Final = {"web_server": "web server", "engine": "engine worker"}


class Used(NamedTuple):
    """What the processes of a role have used: CPU seconds since they started, and resident bytes now."""

    cpu: float = 0.0
    memory: int = 0

    def since(self, before: Used) -> Used:
        return Used(self.cpu - before.cpu, self.memory - before.memory)


def used(server: Server) -> dict[str, Used]:
    """By role, for the processes that the server started."""
    sums = dict.fromkeys(_ROLES.values(), Used())
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            command = (folder / "cmdline").read_text().split("\0")
            fields = (folder / "stat").read_text().rsplit(")", 1)[1].split()
            status = (folder / "status").read_text()
        except OSError:
            continue
        role = next((shown for name, shown in _ROLES.items() if any(word in (name, f"schedviz.up.{name}") for word in command)), None)
        # The second field after the name is the parent: the supervisor.
        if role is None or int(fields[1]) != server.pid:
            continue
        resident = re.search(r"VmRSS:\s+(\d+) kB", status)
        before = sums[role]
        cpu = (int(fields[11]) + int(fields[12])) / _TICKS
        sums[role] = Used(before.cpu + cpu, before.memory + (int(resident[1]) * 1024 if resident else 0))
    return sums


def watch(server: Server, session: str) -> ClientConnection:
    """A viewer of a session."""
    url = server.url.replace("http", "ws") + f"/ws/v1/sessions/{session}/"
    viewer = connect(url, additional_headers={"Authorization": f"Bearer {server.token}"}, max_size=None, compression=None)
    _receive_until(viewer, "view")
    return viewer


def step(viewers: list[ClientConnection], count: int) -> None:
    """Cycles that the first viewer asks for one by one, each when all viewers have the frame of the previous one."""
    for _ in range(count):
        command = {"op": "step", "unit": "cycle", "count": 1}
        viewers[0].send(json.dumps({"type": "command", "key": f"cost-{time.time_ns()}", "command": command}))
        for viewer in viewers:
            _receive_until(viewer, "frame")
        time.sleep(0.06)


def generated(server: Server, nodes: int, pods: int) -> str:
    """A session with pods to schedule."""
    return server.create(json={"generate": {"shape": "basic", "nodes": nodes, "pods": pods}})[0]


def of_steps(server: Server, steps: int) -> list[Figure]:
    """CPU time and storage of a step with one viewer, and CPU time of each further viewer."""
    session = generated(server, 500, 2 * steps + 40)
    with ExitStack() as stack:
        viewers = [stack.enter_context(watch(server, session))]
        step(viewers, 20)
        stored, before = _database_bytes(server), used(server)
        step(viewers, steps)
        alone, written = _difference(used(server), before), _database_bytes(server) - stored
        viewers += [stack.enter_context(watch(server, session)) for _ in range(_VIEWERS - 1)]
        step(viewers, 20)
        before = used(server)
        step(viewers, steps)
        together = _difference(used(server), before)
    web, engine = (alone[role].cpu * 1000 / steps for role in _ROLES.values())
    more = (together["web server"].cpu - alone["web server"].cpu) * 1000 / steps / (_VIEWERS - 1)
    return [
        Figure("CPU time of a step of one cycle, 500 nodes, one viewer: web server, engine worker", f"{web:.1f} ms, {engine:.1f} ms"),
        Figure("CPU time of the same frame for each further viewer: web server", f"{more:.2f} ms"),
        Figure("growth of the database for a step", f"{written / steps:,.0f} bytes"),
    ]


def of_sessions(server: Server, nodes: int, pods: int) -> list[Figure]:
    """Memory of a hosted session and of its viewer."""
    sessions = [generated(server, nodes, pods) for _ in range(_SESSIONS)]
    before = used(server)
    with ExitStack() as stack:
        for session in sessions:
            step([stack.enter_context(watch(server, session))], 20)
        after = _difference(used(server), before)
    each = {role: after[role].memory / _SESSIONS / _MEBIBYTE for role in after}
    what = f"memory of a hosted session of {nodes:,} nodes and {pods:,} pods, and of its viewer: engine worker, web server"
    return [Figure(what, f"{each['engine worker']:.1f} MiB, {each['web server']:.1f} MiB")]


def _difference(after: dict[str, Used], before: dict[str, Used]) -> dict[str, Used]:
    return {role: after[role].since(before[role]) for role in after}


def _database_bytes(server: Server) -> int:
    """The size of the database with its log of writes."""
    return sum(file.stat().st_size for file in server.data.glob("*.sqlite3*") if not file.name.endswith("-shm"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=300)
    options = parser.parse_args()
    figures: list[Figure] = []
    with tempfile.TemporaryDirectory(prefix="schedviz-costs-") as folder, Server(Path(folder)) as server:
        figures += of_steps(server, options.steps)
        for nodes, pods in ((100, 500), (500, 5_000)):
            figures += of_sessions(server, nodes, pods)
    print_figures([*figures, Figure("load average at the end", f"{os.getloadavg()[0]:.1f}")])


if __name__ == "__main__":
    main()
