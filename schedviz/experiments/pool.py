"""Runs trials in processes of this machine."""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from pathlib import Path
from typing import Any

from schedviz.experiments.base import BaseCluster
from schedviz.experiments.code import load_code
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
    def of(cls, text: str, base: bytes, *, code_folder: Path | None = None) -> TrialRunner:
        """The runner of a plan that was checked. `code_folder` has the code of the plan, if it may run."""
        read = parse_plan(text)
        own = load_code(read.plan.code, code_folder or Path(), is_trusted=code_folder is not None)
        return cls(read.plan, trials_of(read.plan, read.variants), measures_named(read.plan.measures, own), BaseCluster.unpack(base))

    def run(self, number: int, **options: Any) -> TrialResult:
        """The result of the trial with this number. Options are those of `run_trial`."""
        return run_trial(self._trials[number], self._base, self._plan, self._measures, **options)


def run_all(checked: CheckedPlan, *, jobs: int) -> Iterator[TrialResult]:
    """The results of all trials, in the order in which they end. Their order does not change them."""
    jobs = min(jobs, len(checked.trials))
    if jobs <= 1:
        runner = TrialRunner(checked.plan, checked.trials, checked.measures, checked.base)
        yield from (runner.run(trial.number) for trial in checked.trials)
        return
    # Fresh processes: a forked one could inherit locks of the parent's threads.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(
        jobs, mp_context=context, initializer=_begin, initargs=(checked.text, checked.base.pack(), checked.folder)
    ) as pool:
        waiting: set[Future[TrialResult]] = {pool.submit(_run, trial.number) for trial in checked.trials}
        try:
            while waiting:
                done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                yield from (future.result() for future in done)
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


#: The runner of this process of a pool.
_runners: list[TrialRunner] = []


def _begin(text: str, base: bytes, folder: Path) -> None:
    _runners[:] = [TrialRunner.of(text, base, code_folder=folder)]


def _run(number: int) -> TrialResult:
    return _runners[0].run(number)
