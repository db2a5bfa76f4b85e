"""The results of an experiment as one document: everything that a table, a report or another run needs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

import msgspec

from schedviz import __version__
from schedviz.experiments.comparing import Moves, moves_between
from schedviz.experiments.measure_info import MeasureInfo
from schedviz.experiments.plan import Plan
from schedviz.experiments.statistics import Interval, interval
from schedviz.experiments.trial_result import TrialResult
from schedviz.experiments.trials import Trial
from schedviz.experiments.variants import Variant

FORMAT: Final = "schedviz-experiment-results/1"


class Column(msgspec.Struct, frozen=True, rename="camel"):
    """A column of the results: one number for each trial."""

    #: `measure`, or `measure.part`.
    key: str
    measure: str
    title: str
    unit: str
    better: str
    is_volatile: bool = False


class VariantResult(msgspec.Struct, frozen=True, rename="camel"):
    """A variant with the means over its seeds."""

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


class TrialRow(msgspec.Struct, frozen=True, rename="camel"):
    """A trial with its values."""

    number: int
    variant: str
    seed: int | None
    values: dict[str, float]
    error: str = ""
    traceback: str = ""
    cycles: int = 0
    clock_seconds: float = 0.0
    ended: str = ""


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


def results_of(experiment: Experiment, trial_results: Iterable[TrialResult], *, volatile: bool = True) -> Results:
    """The results document. Trials without a result are left out; without `volatile`, so are columns in which equal trials can differ."""
    by_number = {result.number: result for result in trial_results}
    rows = [_row(trial, by_number[trial.number], volatile=volatile) for trial in experiment.trials if trial.number in by_number]
    measures = [measure for measure in experiment.measures if volatile or not measure.is_volatile]
    columns = _columns(measures, rows)
    rows = [_with_absent(row, measures, columns) for row in rows]
    baseline = experiment.plan.baseline or experiment.variants[0].name
    placements = {
        (trial.variant.name, trial.seed): by_number[trial.number].placements
        for trial in experiment.trials
        if trial.number in by_number and not by_number[trial.number].error
    }
    return Results(
        FORMAT,
        __version__,
        experiment.plan.name,
        experiment.plan.question,
        experiment.text,
        baseline,
        experiment.nodes,
        experiment.pods,
        columns,
        [_variant(variant, rows, columns, baseline) for variant in experiment.variants],
        rows,
        moves_between([variant.name for variant in experiment.variants], placements),
    )


def encode_results(results: Results) -> bytes:
    """The document as JSON, with a line for each member."""
    return msgspec.json.format(msgspec.json.encode(results), indent=1) + b"\n"


def decode_results(data: bytes) -> Results:
    """The document of this JSON. Raises `msgspec.ValidationError`, `msgspec.DecodeError`."""
    return msgspec.json.decode(data, type=Results)


def _row(trial: Trial, result: TrialResult, *, volatile: bool) -> TrialRow:
    return TrialRow(
        trial.number,
        trial.variant.name,
        trial.seed,
        {**result.values, **(result.volatile if volatile else {})},
        result.error,
        result.traceback,
        result.cycles,
        result.clock_seconds,
        result.ended,
    )


def _columns(measures: Sequence[MeasureInfo], rows: Sequence[TrialRow]) -> list[Column]:
    """The columns by measure. Within a measure they have the order of the trials' values; reasons are sorted."""
    columns: dict[str, Column] = {}
    for measure in measures:
        keys = dict.fromkeys(key for row in rows for key in row.values if _measure_of(key) == measure.name)
        for key in sorted(keys) if measure.absent is not None else keys:
            columns[key] = Column(key, measure.name, measure.title, measure.unit, measure.better, measure.is_volatile)
    return list(columns.values())


def _measure_of(key: str) -> str:
    return key.partition(".")[0]


def _with_absent(row: TrialRow, measures: Sequence[MeasureInfo], columns: Sequence[Column]) -> TrialRow:
    """The row with the default values of columns that only other trials have, in the order of the columns."""
    if row.error:
        return row
    absent = {measure.name: measure.absent for measure in measures if measure.absent is not None}
    values = {}
    for column in columns:
        value = row.values.get(column.key, absent.get(column.measure))
        if value is not None:
            values[column.key] = value
    return msgspec.structs.replace(row, values=values)


def _variant(variant: Variant, rows: Sequence[TrialRow], columns: Sequence[Column], baseline: str) -> VariantResult:
    own = {row.seed: row for row in rows if row.variant == variant.name}
    others = {} if variant.name == baseline else {row.seed: row for row in rows if row.variant == baseline}
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
    changes = msgspec.to_builtins(variant.patch)
    return VariantResult(variant.name, variant.note, variant.axes, changes, values, differences, len(errors), errors[0] if errors else "")
