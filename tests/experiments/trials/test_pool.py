"""Processes that run trials serve one plan after another, and end without affecting other children of the program."""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Iterable

import pytest

from schedviz.experiments.trials.pool import TrialPool, WorkerProcesses, run_all
from schedviz.experiments.trials.trial_result import TrialResult
from tests.experiments.small_plans import checked

pytestmark = pytest.mark.slow

PLAN = "base: {{generate: {{shape: basic, nodes: {nodes}, pods: 6}}}}\nseeds: 6"


def placements(results: Iterable[TrialResult]) -> dict[int, dict[str, str]]:
    return {result.number: result.placements for result in results}


def test_worker_processes_can_run_the_trials_of_a_second_plan() -> None:
    plans = [checked(PLAN.format(nodes=nodes)) for nodes in (2, 3)]
    with WorkerProcesses(2) as processes:
        results = [placements(TrialPool(plan, processes).run(plan.trials)) for plan in plans]

    assert results == [placements(run_all(plan, jobs=1)) for plan in plans]
    assert results[0] != results[1]


def test_an_interrupted_pool_ends_only_its_own_processes() -> None:
    other = multiprocessing.get_context("spawn").Process(target=time.sleep, args=(60,), daemon=True)
    other.start()
    try:
        with pytest.raises(KeyboardInterrupt), WorkerProcesses(2):
            raise KeyboardInterrupt
        assert other.is_alive()
        assert multiprocessing.active_children() == [other]
    finally:
        other.terminate()
        other.join()
