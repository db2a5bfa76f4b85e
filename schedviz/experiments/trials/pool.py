"""Runs trials in processes of this machine.

Starting a process takes as long as importing the engine, so the processes start before the plan is checked. They read the base from a file
once it is there.
"""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp
from typing import Self

from schedviz.experiments.inputs.base_cluster import BaseCluster
from schedviz.experiments.measures import Measure, measures_named
from schedviz.experiments.plans.code import load_code
from schedviz.experiments.plans.plan import Plan
from schedviz.experiments.plans.plan_text import parse_plan
from schedviz.experiments.plans.trials import Trial
from schedviz.experiments.plans.validation import CheckedPlan
from schedviz.experiments.trials.run_trial import never, run_trial
from schedviz.experiments.trials.trial_result import TrialResult


class TrialRunner:
    """Runs trials of one plan on one base. Processes build it once, from the plan's text and the packed base (`of`)."""

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
        return cls(read.plan, read.trials, measures_named(read.plan.measures, own), BaseCluster.unpack(base))

    def run(self, number: int, *, stop: Callable[[], bool] = never) -> TrialResult:
        """The result of the trial with this number. Raises as `run_trial.run_trial`."""
        return self.run_trial(self._trials[number], stop=stop)

    def run_trial(self, trial: Trial, *, stop: Callable[[], bool] = never) -> TrialResult:
        """The result of any trial on the plan's base. Raises as `run_trial.run_trial`."""
        return run_trial(trial, self._base, self._plan, self._measures, stop=stop)


class WorkerProcesses:
    """Processes of this machine that can run the trials of any plan. With one job there are none: the trials run in this process."""

    def __init__(self, jobs: int) -> None:
        self.folder = TemporaryDirectory(prefix="schedviz-")
        self.executor: ProcessPoolExecutor | None = None
        if jobs > 1:
            # Fresh processes: a forked one could inherit locks of the parent's threads.
            context = multiprocessing.get_context("spawn")
            self.executor = ProcessPoolExecutor(jobs, mp_context=context, initializer=_leave_interrupts)
            # A process starts with a task, and is ready when it has imported this module.
            for _ in range(jobs):
                self.executor.submit(_ready)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if self.executor is not None:
            if kind is not None:
                # Do not wait for the trials that run. Other children of this process are none of ours.
                own = set(self.executor._processes or ())  # noqa: SLF001 (terminate_workers is new in Python 3.14)
                for process in multiprocessing.active_children():
                    if process.pid in own:
                        process.terminate()
            self.executor.shutdown(cancel_futures=True)
        self.folder.cleanup()


class TrialPool:
    """Runs trials of a plan, in processes if there are some."""

    def __init__(self, checked: CheckedPlan, processes: WorkerProcesses) -> None:
        self._runner = TrialRunner(checked.plan, checked.trials, checked.measures, checked.base)
        self._executor = processes.executor
        base = Path()
        if self._executor is not None:
            # A file of its own: another plan may have run in these processes.
            base = Path(mkdtemp(prefix="plan-", dir=processes.folder.name)) / "base"
            base.write_bytes(checked.base.pack())
        self._shared = (checked.text, base, checked.folder)

    def run(self, trials: Sequence[Trial]) -> Iterator[TrialResult]:
        """The results of some trials, in the order in which they end. Their order does not change them."""
        if self._executor is None:
            yield from map(self._runner.run_trial, trials)
            return
        waiting: set[Future[TrialResult]] = {self._executor.submit(_run, *self._shared, trial) for trial in trials}
        while waiting:
            done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
            yield from (future.result() for future in done)


def run_all(checked: CheckedPlan, *, jobs: int) -> Iterator[TrialResult]:
    """The results of all trials of a plan, in the order in which they end."""
    with WorkerProcesses(min(jobs, len(checked.trials))) as processes:
        yield from TrialPool(checked, processes).run(checked.trials)


#: The runner of this worker process by the file of its base, once it has run a trial: only that of the plan that ran last.
_runners: dict[Path, TrialRunner] = {}


def _leave_interrupts() -> None:
    """Leave Ctrl-C, which a terminal sends to all processes, to the parent, which ends them."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _ready() -> None:
    """Do nothing: the process has started."""


def _run(text: str, base: Path, folder: Path, trial: Trial) -> TrialResult:
    if base not in _runners:
        _runners.clear()
        _runners[base] = TrialRunner.of(text, base.read_bytes(), code_folder=folder)
    return _runners[base].run_trial(trial)
