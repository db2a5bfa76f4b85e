"""The results of an experiment as one document: everything that a table, a report or another run needs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any, Final, Literal

import msgspec
from msgspec import UNSET, UnsetType

from schedviz import __version__
from schedviz.experiments.measure_info import MeasureInfo
from schedviz.experiments.plans.plan import Plan
from schedviz.experiments.plans.trials import Trial
from schedviz.experiments.plans.variants import Variant
from schedviz.experiments.results.comparing import MAX_VARIANTS, Moves, Placements, moves_between
from schedviz.experiments.results.courses import Course, courses_of, mean_shares
from schedviz.experiments.results.statistics import Interval, interval
from schedviz.experiments.trials.series import Series, SeriesAxis, SeriesInfo, infos_of, thinned
from schedviz.experiments.trials.trial_result import TrialResult

FORMAT: Final = "schedviz-experiment-results/1"
#: Moves, node shares and courses are means over this many seeds at most: they need whole results, which are large.
MAX_SHOWN_SEEDS: Final = 5
#: Placements in all whole results that are read for one document.
MAX_PLACEMENTS: Final = 2_000_000
#: The points of all series of a document. Those of many trials are thinned further, so that a page can load them.
_MAX_POINTS: Final = 400_000


class Column(msgspec.Struct, frozen=True, rename="camel"):
    """A column of the results: one number for each trial."""

    #: `measure`, or `measure.part`.
    key: str
    measure: str
    title: str
    unit: str
    better: str
    is_volatile: bool = False


class VariantResult(msgspec.Struct, frozen=True, rename="camel", gc=False):
    """A variant with its numbers over its seeds."""

    name: str
    note: str
    #: Axis of the grid -> the name of its value.
    axes: dict[str, str]
    #: What it changes, as in a plan.
    changes: dict[str, Any]
    #: Column -> mean over the seeds.
    values: dict[str, Interval]
    #: Column -> difference to the baseline, paired by seed. Empty for the baseline.
    differences: dict[str, Interval]
    #: How many of its trials failed, and the first error.
    failed: int = 0
    error: str = ""
    #: Resource -> requested shares of the nodes at the end, the largest first. Empty if there are too many variants, as `courses`.
    node_shares: dict[str, list[float]] = {}
    #: Series -> its numbers over time.
    courses: dict[str, Course] = {}


class TrialRow(msgspec.Struct, frozen=True, rename="camel", gc=False):
    """A trial with its numbers."""

    number: int
    variant: str
    seed: int | None
    values: dict[str, float]
    error: str = ""
    traceback: str = ""
    cycles: int = 0
    clock_seconds: float = 0.0
    ended: str = ""
    #: Key of a series -> its points. Empty if the trial failed, or series were not requested.
    series: dict[str, Series] = {}
    series_axis: SeriesAxis | Literal[""] = ""


class Tuning(msgspec.Struct, frozen=True, rename="camel"):
    """A search, whose candidates are variants after those of the plan."""

    #: The column that was minimized or maximized.
    goal: str
    direction: str
    constraints: list[str]
    #: Names of variants, in the order in which they were tried.
    candidates: list[str]
    #: Those that hold all constraints.
    feasible: list[str]
    #: The best of those; "": none is better than the baseline.
    best: str


class Results(msgspec.Struct, frozen=True, rename="camel"):
    """An experiment's results. Equal plans have equal results in equal versions, except for volatile columns."""

    format: str
    schedviz: str
    name: str
    question: str
    #: The plan as it was written.
    plan: str
    baseline: str
    nodes: int
    pods: int
    columns: list[Column]
    variants: list[VariantResult]
    trials: list[TrialRow]
    moves: Moves | None = None
    #: What `at` of the courses counts: "seconds" of virtual time, "pods" that had a first attempt, or "" without courses.
    courses_axis: str = ""
    #: The series that trials have.
    series: list[SeriesInfo] = []
    #: Unset: the plan was run without a search.
    tuning: Tuning | UnsetType = UNSET

    def variant(self, name: str) -> VariantResult:
        """A variant by name."""
        return next(variant for variant in self.variants if variant.name == name)


