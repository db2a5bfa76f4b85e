"""The cost of following a cluster, and the lag of the session. Everything runs on this machine; the cluster is a stand-in.

    .venv/bin/python -m tests.bench.follow [--rate 500] [--seconds 20] [--nodes 200] [--core 0] [--chromium /usr/bin/chromium]
    .venv/bin/python -m tests.bench.follow --recorded tests/bench/recorded.jsonl.zst --rate 300 --seconds 20

Pods are created, bound, started and deleted, `--rate` changes a second in total. The lag of a change ends when the session's engine has
applied and committed it, including the dry runs of bindings. `--core` pins server, workers and `schedviz follow` to one core.

`--recorded` replays the lists and watches of a real cluster (tests/live/recorder.py) at this rate, over and over. Then the lag is that from
a pod's creation to the frame that a viewer receives, because changes and commands do not correspond. `--chromium` also watches the page in
that browser, to the end of the frame in which the event is painted.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import Any

import click
import psutil

from tests.bench.drawn import DrawnPage
from tests.bench.server import Server
from tests.kubernetes_api import KubernetesApi
from tests.live import recorder
from tests.live.watching import Viewer

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


class Recording:
    """The objects and events of a recorded cluster."""

    def __init__(self, path: Path) -> None:
        entries = list(recorder.read(path))
        self._listed = [one for one in entries if not one.seconds]
        self._events = [one for one in entries if one.seconds]
        pods = [one.object["metadata"] for one in self._events if one.resource == "pods" and one.type == "ADDED"]
        #: The namespace of most of the new pods.
        self.namespace: str = Counter(pod["namespace"] for pod in pods).most_common(1)[0][0]

    def begin(self, cluster: KubernetesApi) -> int:
        """Make the listed objects; returns their number."""
        for one in self._listed:
            _put(cluster, one, "")
        return len(self._listed)

    def changes(self, cluster: KubernetesApi) -> Iterator[str]:
        """The events, over and over, with other names of new pods each time; each step is one event."""
        for turn in itertools.count():
            suffix = f"-{turn}" if turn else ""
            new: set[tuple[str, str]] = set()
            for one in self._events:
                metadata = one.object["metadata"]
                at = (one.resource, f"{metadata.get('namespace', '')}/{metadata['name']}")
                if one.type == "ADDED":
                    new.add(at)
                renamed = suffix if at in new else ""
                if one.type == "DELETED":
                    with suppress(KeyError):
                        cluster.delete(one.resource, metadata["name"] + renamed, namespace=metadata.get("namespace", ""))
                else:
                    _put(cluster, one, renamed)
                is_new_pod = one.type == "ADDED" and one.resource == "pods" and metadata.get("namespace") == self.namespace
                yield metadata["name"] + renamed if is_new_pod else ""


def _put(cluster: KubernetesApi, entry: recorder.Entry, suffix: str) -> None:
    metadata = dict(entry.object["metadata"])
    name, namespace = metadata.pop("name") + suffix, metadata.pop("namespace", "")
    metadata["uid"] += suffix
    members = {key: value for key, value in entry.object.items() if key not in ("metadata", "kind", "apiVersion")}
    cluster.put(entry.resource, name, namespace=namespace, metadata=metadata, **members)


def changes(cluster: KubernetesApi, nodes: int) -> Iterator[str]:
    """The lives of pods, several at a time; each step is one change and one command, and yields the name of a new pod."""
    living: list[int] = []
    number = 0
    while True:
        number += 1
        spec: dict[str, Any] = {"containers": [_CONTAINER]}
        name = f"p{number}"
        cluster.put("pods", name, namespace="shop", spec=spec, status={"phase": "Pending"})
        yield name
        spec = {**spec, "nodeName": f"n{number % nodes}"}
        cluster.put("pods", name, namespace="shop", spec=spec, status={"phase": "Pending"})
        yield ""
        cluster.put("pods", name, namespace="shop", spec=spec, status={"phase": "Running"})
        yield ""
        living.append(number)
        if len(living) > 10 * nodes:
            cluster.delete("pods", f"p{living.pop(0)}", namespace="shop")
            yield ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rate", type=float, default=500)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--nodes", type=int, default=200)
    parser.add_argument("--core", type=int)
    parser.add_argument("--release", default="v1.36", help="of the session")
    parser.add_argument("--recorded", type=Path, help="a recording of tests/live/recorder.py")
    parser.add_argument("--chromium", help="watch the page in this browser, too, such as /usr/bin/chromium")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="schedviz-bench-") as folder, KubernetesApi() as cluster:
        if options.recorded is not None:
            options.recording = Recording(options.recorded)
            options.nodes = options.recording.begin(cluster)
        else:
            options.recording = None
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
    body = {"name": "followed", "release": options.release, "trace": {"format": "schedviz-trace/1", "name": "followed", "steps": []}}
    session = str(server.client.post("/api/v1/sessions/", json=body).json()["id"])
    while server.client.get(f"/api/v1/sessions/{session}/").json()["status"] == "importing":
        time.sleep(0.1)
    command = [sys.executable, "-m", "schedviz.cli.main", "follow", "--kubeconfig", str(config), "--session", session]
    follow = subprocess.Popen([*command, "--server", server.url, "--token", server.token], stderr=subprocess.DEVNULL)
    try:
        _one_core(options.core, psutil.Process(server.pid), psutil.Process(follow.pid))
        position = Position(_database(server.data), session)
        _wait(lambda: position.now() >= options.nodes and cluster.watching("pods") == 1)
        page = DrawnPage(server.url, session, data=server.data, chromium=options.chromium) if options.chromium else None
        namespace = "shop" if options.recording is None else options.recording.namespace
        with page or nullcontext(), Viewer(server.url, session, server.token, namespace) as viewer:
            before, spent = position.now(), _seconds(server.pid, follow.pid)
            watcher = position.watch()
            created: dict[str, float] = {}
            made = _make(cluster, options, created)
            if options.recording is None:
                _wait(lambda: position.now() >= before + len(made))
            _wait(lambda: created.keys() <= viewer.seen.keys())
            position.stop()
            watcher.join()
            after = _seconds(server.pid, follow.pid)
            if page is not None:
                # The last frames are drawn.
                time.sleep(1.0)
        lags = [viewer.seen[name] - at for name, at in created.items()]
        if options.recording is None:
            committed = [position.done_at(before + place) - at for place, at in enumerate(made, start=1)]
            _report("to the commit", committed)
        _report("to a viewer's frame", lags)
        if page is not None:
            drawn = {name: page.drawn_at(event) for name, event in viewer.events.items()}
            _report("to the painted page", [at - created[name] for name, at in drawn.items() if at is not None and name in created])
        _report_costs(made, {name: after[name] - spent[name] for name in after}, options)
        click.echo(json.dumps(server.client.get(f"/api/v1/sessions/{session}/agreement/?limit=0").json()["all"]))
    finally:
        follow.terminate()
        follow.wait(20)


def _make(cluster: KubernetesApi, options: argparse.Namespace, created: dict[str, float]) -> list[float]:
    """Make the changes. Returns the time of each; `created` gets that of each new pod."""
    source = changes(cluster, options.nodes) if options.recording is None else options.recording.changes(cluster)
    made, began = [], time.monotonic()
    for place in range(int(options.rate * options.seconds)):
        due = began + place / options.rate
        if (wait := due - time.monotonic()) > 0:
            time.sleep(wait)
        if new := next(source):
            created[new] = time.time()
        made.append(time.monotonic())
    return made


def _report(to: str, lags: list[float]) -> None:
    lags = sorted(lags)

    def quantile(share: float) -> str:
        return f"{1000 * lags[min(int(share * len(lags)), len(lags) - 1)]:,.0f} ms"

    click.echo(f"lag {to}: p50 {quantile(0.5)}, p90 {quantile(0.9)}, p99 {quantile(0.99)}, most {quantile(1)} ({len(lags):,})")


def _report_costs(made: list[float], spent: dict[str, float], options: argparse.Namespace) -> None:
    rate = len(made) / (made[-1] - made[0])
    cores = "all cores" if options.core is None else f"core {options.core} alone"
    click.echo(f"{len(made):,} changes, {rate:.0f} a second, {options.nodes} nodes; server, workers and follow on {cores}")
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
