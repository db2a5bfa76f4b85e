"""Runs trials in a pool of local processes."""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from typing import Any

from schedviz.experiments.base import BaseCluster
from schedviz.experiments.measures import Measure, measures_named
from schedviz.experiments.plan import Plan
from schedviz.experiments.reading import parse_plan
from schedviz.experiments.running import run_trial
from schedviz.experiments.trial_result import TrialResult
from schedviz.experiments.trials import Trial, trials_of
from schedviz.experiments.validation import CheckedPlan


class TrialRunner:
    """Runs trials of one plan. It is built from the plan's text and the packed base, so that each process loads them once."""

    def __init__(self, plan: Plan, trials: Sequence[Trial], measures: Sequence[Measure], base: BaseCluster) -> None:
        self._plan = plan
        self._trials = trials
        self._measures = measures
        self._base = base

    @classmethod
    def of(cls, text: str, base: bytes) -> TrialRunner:
        """The runner of a validated plan."""
        read = parse_plan(text)
        return cls(read.plan, trials_of(read.plan, read.variants), measures_named(read.plan.measures), BaseCluster.unpack(base))

    def run(self, number: int, **options: Any) -> TrialResult:
        """The result of the trial with this number. Options are those of `run_trial`."""
        return run_trial(self._trials[number], self._base, self._plan, self._measures, **options)


def run_all(checked: CheckedPlan, *, jobs: int) -> Iterator[TrialResult]:
    """The results of all trials, in the order in which they end. The results do not depend on that order."""
    jobs = min(jobs, len(checked.trials))
    if jobs <= 1:
        runner = TrialRunner(checked.plan, checked.trials, checked.measures, checked.base)
        yield from (runner.run(trial.number) for trial in checked.trials)
        return
    # Fresh processes: a forked one could inherit locks of the parent's threads.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, mp_context=context, initializer=_begin, initargs=(checked.text, checked.base.pack())) as pool:
        waiting: set[Future[TrialResult]] = {pool.submit(_run, trial.number) for trial in checked.trials}
        try:
            while waiting:
                done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                yield from (future.result() for future in done)
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


#: The runner of this pool process.
_runners: list[TrialRunner] = []


def _begin(text: str, base: bytes) -> None:
    _runners[:] = [TrialRunner.of(text, base)]


def _run(number: int) -> TrialResult:
    return _runners[0].run(number)
