"""The state and the results of an experiment. Runs in the web server, without the engine."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from functools import lru_cache
from typing import Any
from uuid import UUID

import msgspec
import zstandard
from django.db.models import Avg, Count, Q, QuerySet

from schedviz.experiments.measure_info import MeasureInfo
from schedviz.experiments.plans.plan import Plan
from schedviz.experiments.plans.plan_text import parse_plan
from schedviz.experiments.plans.trials import Trial
from schedviz.experiments.plans.variants import Variant
from schedviz.experiments.results.comparing import Placements
from schedviz.experiments.results.document import Experiment as Described
from schedviz.experiments.results.document import Results, plotted_trials, points_of_a_series, results_of
from schedviz.experiments.trials.series import thinned
from schedviz.experiments.trials.trial_result import TrialResult
from schedviz.sessions.models import Experiment, ExperimentTrial
from schedviz.sessions.queries.keyset import read_in_batches

#: How many results are read at a time, and how many with their details.
_BATCH_ROWS = 1000
_DETAIL_BATCH_ROWS = 50
#: Members of a TrialResult that are stored apart, because they are large.
_DETAIL = ("placements", "node_shares", "series", "series_axis")


class _SeriesKeys(msgspec.Struct, frozen=True):
    """The series of a trial, without their points."""

    series: dict[str, msgspec.Raw] = {}


class Progress(msgspec.Struct, frozen=True):
    """The progress of an experiment."""

    done: int = 0
    failed: int = 0
    running: int = 0
    #: Mean wall time of a finished trial.
    seconds_per_trial: float | None = None

    def trial_seconds(self, experiment: Experiment) -> float | None:
        """The time of a trial: the mean of the finished ones, or an estimate; None if nothing is known yet."""
        return experiment.estimate if self.seconds_per_trial is None else self.seconds_per_trial

    def remaining_seconds(self, experiment: Experiment) -> float | None:
        """The estimated time until the last trial is done; None if nothing is known yet, or the experiment is not running."""
        seconds = self.trial_seconds(experiment)
        if experiment.status != Experiment.Status.RUNNING or seconds is None:
            return None
        return seconds * (experiment.trials - self.done) / max(self.running, 1)


def progress_of(ids: Collection[UUID]) -> dict[UUID, Progress]:
    """The progress of several experiments, with one query."""
    done, running = ExperimentTrial.Status.DONE, ExperimentTrial.Status.RUNNING
    rows = ExperimentTrial.objects.filter(experiment_id__in=ids).values("experiment_id")
    counted = rows.annotate(
        done=Count("pk", filter=Q(status=done)),
        failed=Count("pk", filter=Q(status=done) & ~Q(error="")),
        running=Count("pk", filter=Q(status=running)),
        mean=Avg("seconds", filter=Q(status=done)),
    )
    return {row["experiment_id"]: Progress(row["done"], row["failed"], row["running"], row["mean"]) for row in counted}


def pack_result(result: TrialResult) -> bytes:
    """The stored form of a result, without its volatile numbers and its details. Equal results have equal bytes."""
    empty: dict[str, Any] = {name: getattr(TrialResult(0), name) for name in _DETAIL}
    return _pack(msgspec.structs.replace(result, volatile={}, **empty))


def pack_detail(result: TrialResult) -> bytes:
    """The stored form of the details of a result. Equal results have equal bytes."""
    return _pack(TrialResult(result.number, **{name: getattr(result, name) for name in _DETAIL}))


def _count_series(details: QuerySet[ExperimentTrial]) -> int:
    """How many series the trials have together."""
    decompress, decode = zstandard.ZstdDecompressor().decompress, msgspec.json.Decoder(_SeriesKeys).decode
    stored = read_in_batches(details, "number", "detail", batch_size=_DETAIL_BATCH_ROWS)
    return sum(len(decode(decompress(bytes(detail))).series) for _, detail in stored if detail)


def _pack(result: TrialResult) -> bytes:
    return zstandard.ZstdCompressor(level=3).compress(msgspec.json.encode(result))


def unpack_result(data: bytes) -> TrialResult:
    """The result of these bytes."""
    return _unpacker()(data)


def _unpacker() -> Callable[[bytes], TrialResult]:
    """`unpack_result` for many results."""
    decompress, decode = zstandard.ZstdDecompressor().decompress, msgspec.json.Decoder(TrialResult).decode
    return lambda data: decode(decompress(data))


def results(experiment: Experiment, *, volatile: bool = True, means: bool = True, series: bool = True, drawn: bool = True) -> Results:
    """The results of the trials that are done. The options are those of `results_of`; without `drawn`, moves, node shares and courses are
    left out. With `series` or `drawn`, details are read, one trial after the other: all points of thousands of trials take a gigabyte.
    """
    described = _described(experiment)
    rows = ExperimentTrial.objects.filter(experiment=experiment, status=ExperimentTrial.Status.DONE)
    plotted = {trial.number: trial for trial in plotted_trials(described)} if drawn else {}
    points = points_of_a_series(_count_series(rows)) if series else 0
    placements, unpack = Placements(), _unpacker()
    found = []
    for number, data, numbers, detail in _stored(rows, rows if series else rows.filter(number__in=plotted)):
        # Tracebacks contain paths of the server, so users do not see them.
        result = msgspec.structs.replace(unpack(data), volatile=numbers, traceback="")
        if detail is not None:
            details = unpack(detail)
            trial = plotted.get(number)
            if trial is not None and not result.error:
                placements.add(trial.variant.name, trial.seed, details.placements or {})
            # Series of trials that are plotted are thinned after that.
            kept = details.series if trial is not None else {key: thinned(each, points) for key, each in details.series.items()}
            shares = details.node_shares if trial is not None else {}
            result = msgspec.structs.replace(result, node_shares=shares, series=kept, series_axis=details.series_axis)
        found.append(result)
    return results_of(described, found, volatile=volatile, means=means, series=series, placements=placements)


def _stored(
    rows: QuerySet[ExperimentTrial], detailed: QuerySet[ExperimentTrial]
) -> Iterator[tuple[int, bytes, dict[str, float], bytes | None]]:
    """The number, result, volatile numbers, and, of those `detailed`, details of trials, by number."""
    details = read_in_batches(detailed, "number", "detail", batch_size=_DETAIL_BATCH_ROWS)
    at, detail = next(details, (None, None))
    for number, data, numbers in read_in_batches(rows, "number", "result", "volatile", batch_size=_BATCH_ROWS):
        while at is not None and at < number:
            at, detail = next(details, (None, None))
        yield number, bytes(data), numbers, bytes(detail) if at == number and detail else None


def _described(experiment: Experiment) -> Described:
    plan, variants, trials = _expanded(experiment.plan)
    measures = msgspec.convert(experiment.measures, list[MeasureInfo])
    return Described(experiment.plan, plan, variants, trials, measures, experiment.nodes, experiment.pods)


@lru_cache(maxsize=4)
def _expanded(text: str) -> tuple[Plan, list[Variant], list[Trial]]:
    """A stored plan with its variants and trials. Parsing a plan of a thousand variants takes half a second."""
    read = parse_plan(text)
    return read.plan, read.variants, read.trials
