"""Searches with Optuna, which is an optional package. Equal plans propose equal candidates, however many processes run them."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from schedviz.experiments.errors import PlanError
from schedviz.experiments.plans.plan import Tune, TunedAxis
from schedviz.experiments.plans.trials import Trial
from schedviz.experiments.plans.validation import CheckedPlan, baseline_patch, faults_of
from schedviz.experiments.plans.variants import Variant
from schedviz.experiments.results.document import Experiment, Tuning
from schedviz.experiments.results.statistics import interval
from schedviz.experiments.trials.pool import TrialPool, WorkerProcesses
from schedviz.experiments.trials.trial_result import TrialResult
from schedviz.experiments.tuning.goal import Goal
from schedviz.experiments.tuning.space import Chosen, Space, is_whole

#: Batches of proposals in a row without a new candidate, after which the search ends.
_MAX_REPEATS = 50

Means = Mapping[str, float]


class TuneError(Exception):
    """A search cannot be run. The message has the remedy."""


class Candidate(msgspec.Struct, frozen=True):
    """A variant that was tried."""

    variant: Variant
    #: Column -> mean over the seeds; None: a trial failed.
    means: dict[str, float] | None
    #: By how much each constraint is violated; 0 or less: it holds.
    violations: list[float] = []

    @property
    def is_feasible(self) -> bool:
        """Whether all trials succeeded, and all constraints hold."""
        return self.means is not None and all(violation <= 0 for violation in self.violations)


class Found(msgspec.Struct, frozen=True):
    """What a search found, for the results."""

    experiment: Experiment
    results: list[TrialResult]
    tuning: Tuning


def search(checked: CheckedPlan, *, jobs: int, progress: Callable[[int, int], None] = lambda _done, _all: None) -> Found:
    """Run the plan's variants, then candidates. `progress` gets the numbers of variants that ended and of all.

    Raises `TuneError` without Optuna or without a `tune` in the plan, and `PlanError` if the baseline lacks a column of the goal.
    """
    tune = checked.plan.tune
    if tune is None:
        raise TuneError("the plan has no member `tune`; docs/experiments.md#tuning describes it")
    run = _Search(checked, tune, _optuna())
    with WorkerProcesses(jobs) as processes:
        for done in run.steps(TrialPool(checked, processes)):
            progress(done, len(checked.variants) + tune.candidates)
    return run.found()


def _optuna() -> Any:
    try:
        import optuna
    except ModuleNotFoundError:
        raise TuneError("tuning needs Optuna, which is not installed; run `pip install 'schedviz[tune]'`") from None
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    return optuna


class _Search:
    """One run of a search."""

    def __init__(self, checked: CheckedPlan, tune: Tune, optuna: Any) -> None:
        self._checked = checked
        self._tune = tune
        self._goal = Goal.of(tune)
        self._space = Space(tune, base=baseline_patch(checked))
        self._failed = optuna.trial.TrialState.FAIL
        with warnings.catch_warnings():
            # Constraints are marked as experimental.
            warnings.simplefilter("ignore")
            sampler = optuna.samplers.TPESampler(seed=tune.seed, constant_liar=True, constraints_func=_violations_of)
            self._study = optuna.create_study(direction="maximize" if self._goal.maximizes else "minimize", sampler=sampler)
        self._results: list[TrialResult] = []
        self._trials: list[Trial] = list(checked.trials)
        self._baseline: Means = {}
        self._candidates: dict[str, Candidate] = {}

    def steps(self, pool: TrialPool) -> Iterator[int]:
        """Run everything. After each batch the number of variants that ended comes."""
        self._results += pool.run(self._checked.trials)
        self._baseline = self._means_of_baseline()
        yield len(self._checked.variants)
        repeats = 0
        while len(self._candidates) < self._tune.candidates and repeats < _MAX_REPEATS:
            size = min(self._tune.batch, self._tune.candidates - len(self._candidates))
            asked = [self._ask() for _ in range(size)]
            new = {variant.name: variant for _, variant in asked if variant.name not in self._candidates}
            repeats = repeats + 1 if not new else 0
            for name, candidate in self._run(list(new.values()), pool):
                self._candidates[name] = candidate
            for trial, variant in asked:
                self._tell(trial, self._candidates[variant.name])
            yield len(self._checked.variants) + len(self._candidates)

    def found(self) -> Found:
        """The results of all variants, and the best candidate."""
        checked, known = self._checked, self._checked.experiment
        variants = [*checked.variants, *(candidate.variant for candidate in self._candidates.values())]
        best = self._best()
        tuning = Tuning(
            goal=self._goal.column,
            direction="maximize" if self._goal.maximizes else "minimize",
            constraints=list(self._tune.constraints),
            candidates=list(self._candidates),
            feasible=[name for name, candidate in self._candidates.items() if candidate.is_feasible],
            best="" if best is None else best.variant.name,
        )
        return Found(msgspec.structs.replace(known, variants=variants, trials=self._trials), self._results, tuning)

    def _ask(self) -> tuple[Any, Variant]:
        trial = self._study.ask()
        variant = self._space.variant({name: _suggested(trial, name, axis) for name, axis in self._space.axes.items()})
        if any(variant.name == other.name for other in self._checked.variants):
            variant = msgspec.structs.replace(variant, name=f"{variant.name} (tuned)")
        return trial, variant

    def _run(self, variants: Sequence[Variant], pool: TrialPool) -> Iterator[tuple[str, Candidate]]:
        seeds = self._checked.plan.all_seeds
        trials: dict[str, list[Trial]] = {}
        refused: dict[int, str] = {}
        for variant in variants:
            first = len(self._trials)
            trials[variant.name] = [Trial(first + index, variant, seed) for index, seed in enumerate(seeds)]
            self._trials += trials[variant.name]
            faults = faults_of(variant, self._checked)
            refused |= {trial.number: str(faults[0]) for trial in trials[variant.name] if faults}
        runnable = [trial for each in trials.values() for trial in each if trial.number not in refused]
        found = {result.number: result for result in pool.run(runnable)}
        found |= {number: TrialResult(number, error=error) for number, error in refused.items()}
        for variant in variants:
            results = [found[trial.number] for trial in trials[variant.name]]
            self._results += results
            yield variant.name, self._judged(variant, results)

    def _judged(self, variant: Variant, results: Sequence[TrialResult]) -> Candidate:
        means = self._means(results)
        if means is None or not means.keys() >= {*self._goal.columns}:
            return Candidate(variant, None)
        return Candidate(variant, means, self._goal.violations(means, self._baseline))

    def _tell(self, trial: Any, candidate: Candidate) -> None:
        if candidate.means is None:
            self._study.tell(trial, state=self._failed)
            return
        trial.set_user_attr("violations", candidate.violations)
        self._study.tell(trial, candidate.means[self._goal.column])

    def _means(self, results: Sequence[TrialResult]) -> dict[str, float] | None:
        """Column -> mean over the seeds; None: a trial failed."""
        if any(result.error for result in results):
            return None
        absent = {each.info.name: each.info.absent for each in self._checked.measures}
        means = {}
        for column in self._goal.columns:
            values = [{**result.values, **result.volatile}.get(column, absent.get(column.partition(".")[0])) for result in results]
            mean = interval([value for value in values if value is not None])
            if mean is not None and None not in values:
                means[column] = mean.mean
        return means

    def _means_of_baseline(self) -> Means:
        name = self._checked.baseline
        numbers = {trial.number for trial in self._checked.trials if trial.variant.name == name}
        results = [result for result in self._results if result.number in numbers]
        means = self._means(results)
        if means is None:
            error = next(result.error for result in results if result.error)
            raise PlanError.of("tune", f"the baseline {name!r} failed, so that nothing can be compared with it: {error}")
        for column in self._goal.columns:
            if column not in means:
                known = ", ".join(sorted(results[0].values))
                raise PlanError.of("tune", f"the baseline {name!r} has no column {column!r}; it has {known}")
        return means

    def _best(self) -> Candidate | None:
        """The best candidate that holds the constraints and is better than the baseline; of equals the first."""
        sign, column = (-1 if self._goal.maximizes else 1), self._goal.column
        candidates = [
            (sign * each.means[column], each) for each in self._candidates.values() if each.is_feasible and each.means is not None
        ]
        best = min(candidates, key=lambda entry: entry[0], default=None)
        return best[1] if best is not None and best[0] < sign * self._baseline[column] else None


def _suggested(trial: Any, name: str, axis: TunedAxis) -> Chosen:
    if axis.choices is not None:
        chosen: int = trial.suggest_categorical(name, list(range(len(axis.choices))))
        return chosen
    if is_whole(axis):
        whole: int = trial.suggest_int(name, axis.from_, axis.to, step=axis.step or 1, log=axis.log)
        return whole
    number: float = trial.suggest_float(name, axis.from_, axis.to, step=axis.step, log=axis.log)
    return number


def _violations_of(trial: Any) -> Sequence[float]:
    return tuple(trial.user_attrs.get("violations", ()))
