"""The cost of following a cluster, and the lag of the session. Everything runs on this machine; the cluster is a stand-in.

    .venv/bin/python -m tests.bench.follow [--rate 500] [--seconds 20] [--nodes 200] [--core 0]

Pods are created, bound, started and deleted, `--rate` changes a second in total. The lag of a change ends when the session's engine has
applied and committed it, including the dry runs of bindings. `--core` pins server, workers and `schedviz follow` to one core.
"""

from __future__ import annotations

import argparse
import json
import os
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from bisect import bisect_right
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import psutil

from tests.bench.server import Server
from tests.kubernetes_api import KubernetesApi

_LOOK_SECONDS = 0.01
_PATIENCE_SECONDS = 120.0
_CONTAINER = {"name": "c", "image": "app", "resources": {"requests": {"cpu": "100m", "memory": "128Mi"}}}


class Position:
    """Polls the number of commands that a session has applied, from its database."""

    def __init__(self, database: Path, session: str) -> None:
        self._connection = sqlite3.connect(f"file:{database}?mode=ro", uri=True, check_same_thread=False)
        self._session = session.replace("-", "")
        self._stop = threading.Event()
        #: Times and the number of applied commands at each, both increasing.
        self.times: list[float] = []
        self.counts: list[int] = []

    def now(self) -> int:
        row = self._connection.execute("SELECT applied_seq FROM scheduling_session WHERE id = ?", [self._session]).fetchone()
        return int(row[0])

    def watch(self) -> threading.Thread:
        thread = threading.Thread(target=self._run, daemon=True)
        thread.start()
        return thread

    def stop(self) -> None:
        self._stop.set()

    def _run(self) -> None:
        while not self._stop.wait(_LOOK_SECONDS):
            self._look()
        # It may have been reached in the meantime.
        self._look()

    def _look(self) -> None:
        count = self.now()
        if not self.counts or count > self.counts[-1]:
            self.counts.append(count)
            self.times.append(time.monotonic())

    def done_at(self, count: int) -> float:
        """When this number of commands had been applied."""
        return self.times[bisect_right(self.counts, count - 1)]


def changes(cluster: KubernetesApi, nodes: int) -> Iterator[None]:
    """The lives of pods, several at a time; each step is one change and one command."""
    living: list[int] = []
    number = 0
    while True:
        number += 1
        spec: dict[str, Any] = {"containers": [_CONTAINER]}
        name = f"p{number}"
        cluster.put("pods", name, namespace="shop", spec=spec, status={"phase": "Pending"})
        yield
        spec = {**spec, "nodeName": f"n{number % nodes}"}
        cluster.put("pods", name, namespace="shop", spec=spec, status={"phase": "Pending"})
        yield
        cluster.put("pods", name, namespace="shop", spec=spec, status={"phase": "Running"})
        yield
        living.append(number)
        if len(living) > 10 * nodes:
            cluster.delete("pods", f"p{living.pop(0)}", namespace="shop")
            yield


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rate", type=float, default=500)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--nodes", type=int, default=200)
    parser.add_argument("--core", type=int)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="schedviz-bench-") as folder, KubernetesApi() as cluster:
        for number in range(options.nodes):
            amounts = {"cpu": "64", "memory": "256Gi", "pods": "250"}
            cluster.put("nodes", f"n{number}", status={"allocatable": amounts, "capacity": amounts})
        data = Path(folder) / "data"
        Server.run_once(data)
        with Server(data) as server:
            _measure(server, cluster, Path(folder), options)
    return 0


def _measure(server: Server, cluster: KubernetesApi, folder: Path, options: argparse.Namespace) -> None:
    config = folder / "config"
    config.write_text(json.dumps(_kubeconfig(cluster)))
    body = {"name": "followed", "trace": {"format": "schedviz-trace/1", "name": "followed", "steps": []}}
    session = str(server.client.post("/api/v1/sessions/", json=body).json()["id"])
    while server.client.get(f"/api/v1/sessions/{session}/").json()["status"] == "importing":
        time.sleep(0.1)
    command = [sys.executable, "-m", "schedviz.cli.main", "follow", "--kubeconfig", str(config), "--session", session]
    follow = subprocess.Popen([*command, "--server", server.url, "--token", server.token], stderr=subprocess.DEVNULL)
    try:
        _one_core(options.core, psutil.Process(server.pid), psutil.Process(follow.pid))
        position = Position(_database(server.data), session)
        _wait(lambda: position.now() >= options.nodes and cluster.watching("pods") == 1)
        before, spent = position.now(), _seconds(server.pid, follow.pid)
        watcher = position.watch()
        made = _make(cluster, options)
        _wait(lambda: position.now() >= before + len(made))
        position.stop()
        watcher.join()
        after = _seconds(server.pid, follow.pid)
        lags = sorted(position.done_at(before + number) - at for number, at in enumerate(made, start=1))
        _report(lags, made, {name: after[name] - spent[name] for name in after}, options)
        click.echo(json.dumps(server.client.get(f"/api/v1/sessions/{session}/agreement/?limit=0").json()["all"]))
    finally:
        follow.terminate()
        follow.wait(20)


def _make(cluster: KubernetesApi, options: argparse.Namespace) -> list[float]:
    """Make the changes. Returns the time of each."""
    source, made, began = changes(cluster, options.nodes), [], time.monotonic()
    for place in range(int(options.rate * options.seconds)):
        due = began + place / options.rate
        if (wait := due - time.monotonic()) > 0:
            time.sleep(wait)
        next(source)
        made.append(time.monotonic())
    return made


def _report(lags: list[float], made: list[float], spent: dict[str, float], options: argparse.Namespace) -> None:
    def quantile(share: float) -> str:
        return f"{1000 * lags[min(int(share * len(lags)), len(lags) - 1)]:,.0f} ms"

    rate = len(made) / (made[-1] - made[0])
    cores = "all cores" if options.core is None else f"core {options.core} alone"
    click.echo(f"{len(made):,} changes, {rate:.0f} a second, {options.nodes} nodes; server, workers and follow on {cores}")
    click.echo(f"lag p50 {quantile(0.5)}, p90 {quantile(0.9)}, p99 {quantile(0.99)}, most {quantile(1)}")
    click.echo("; ".join(f"{name} {1000 * seconds / len(made):.2f} ms of CPU a change" for name, seconds in spent.items()))
    click.echo(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")


def _seconds(server: int, follow: int) -> dict[str, float]:
    """The CPU time used so far."""
    family = [psutil.Process(server), *psutil.Process(server).children(recursive=True)]
    return {"server and workers": sum(_cpu(one) for one in family), "follow": _cpu(psutil.Process(follow))}


def _cpu(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)


def _one_core(core: int | None, *processes: psutil.Process) -> None:
    for process in processes if core is not None else ():
        for one in (process, *process.children(recursive=True)):
            one.cpu_affinity([core])


def _database(data: Path) -> Path:
    (found,) = (path for path in data.glob("*.sqlite3"))
    return found


def _wait(until: Any) -> None:
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while not until():
        if time.monotonic() > deadline:
            raise SystemExit(f"the session was not where it should be after {_PATIENCE_SECONDS:g} s")
        time.sleep(_LOOK_SECONDS)


def _kubeconfig(cluster: KubernetesApi) -> dict[str, Any]:
    return {
        "current-context": "bench",
        "contexts": [{"name": "bench", "context": {"cluster": "bench", "user": "bench"}}],
        "clusters": [{"name": "bench", "cluster": {"server": cluster.address}}],
        "users": [{"name": "bench", "user": {"token": cluster.token}}],
    }


if __name__ == "__main__":
    raise SystemExit(main())