class Experiment(msgspec.Struct, frozen=True):
    """Everything about an experiment except the results of its trials."""

    text: str
    plan: Plan
    variants: Sequence[Variant]
    trials: Sequence[Trial]
    measures: Sequence[MeasureInfo]
    nodes: int
    pods: int

    @property
    def baseline(self) -> str:
        """The name of the variant with which the others are compared."""
        return self.plan.baseline or self.variants[0].name


def plotted_trials(experiment: Experiment) -> list[Trial]:
    """The trials whose whole results are needed: those of the first seeds, if there are not too many variants and placements."""
    if len(experiment.variants) > MAX_VARIANTS:
        return []
    fitting = MAX_PLACEMENTS // max(1, experiment.pods * len(experiment.variants))
    seeds = experiment.plan.all_seeds[: min(MAX_SHOWN_SEEDS, fitting)]
    return [trial for trial in experiment.trials if trial.seed in seeds]


def results_of(
    experiment: Experiment,
    found: Iterable[TrialResult],
    *,
    volatile: bool = True,
    means: bool = True,
    series: bool = True,
    tuning: Tuning | UnsetType = UNSET,
    earlier: Results | None = None,
    placements: Placements | None = None,
) -> Results:
    """The document. Trials without a result are left out; without `volatile`, so are columns that equal trials can differ in.

    Without `means`, variants have no values and differences, for readers that calculate them; without `series`, trials have none.
    `earlier` has the moves, node shares and courses of variants whose trials were taken from it. `placements` are those of the trials that
    are drawn, if their results have none.
    """
    by_number = {result.number: result for result in found}
    measures = [each for each in experiment.measures if volatile or not each.is_volatile]
    points = points_of_a_series(sum(len(result.series) for result in by_number.values())) if series else 0
    rows = [
        _row(trial, by_number[trial.number], volatile=volatile, points=points) for trial in experiment.trials if trial.number in by_number
    ]
    columns = _columns(measures, rows)
    rows = [_with_absent(row, measures, columns) for row in rows]
    drawn = _drawn_results(experiment, by_number)
    return Results(
        format=FORMAT,
        schedviz=__version__,
        name=experiment.plan.name,
        question=experiment.plan.question,
        plan=experiment.text,
        baseline=experiment.baseline,
        nodes=experiment.nodes,
        pods=experiment.pods,
        columns=columns,
        variants=_variants(experiment, rows, columns if means else [], drawn, earlier),
        trials=rows,
        moves=_moves(experiment, _placements(drawn) if placements is None else placements, earlier),
        courses_axis=next((result.series_axis for _, result in drawn if result.series), ""),
        series=infos_of([key for row in rows for key in row.series]),
        tuning=tuning,
    )


def _drawn_results(experiment: Experiment, by_number: Mapping[int, TrialResult]) -> list[tuple[Trial, TrialResult]]:
    """The whole results of the trials that are drawn, without those that failed or have none yet."""
    pairs = [(trial, by_number[trial.number]) for trial in plotted_trials(experiment) if trial.number in by_number]
    return [(trial, result) for trial, result in pairs if not result.error]


def _placements(drawn: Iterable[tuple[Trial, TrialResult]]) -> Placements:
    placements = Placements()
    for trial, result in drawn:
        if result.placements is not None:
            placements.add(trial.variant.name, trial.seed, result.placements)
    return placements


def _moves(experiment: Experiment, placements: Placements, earlier: Results | None) -> Moves | None:
    return moves_between([variant.name for variant in experiment.variants], placements, None if earlier is None else earlier.moves)


def _variants(
    experiment: Experiment,
    rows: Sequence[TrialRow],
    columns: Sequence[Column],
    drawn: Sequence[tuple[Trial, TrialResult]],
    earlier: Results | None,
) -> list[VariantResult]:
    rows_of: dict[str, list[TrialRow]] = {variant.name: [] for variant in experiment.variants}
    for row in rows:
        rows_of[row.variant].append(row)
    whole: dict[str, list[TrialResult]] = {}
    for trial, result in drawn:
        whole.setdefault(trial.variant.name, []).append(result)
    drawn_before = {} if earlier is None else {variant.name: variant for variant in earlier.variants}
    baseline = experiment.baseline
    return [
        _variant(
            variant,
            rows_of[variant.name],
            columns,
            [] if variant.name == baseline else rows_of[baseline],
            _drawn(whole.get(variant.name, []), drawn_before.get(variant.name)),
        )
        for variant in experiment.variants
    ]


