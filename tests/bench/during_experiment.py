"""The latency of a step in a session while the workers of experiments run trials."""

from __future__ import annotations

import time

from tests.bench import round_trip
from tests.bench.report import Figure
from tests.bench.server import Server

#: Trials of some seconds each, more than end while the steps are measured.
_PLAN = """\
experiment: 1
name: load
base: {generate: {shape: mixed, nodes: 500, pods: 5000}}
variants: [{name: a}, {name: b, release: v1.36}]
seeds: 200
"""


def steps(server: Server, *, nodes: int) -> list[Figure]:
    """The steps of `round_trip`, after the first trial has begun."""
    made = server.client.post("/api/v1/experiments/", json={"plan": _PLAN})
    made.raise_for_status()
    url = made.json()["url"]
    while server.client.get(url).json()["running"] == 0:
        time.sleep(0.1)
    found = round_trip.steps(server, nodes=nodes)
    server.client.post(f"{url}cancel/")
    return [Figure(f"{each.what}, beside an experiment", each.measured, "p99 < 150 ms") for each in found]
