"""The cost of explanations on a large cluster: why a pod is pending, the smallest change, copies of a pod, a dry run on the live engine.

    .venv/bin/python -m tests.bench.explain [--nodes 5000]

Six pods run on each node. Three pods are pending: one is too large, one has constraints of every kind, one fits after no change. Each line
has the median wall-clock time and CPU time of several runs. The first request on an engine also fills its columns.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from collections.abc import Callable, Iterator
from typing import Any

import click

from schedviz.engine import Simulation, SimulationSettings
from schedviz.engine.dryrun.live_dry_runs import LiveDryRuns
from schedviz.explain.changes import smallest_change
from schedviz.explain.shadowing.judgement import Choice
from schedviz.explain.shadowing.shadow import choose
from schedviz.explain.what_if import what_if
from schedviz.explain.why import why_pending
from schedviz.kube import codec
from schedviz.kube.core import Pod
from schedviz.kube.defaults import default_object
from schedviz.kube.meta import KubeObject

_TIMES = 5
_APART = {"labelSelector": {"matchLabels": {"app": "a1"}}, "topologyKey": "kubernetes.io/hostname"}
_SPREAD = {**_APART, "topologyKey": "topology.kubernetes.io/zone", "maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule"}
WAITING: dict[str, dict[str, Any]] = {
    "too large": {"cpu": "65"},
    "picky": {
        "cpu": "40",
        "nodeSelector": {"pool": "c"},
        "affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [_APART]}},
        "topologySpreadConstraints": [_SPREAD],
    },
    "never": {"cpu": "500", "nodeSelector": {"pool": "c"}},
}


def node(number: int) -> dict[str, Any]:
    name = f"node-{number}"
    labels = {"kubernetes.io/hostname": name, "topology.kubernetes.io/zone": f"z{number % 3}", "pool": "ab"[number % 2]}
    taints = [{"key": "gpu", "value": "true", "effect": "NoSchedule"}] if number % 10 == 0 else []
    amounts = {"cpu": ("16", "32", "64")[number % 3], "memory": "64Gi", "pods": "110"}
    return {"kind": "Node", "metadata": {"name": name, "labels": labels}, "spec": {"taints": taints}, "status": {"allocatable": amounts}}


def pod(name: str, app: str, *, cpu: str = "1", **spec: Any) -> dict[str, Any]:
    containers = [{"name": "c", "image": "app", "resources": {"requests": {"cpu": cpu, "memory": "1Gi"}}}]
    metadata = {"name": name, "namespace": "default", "uid": name, "labels": {"app": app}}
    return {"kind": "Pod", "metadata": metadata, "spec": {"containers": containers, **spec}, "status": {"phase": "Pending"}}


def objects(nodes: int) -> Iterator[KubeObject]:
    for number in range(nodes):
        yield codec.from_dict(node(number))
    for number in range(6 * nodes):
        yield codec.from_dict(pod(f"pod-{number}", f"a{number % 50}", cpu="2", nodeName=f"node-{number % nodes}"))
    for name, spec in WAITING.items():
        yield codec.from_dict(pod(name.replace(" ", "-"), "x", **spec))


def timed(name: str, ask: Callable[[], object], *, times: int = _TIMES) -> None:
    walls, cpus = [], []
    for _ in range(times):
        wall, cpu = time.perf_counter(), time.process_time()
        ask()
        walls.append(time.perf_counter() - wall)
        cpus.append(time.process_time() - cpu)
    wall, cpu = 1000 * statistics.median(walls), 1000 * statistics.median(cpus)
    click.echo(f"{name:32} {wall:8,.0f} ms  {cpu:8,.0f} ms of CPU")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=5000)
    options = parser.parse_args()
    simulation = Simulation(SimulationSettings())
    simulation.load([default_object(obj) for obj in objects(options.nodes)])
    data = simulation.checkpoint()
    _answers(simulation)
    template = codec.from_dict(pod("copy", "x"))
    assert isinstance(template, Pod)
    copies = [Simulation.restore(data) for _ in range(3)]
    timed("1,000 copies", lambda: what_if(copies.pop(), template, 1000), times=3)
    click.echo(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    return 0


def _answers(simulation: Simulation) -> None:
    dry_runs = LiveDryRuns()
    for name in WAITING:
        key = f"default/{name.replace(' ', '-')}"
        timed(f"why, first ({name})", lambda key=key: why_pending(simulation, key), times=1)
        timed(f"why ({name})", lambda key=key: why_pending(simulation, key))
        timed(f"smallest change ({name})", lambda key=key: smallest_change(simulation, key), times=3)
        timed(f"dry run ({name})", lambda key=key: _scored_dry_run(simulation, dry_runs, key))


def _scored_dry_run(simulation: Simulation, dry_runs: LiveDryRuns, key: str) -> Choice:
    pod_ = simulation.cluster.find("Pod", key)
    assert isinstance(pod_, Pod)
    with dry_runs.dry_run(simulation, pod_) as dry_run:
        return choose(simulation, dry_run)


if __name__ == "__main__":
    raise SystemExit(main())