def _drawn(whole: Sequence[TrialResult], before: VariantResult | None) -> tuple[dict[str, list[float]], dict[str, Course]]:
    """The node shares and courses of a variant; those of the earlier document, if one of the results is not whole."""
    if before is not None and any(result.placements is None for result in whole):
        return before.node_shares, before.courses
    return mean_shares(whole), courses_of(whole)


def encode_results(results: Results) -> bytes:
    """The document as JSON, with a line for each member."""
    return msgspec.json.format(msgspec.json.encode(results), indent=1) + b"\n"


def decode_results(data: bytes) -> Results:
    """The document of this JSON. Raises `msgspec.ValidationError`, `msgspec.DecodeError`."""
    return msgspec.json.decode(data, type=Results)


def points_of_a_series(count: int) -> int:
    """How many points each series has at most in a document with this many series."""
    return max(_MAX_POINTS // max(count, 1), 2)


def _row(trial: Trial, result: TrialResult, *, volatile: bool, points: int) -> TrialRow:
    return TrialRow(
        number=trial.number,
        variant=trial.variant.name,
        seed=trial.seed,
        values={**result.values, **(result.volatile if volatile else {})},
        error=result.error,
        traceback=result.traceback,
        cycles=result.cycles,
        clock_seconds=result.clock_seconds,
        ended=result.ended,
        series={key: thinned(each, points) for key, each in result.series.items()} if points else {},
        series_axis=result.series_axis if points else "",
    )


def _columns(measures: Sequence[MeasureInfo], rows: Sequence[TrialRow]) -> list[Column]:
    """The columns by measure; those of one measure in the order in which trials have them, and reasons sorted."""
    keys_of: dict[str, list[str]] = {}
    for key in dict.fromkeys(chain.from_iterable(row.values for row in rows)):
        keys_of.setdefault(_measure_of(key), []).append(key)
    found: dict[str, Column] = {}
    for each in measures:
        keys = keys_of.get(each.name, [])
        for key in sorted(keys) if each.absent is not None else keys:
            found[key] = Column(key, each.name, each.title, each.unit, each.better, each.is_volatile)
    return list(found.values())


def _measure_of(key: str) -> str:
    return key.partition(".")[0]


def _with_absent(row: TrialRow, measures: Sequence[MeasureInfo], columns: Sequence[Column]) -> TrialRow:
    """The row with the default values of columns that only other trials have, in the order of the columns."""
    if row.error:
        return row
    if list(row.values) == [column.key for column in columns]:
        return row
    absent = {each.name: each.absent for each in measures if each.absent is not None}
    values = {}
    for column in columns:
        value = row.values.get(column.key, absent.get(column.measure))
        if value is not None:
            values[column.key] = value
    return msgspec.structs.replace(row, values=values)


def _variant(
    variant: Variant,
    rows: Sequence[TrialRow],
    columns: Sequence[Column],
    baseline: Sequence[TrialRow],
    drawn: tuple[dict[str, list[float]], dict[str, Course]],
) -> VariantResult:
    """A variant with its numbers. `baseline`: the rows of the baseline, none for itself; `drawn`: its node shares and courses."""
    own = {row.seed: row for row in rows}
    others = {row.seed: row for row in baseline}
    values, differences = {}, {}
    for column in columns:
        key = column.key
        mean = interval([row.values[key] for row in own.values() if key in row.values])
        if mean is not None:
            values[key] = mean
        pairs = [
            (row.values[key], others[seed].values[key])
            for seed, row in own.items()
            if seed in others and key in row.values and key in others[seed].values
        ]
        difference = interval([a - b for a, b in pairs])
        if difference is not None:
            differences[key] = difference
    errors = [row.error for row in own.values() if row.error]
    node_shares, courses = drawn
    return VariantResult(
        name=variant.name,
        note=variant.note,
        axes=variant.axes,
        changes=msgspec.to_builtins(variant.patch),
        values=values,
        differences=differences,
        failed=len(errors),
        error=errors[0] if errors else "",
        node_shares=node_shares,
        courses=courses,
    )
