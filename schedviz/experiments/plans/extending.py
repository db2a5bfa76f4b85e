"""Adds variants to a plan whose trials have run: which results stay valid, and which trials are new."""

from __future__ import annotations

from typing import Final

import msgspec

from schedviz import __version__
from schedviz.experiments.errors import Fault, PlanError
from schedviz.experiments.plans.plan import Plan
from schedviz.experiments.plans.plan_text import PlanText, parse_plan
from schedviz.experiments.plans.trials import Trial
from schedviz.experiments.plans.variants import combine
from schedviz.experiments.results.document import Results, TrialRow
from schedviz.experiments.trials.trial_result import TrialResult

#: Members of a plan that may change: they add trials, or change no result.
_MAY_CHANGE: Final = frozenset({"name", "question", "common", "variants", "grid", "seeds", "baseline"})


class ResultsNotReusable(Exception):
    """Results of an earlier run are not those of the plan's trials. The text has the reason."""


def validate_added(old: PlanText, new: PlanText) -> None:
    """Raise `PlanError` unless the new plan has the trials of the old one, with the same numbers, and then others."""
    faults = [Fault(name, "it cannot change after trials have run; create another experiment") for name in _changed(old.plan, new.plan)]
    if faults:
        raise new.located(PlanError(faults))
    for before, after in zip(old.trials, new.trials, strict=False):
        if _key(before) != _key(after):
            message = f"trial {before.number} would be {after.name!r}, and was {before.name!r}; add variants after those that have run"
            raise new.located(PlanError.of(after.variant.path, message, variant=after.variant.name))
    if len(new.trials) <= len(old.trials):
        raise new.located(PlanError.of("variants", f"the plan adds no trial to the {len(old.trials):,} that it had"))


def reusable(earlier: Results, new: PlanText) -> dict[int, TrialResult]:
    """The results of the new plan's trials that an earlier run has, by their numbers. Their placements are unknown.

    Raises `ResultsNotReusable` if the plans differ in more than their variants and seeds. That the base and the plugins are still the same
    has to be checked by running one of the trials again (`require_same`).
    """
    if earlier.schedviz != __version__:
        raise ResultsNotReusable(f"they are of schedviz {earlier.schedviz}, and this is {__version__}")
    try:
        old = parse_plan(earlier.plan)
    except PlanError as error:
        raise ResultsNotReusable(f"their plan cannot be read: {error}") from None
    changed = _changed(old.plan, new.plan)
    if changed:
        raise ResultsNotReusable(f"they are of a plan with another {' and '.join(changed)}")
    rows = {row.number: row for row in earlier.trials if not row.error}
    volatile = {column.key for column in earlier.columns if column.is_volatile}
    known = {_key(trial): rows[trial.number] for trial in old.trials if trial.number in rows}
    return {trial.number: _result(trial, known[_key(trial)], volatile) for trial in new.trials if _key(trial) in known}


def require_same(known: TrialResult, again: TrialResult) -> None:
    """Raise `ResultsNotReusable` if a trial that was run again has other numbers."""
    if again.error:
        raise ResultsNotReusable(f"trial {again.number} fails now: {again.error}")
    for key, value in again.values.items():
        before = known.values.get(key)
        if before != value:
            was = "none" if before is None else f"{before:g}"
            numbers = f"trial {again.number} has {key} {value:g} now, and had {was}"
            raise ResultsNotReusable(f"{numbers}; the base, a plugin or a measure changed")


def _changed(old: Plan, new: Plan) -> list[str]:
    fields = [field for field in msgspec.structs.fields(Plan) if field.name not in _MAY_CHANGE]
    return [field.encode_name for field in fields if getattr(old, field.name) != getattr(new, field.name)]


def _key(trial: Trial) -> tuple[str, bytes, int | None]:
    # Combined, so that equal patches have equal texts.
    patch = combine([trial.variant.patch], path=trial.variant.path)
    return trial.variant.name, msgspec.json.encode(patch, order="sorted"), trial.seed


def _result(trial: Trial, row: TrialRow, volatile: set[str]) -> TrialResult:
    return TrialResult(
        trial.number,
        values={key: value for key, value in row.values.items() if key not in volatile},
        placements=None,
        cycles=row.cycles,
        clock_seconds=row.clock_seconds,
        ended=row.ended,
        series=row.series,
        series_axis=row.series_axis,
        volatile={key: value for key, value in row.values.items() if key in volatile},
    )
