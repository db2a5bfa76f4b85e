"""Kills of workers and of the sweeper during an experiment: each trial is counted once, with the bytes of an undisturbed run."""

from __future__ import annotations

from pathlib import Path

import pytest

from schedviz.experiments.plans.plan_text import parse_plan
from schedviz.experiments.plans.validation import check_plan
from schedviz.experiments.trials.pool import run_all
from schedviz.sessions.experiments import trial_lease
from schedviz.sessions.experiments.reading import pack_result
from schedviz.sessions.models import Experiment, ExperimentTrial
from tests.conftest import until
from tests.faults.conftest import StartServices
from tests.faults.services import Service, Services

PLAN = """\
experiment: 1
name: under fire
base: {generate: {shape: mixed, nodes: 20, pods: 400}}
variants: [{name: a}, {name: b, percentageOfNodesToScore: 30}, {name: c, release: v1.36}]
seeds: 8
"""


#: How many workers are killed in the middle of a trial. The death of every third one is not reported, so its lease has to expire first.
KILLS = 9


@pytest.fixture(scope="module")
def undisturbed() -> dict[int, bytes]:
    """The stored result of each trial, from a run without a database."""
    checked = check_plan(parse_plan(PLAN), Path())
    return {result.number: pack_result(result) for result in run_all(checked, jobs=1)}


def test_each_trial_counts_once_with_byte_identical_results_despite_killed_workers(
    start_services: StartServices, database_url: str, undisturbed: dict[int, bytes]
) -> None:
    services = start_services(database_url, slots=(8,), experiments=2)
    status, response = services.client.request("POST", "/api/v1/experiments/", {"plan": PLAN})
    assert status == 201, response
    experiment_id = response["id"]

    for number in range(KILLS):
        kill_in_the_middle_of_a_trial(services, experiment_id, is_reported=number % 3 != 0)
    until(lambda: Experiment.objects.get(pk=experiment_id).status == Experiment.Status.FINISHED, seconds=300)

    rows = ExperimentTrial.objects.filter(experiment_id=experiment_id).order_by("number")
    assert {row.number: bytes(row.result or b"") for row in rows} == undisturbed
    assert [row.error for row in rows] == [""] * len(undisturbed)
    assert sum(row.epoch for row in rows) >= len(undisturbed) + KILLS // 2, "most kills hit a trial"


def kill_in_the_middle_of_a_trial(services: Services, experiment_id: str, *, is_reported: bool) -> None:
    """Kill a worker that runs a trial, and the sweeper, with SIGKILL, and start both again."""

    def busy() -> Service | None:
        running = ExperimentTrial.objects.filter(experiment_id=experiment_id, status=ExperimentTrial.Status.RUNNING)
        owners = list(running.values_list("lease_owner", flat=True))
        return next(
            (experiment for experiment in services.experiments if any(owner.startswith(f"{experiment.owner}.") for owner in owners)), None
        )

    victim = until(busy, seconds=120)
    owner = victim.owner
    for each in (victim, services.sweeper):
        each.kill()
        each.start()
    if is_reported:
        # A supervisor reports which of its processes are dead (`schedviz up`).
        trial_lease.clear_owner(owner, killed_externally=True)
