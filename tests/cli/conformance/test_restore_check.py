"""Compares two runs of the same commands with restores in between, and the reports of differences."""

from __future__ import annotations

import lzma
from pathlib import Path
from typing import Any

import msgspec
import pytest

from schedviz.cli.conformance import restore_check
from schedviz.cli.conformance.restore_check import Run, between, run
from schedviz.engine import SimulationSettings
from schedviz.ingest.trace_file import decode_trace
from schedviz.trace.commands import AnyCommand, convert_command

TRACE = Path(__file__).parents[2] / "conformance" / "traces" / "03-assume-bind-confirm.json.xz"


def _commands(*, pods: int = 2) -> list[AnyCommand]:
    node = {"kind": "Node", "metadata": {"name": "n"}, "status": {"allocatable": {"cpu": "4", "pods": "9"}}}
    steps: list[dict[str, Any]] = [{"op": "create", "object": node}]
    named = [{"kind": "Pod", "metadata": {"name": f"p{number}"}, "spec": {"containers": []}} for number in range(pods)]
    steps += [{"op": "create", "object": pod} for pod in named]
    return [convert_command(step) for step in [*steps, {"op": "step", "unit": "stage", "count": 3}, {"op": "run"}]]


def _run(*places: int, pods: int = 2) -> Run:
    return run(SimulationSettings(), _commands(pods=pods), places)


def test_the_engine_is_restored_at_the_first_boundary_after_each_position() -> None:
    straight, restored = _run(), _run(1, 10, 11, 12, 100_000)

    assert straight.restores == 0
    assert 1 < restored.restores <= 4
    assert straight.simulation.event == restored.simulation.event
    assert list(between(straight, restored)) == []


def test_each_kind_of_difference_is_reported_once() -> None:
    straight, other = _run(), _run(pods=3)

    event, record, state = between(straight, other)

    assert event.startswith("after 0 restores event 14 differs: {")
    assert record.startswith("after 0 restores the record of cycle ")
    assert state == "after 0 restores the final state differs"


def test_a_missing_event_is_reported() -> None:
    straight, other = _run(), _run()
    last = other.events.pop()

    assert list(between(straight, other)) == [
        f"after 0 restores event {last.event} differs: {msgspec.json.encode(last).decode()} without, nothing with them"
    ]


@pytest.mark.parametrize("seed", ["1", "2"])
def test_a_recorded_trace_continues_identically_from_every_checkpoint(seed: str) -> None:
    assert list(restore_check.differences(decode_trace(lzma.decompress(TRACE.read_bytes())), seed=seed)) == []
