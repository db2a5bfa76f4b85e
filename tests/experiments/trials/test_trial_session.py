"""The session file of a trial ends in the trial's final state."""

from __future__ import annotations

import pytest

from schedviz.cli.run_files import run_of_session_file
from schedviz.experiments.trials.trial_session import trial_session
from schedviz.trace.comparing.placements import places
from tests.experiments.small_plans import checked, run

PLAN = "base: {generate: {shape: preempt}}\nseeds: [7]"


TIMED = "base: {generate: {shape: mixed, nodes: 4, pods: 40}}\nworkload: {arrivals: {rate: 2}, lifetimes: {mean: 900}}"


@pytest.mark.parametrize("text", [PLAN, TIMED])
def test_the_session_file_reproduces_the_placements_of_the_trial(text: str) -> None:
    plan = checked(text)
    found = run_of_session_file("trial", trial_session(plan.trials[0], plan.base, plan.plan))
    view = found.view
    placed = {pod: place.node for pod, place in places(view).items() if place.node}
    (result,) = run(text)
    there = {pod: node for pod, node in placed.items() if pod in result.placements}
    assert there.items() <= result.placements.items()
    assert len(there) == result.series["placed"].values[-1]
