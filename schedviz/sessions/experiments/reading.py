"""The state and the results of an experiment. Runs in the web server, without the engine."""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import lru_cache
from typing import Any
from uuid import UUID

import msgspec
import zstandard
from django.db.models import Avg, Count, Q

from schedviz.experiments.measure_info import MeasureInfo
from schedviz.experiments.plan import Plan
from schedviz.experiments.plan_text import parse_plan
from schedviz.experiments.results import Experiment as Described
from schedviz.experiments.results import Results, plotted_trials, results_of
from schedviz.experiments.trial_result import TrialResult
from schedviz.experiments.trials import Trial
from schedviz.experiments.variants import Variant
from schedviz.sessions.models import Experiment, ExperimentTrial
from schedviz.sessions.queries.keyset import read_in_batches

#: How many results are read at a time, and how many with their details.
_BATCH_ROWS = 1000
_DETAIL_BATCH_ROWS = 50
#: Members of a TrialResult that are stored apart, because they are large.
_DETAIL = ("placements", "node_shares", "series", "series_axis")


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


def _pack(result: TrialResult) -> bytes:
    return zstandard.ZstdCompressor(level=3).compress(msgspec.json.encode(result))


def unpack_result(data: bytes) -> TrialResult:
    """The result of these bytes."""
    return _unpacker()(data)


def _unpacker() -> Callable[[bytes], TrialResult]:
    """`unpack_result` for many results."""
    decompress, decode = zstandard.ZstdDecompressor().decompress, msgspec.json.Decoder(TrialResult).decode
    return lambda data: decode(decompress(data))


def results(experiment: Experiment, *, volatile: bool = True, means: bool = True, series: bool = True) -> Results:
    """The results of the trials that are done. The options are those of `results_of`; with `series`, all details are read."""
    described = _described(experiment)
    rows = ExperimentTrial.objects.filter(experiment=experiment, status=ExperimentTrial.Status.DONE)
    drawn = {trial.number for trial in plotted_trials(described)}
    whole = rows if series else rows.filter(number__in=drawn)
    details = {number: data for number, data in read_in_batches(whole, "number", "detail", batch_size=_DETAIL_BATCH_ROWS) if data}
    unpack = _unpacker()
    found = [
        # Tracebacks contain paths of the server, so users do not see them.
        msgspec.structs.replace(
            unpack(bytes(data)), volatile=numbers, traceback="", **_detail(details.get(number), unpack, has_placements=number in drawn)
        )
        for number, data, numbers in read_in_batches(rows, "number", "result", "volatile", batch_size=_BATCH_ROWS)
    ]
    return results_of(described, found, volatile=volatile, means=means, series=series)


def _described(experiment: Experiment) -> Described:
    plan, variants, trials = _expanded(experiment.plan)
    measures = msgspec.convert(experiment.measures, list[MeasureInfo])
    return Described(experiment.plan, plan, variants, trials, measures, experiment.nodes, experiment.pods)


@lru_cache(maxsize=4)
def _expanded(text: str) -> tuple[Plan, list[Variant], list[Trial]]:
    """A stored plan with its variants and trials. Parsing a plan of a thousand variants takes half a second."""
    read = parse_plan(text)
    return read.plan, read.variants, read.trials


def _detail(data: bytes | None, unpack: Callable[[bytes], TrialResult], *, has_placements: bool) -> dict[str, Any]:
    """The members of `_DETAIL` in these bytes. The placements of many trials would fill the memory."""
    if data is None:
        return {}
    result = unpack(bytes(data))
    return {name: getattr(result, name) for name in _DETAIL if has_placements or name != "placements"}
