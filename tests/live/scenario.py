"""Creates pods in a real cluster, and reports how a session that follows it judged each binding.

    .venv/bin/python -m tests.live.scenario --kubeconfig FILE --session ID one-by-one sidecars burst rate differences

`--kubeconfig` must permit creating namespaces, pods and Deployments; `differences` only reads. README.md has the preparations.
"""

from __future__ import annotations

import argparse
import collections
import json
import os
import random
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import click
import psutil

from schedviz.cli.follow import kubeconfig
from schedviz.cli.follow.cluster_api import ClusterApi
from schedviz.cli.follow.errors import Forbidden, NotServed
from schedviz.cli.follow.following import kinds
from schedviz.cli.follow.redaction import Redaction
from schedviz.cli.rest_client import RestClient
from schedviz.client.server import find_server
from tests.bench.drawn import DrawnPage
from tests.live import pods
from tests.live.watching import Viewer
from tests.live.writing import Cluster

_PATIENCE_SECONDS = 120.0
_PAGE = 1000
_CHANGES_OF_A_POD = 5
#: How many pods of the scenario `rate` exist at a time.
_LIVING = 50
_RATED = ("agrees", "notBest", "infeasible")


class Scenario:
    """One run against one cluster and one session."""

    def __init__(self, options: argparse.Namespace) -> None:
        self._options = options
        self._random = random.Random(options.seed)
        self._cluster = Cluster(options.kubeconfig, options.context)
        self._server = RestClient(options.server, options.token)
        self._found = find_server(options.server, options.token)
        self._path = f"sessions/{options.session}/"

    def one_by_one(self) -> None:
        """Pods of nine kinds, one after the other."""
        self._one_by_one("one-by-one", pods.COMMON_KINDS, self._options.pods)

    def sidecars(self) -> None:
        """Pods with sidecars or pod-level resources, one after the other."""
        self._one_by_one("sidecars", pods.V1_36_KINDS, max(1, self._options.pods // 3))

    def burst(self) -> None:
        """140 pods of three Deployments at once."""
        namespace = self._namespace("burst")
        sizes = {"web": 60, "api": 50, "worker": 30}
        specs = {
            "web": pods.spec("spread", self._random),
            "api": pods.spec("anti", self._random),
            "worker": pods.spec("near", self._random),
        }
        for name, replicas in sizes.items():
            self._cluster.create(f"apis/apps/v1/namespaces/{namespace}/deployments", pods.deployment(name, replicas, specs[name]))
        self._report("burst", namespace, sum(sizes.values()))

    def rate(self) -> None:
        """Create, bind, run and delete pods, `--rate` changes a second, and report the page's lag and the cost."""
        namespace = self._namespace("rate")
        options, path = self._options, f"api/v1/namespaces/{namespace}/pods"
        made: dict[str, float] = {}
        page = DrawnPage(self._found.address, options.session, data=options.data, chromium=options.chromium) if options.chromium else None
        server = None if options.pid is None else psutil.Process(options.pid)
        with page or nullcontext(), Viewer(self._found.address, options.session, self._found.token, namespace) as viewer:
            before, spent, began = self._pushed(), _cpu_seconds(server), time.monotonic()
            # Each pod is created, bound, run, and deleted in two steps.
            for number in range(int(options.rate * options.seconds / _CHANGES_OF_A_POD)):
                if (wait := began + number * _CHANGES_OF_A_POD / options.rate - time.monotonic()) > 0:
                    time.sleep(wait)
                name = f"plain-{number}"
                self._cluster.create(
                    path, {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": pods.spec("plain", self._random)}
                )
                made[name] = time.time()
                if number >= _LIVING:
                    self._cluster.delete(f"{path}/plain-{number - _LIVING}")
            seconds = time.monotonic() - began
            _wait(lambda: made.keys() <= viewer.seen.keys())
            changes = self._pushed() - before
            cpu = _cpu_seconds(server) - spent
            if page is not None:
                # The last frames are drawn.
                time.sleep(1.0)
        lags = [viewer.seen[name] - at for name, at in made.items() if name in viewer.seen]
        click.echo(
            f"rate ({namespace}): {changes} changes, {changes / seconds:.0f} a second; from a pod's creation to its frame {quantiles(lags)}"
        )
        if page is not None:
            drawn = {name: page.drawn_at(event) for name, event in viewer.events.items()}
            lags = [at - made[name] for name, at in drawn.items() if at is not None and name in made]
            click.echo(f"  to the painted page {quantiles(lags)} ({len(lags)} of {len(made)} pods, painted {len(page.events)} times)")
        if server is not None:
            click.echo(f"  server and workers {1000 * cpu / changes:.2f} ms of CPU a change; load {os.getloadavg()[0]:.1f}")

    def _pushed(self) -> int:
        """The number of changes that were pushed so far."""
        return int(json.loads(self._server.get(f"{self._path}observations/", {"limit": "0"}))["events"])

    def differences(self) -> None:
        """Objects that the cluster and the session do not both have in the same version."""
        api = ClusterApi(kubeconfig.access(kubeconfig.paths(self._options.kubeconfig), self._options.context))
        redaction = Redaction()
        there: dict[tuple[str, str], tuple[str, str]] = {}
        for kind in kinds(()):
            try:
                items, _ = api.list(kind)
            except (Forbidden, NotServed):
                continue
            for item in items:
                redacted = redaction.redact(item, kind)
                there[kind.name, redacted.key] = (redacted.uid, redacted.version)
        here = {(one["kind"], one["key"]): (one["uid"], one["version"]) for one in self._pages("observations/", "objects", "after")}
        differing = sorted(key for key in here.keys() | there.keys() if here.get(key) != there.get(key))
        click.echo(f"differences: {len(differing)} of {len(there):,} objects {differing[:5] or ''}")

    def _one_by_one(self, title: str, wanted: tuple[str, ...], count: int) -> None:
        namespace = self._namespace(title)
        for number in range(count):
            kind = self._random.choice(wanted)
            metadata = {"name": f"{kind}-{number}", "labels": {"app": kind}}
            pod = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": pods.spec(kind, self._random)}
            self._cluster.create(f"api/v1/namespaces/{namespace}/pods", pod)
            time.sleep(self._options.pause)
        self._report(title, namespace, count)

    def _namespace(self, title: str) -> str:
        name = f"schedviz-{title}-{int(time.time()) % 1_000_000}"
        self._cluster.create("api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
        return name

    def _report(self, title: str, namespace: str, count: int) -> None:
        """Wait until all bindings are judged, and print the verdicts."""
        _wait(lambda: self._cluster.settled(namespace, count))
        bound = self._cluster.bound(namespace)
        _wait(lambda: len(self._bindings(namespace)) >= bound)
        result = self._bindings(namespace)
        verdicts = collections.Counter(one["verdict"] for one in result)
        rated = sum(verdicts[name] for name in _RATED)
        rate = f"{100 * verdicts['agrees'] / rated:.1f} %" if rated else "none"
        click.echo(
            f"{title} ({namespace}): {len(result)} of {bound} bindings of {count} pods judged, {dict(verdicts)}, agreement {rate}; load {os.getloadavg()[0]:.1f}"
        )
        for one in result:
            if one["verdict"] != "agrees":
                judgement = one["judgement"]
                why = judgement["cause"] or "; ".join(judgement["reasons"])
                shares = {share["plugin"]: share["taken"] - share["best"] for share in judgement["shares"]}
                click.echo(f"  {one['pod']} on {one['node']}: {one['verdict']} ({why}) {judgement['plugin']} {shares or ''}")

    def _bindings(self, namespace: str) -> list[dict[str, Any]]:
        prefix = f"{namespace}/"
        return [one for one in self._pages("agreement/", "bindings", "before", most=5) if one["pod"].startswith(prefix)]

    def _pages(self, path: str, member: str, cursor: str, *, most: int = 1000) -> Iterator[dict[str, Any]]:
        after: int | None = None
        for _ in range(most):
            query = {"limit": str(_PAGE), **({} if after is None else {cursor: str(after)})}
            document = json.loads(self._server.get(self._path + path, query))
            yield from document[member]
            after = document["next"]
            if after is None:
                return


_SCENARIOS = {
    "one-by-one": Scenario.one_by_one,
    "sidecars": Scenario.sidecars,
    "burst": Scenario.burst,
    "rate": Scenario.rate,
    "differences": Scenario.differences,
}


def _wait(until: Callable[[], bool]) -> None:
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while not until() and time.monotonic() < deadline:
        time.sleep(0.5)


def quantiles(lags: list[float]) -> str:
    """The distribution of times in seconds, as text."""
    lags = sorted(lags)
    return ", ".join(f"p{share} {1000 * lags[min(len(lags) * share // 100, len(lags) - 1)]:.0f} ms" for share in (50, 90, 99) if lags)


def _cpu_seconds(process: psutil.Process | None) -> float:
    """The CPU time of a process and of what it started."""
    if process is None:
        return 0.0
    times = [one.cpu_times() for one in (process, *process.children(recursive=True))]
    return float(sum(time_.user + time_.system for time_ in times))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scenarios", nargs="+", choices=_SCENARIOS)
    parser.add_argument("--kubeconfig", type=Path)
    parser.add_argument("--context")
    parser.add_argument("--session", required=True)
    parser.add_argument("--server")
    parser.add_argument("--token")
    parser.add_argument("--pods", type=int, default=200)
    parser.add_argument("--pause", type=float, default=0.25)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rate", type=float, default=50)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--chromium", help="for `rate`: watch the page in this browser, too, such as /usr/bin/chromium")
    parser.add_argument("--data", type=Path, help="of `schedviz up` on this machine, for the browser's login; default: its default")
    parser.add_argument("--pid", type=int, help="of `schedviz up`, to measure its CPU time")
    options = parser.parse_args()
    for name in options.scenarios:
        _SCENARIOS[name](Scenario(options))
    return 0


if __name__ == "__main__":
    sys.exit(main())
