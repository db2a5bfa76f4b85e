# ruff: noqa: INP001
"""Writes schedviz/samples/cases/thumbnails.json: plays each everyday case, and keeps the numbers that its thumbnail is drawn from.

A web server has no engine, so that it cannot compute them. tests/explain/test_everyday_cases.py checks the file. Part of `make gen`.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from schedviz.engine import Simulation, settings_of
from schedviz.explain.thumbnail import Thumbnail, thumbnail
from schedviz.explain.why import why_pending
from schedviz.ingest.trace_file import trace_from_dict
from schedviz.samples.cases import Case, cases
from schedviz.trace.commands import AnyCommand

TARGET = Path(__file__).parents[1] / "schedviz/samples/cases/thumbnails.json"


def played(case: Case) -> Simulation:
    """The engine after the last step of a case."""
    trace = trace_from_dict(case.trace)
    simulation = Simulation(settings_of(trace))
    for step in trace.steps:
        assert isinstance(step, AnyCommand)
        simulation.start(step)
        simulation.work()
    return simulation


def thumbnails() -> dict[str, Thumbnail]:
    """Those of all cases, by name."""
    found = {}
    for case in cases():
        simulation = played(case)
        found[case.name] = thumbnail(simulation, why_pending(simulation, case.pod))
    return found


if __name__ == "__main__":
    TARGET.write_bytes(msgspec.json.format(msgspec.json.encode(thumbnails()), indent=1) + b"\n")
