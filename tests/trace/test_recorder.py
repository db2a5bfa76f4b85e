from __future__ import annotations

from pathlib import Path

import pytest
from mypy import api

from schedviz.trace.events import BindingReleased, ClockAdvanced, CycleStarted
from schedviz.trace.recorder import Recorder

CALLS = """
from schedviz.trace.events import CycleStarted
from schedviz.trace.recorder import Recorder

recorder = Recorder()
recorder.record(CycleStarted, pod="default/p", attempts=1)
recorder.record_in_cycle(3, CycleStarted, pod="default/p")
recorder.record(CycleStarted)
recorder.record(CycleStarted, pod=1)
recorder.record_in_cycle(3, CycleStarted, pod="default/p", node="n1")
"""


def test_events_have_a_number_the_clock_and_the_running_cycle() -> None:
    recorder = Recorder()
    recorder.event, recorder.at, recorder.cycle = 4, 1.5, 2
    recorder.record(CycleStarted, pod="default/p")
    recorder.record_in_cycle(1, BindingReleased, pod="default/q")
    assert recorder.drain() == [
        CycleStarted(event=5, at=1.5, cycle=2, pod="default/p"),
        BindingReleased(event=6, at=1.5, cycle=1, pod="default/q"),
    ]
    assert recorder.drain() == []


def test_a_silent_recorder_assigns_no_event_numbers() -> None:
    recorder = Recorder()
    recorder.silent = True
    recorder.record(ClockAdvanced)
    recorder.record_in_cycle(1, ClockAdvanced)
    assert (recorder.event, recorder.drain()) == (0, [])


def test_a_missing_member_is_rejected() -> None:
    with pytest.raises(TypeError, match="pod"):
        Recorder().record(CycleStarted)  # type: ignore[call-arg]


@pytest.mark.slow
def test_mypy_checks_the_members_of_each_event(tmp_path: Path) -> None:
    module = tmp_path / "calls.py"
    module.write_text(CALLS)
    found, errors, _ = api.run(["--config-file=", "--strict", "--follow-imports=silent", f"--cache-dir={tmp_path}", str(module)])
    assert [line.split(":")[1] for line in found.splitlines() if ": error:" in line] == ["8", "9", "10"], found + errors
