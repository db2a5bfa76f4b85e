"""A trial as a session file has the end of the trial."""

from __future__ import annotations

from schedviz.cli.run_files import run_of_session_file
from schedviz.experiments.trial_session import trial_session
from schedviz.trace.comparing.placements import places
from tests.experiments.plans import checked, run

PLAN = "base: {generate: {shape: preempt}}\nseeds: [7]"


def test_the_file_leads_to_the_placements_of_the_trial() -> None:
    plan = checked(PLAN)
    outcome = run_of_session_file("trial", trial_session(plan.trials[0], plan.base, plan.plan))
    view = outcome.view
    placed = {pod: place.node for pod, place in places(view).items() if place.node}
    (result,) = run(PLAN)
    assert {pod: node for pod, node in placed.items() if pod in result.placements} == result.placements
