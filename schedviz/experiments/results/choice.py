"""Which variant to choose, and why. frontend/src/model/experiments/choice.ts has the same rule, for other baselines and goals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal

import msgspec

from schedviz.experiments.results.document import Column, Results, TrialRow
from schedviz.experiments.results.statistics import Interval, interval

#: Columns that decide, the most important first. A plan with none of them is decided by its own measures in their order.
GOALS: Final = ("placed", "pdbViolations", "victims", "cost.used", "nodesUsed", "fragmentation.cpu", "fragmentation.memory")

#: `exact`: one deterministic run; `strong`: all seeds agree and the margin is less than half; `fair`: significant.
Level = Literal["exact", "strong", "fair", "none"]


class Dropped(msgspec.Struct, frozen=True):
    """A variant that is significantly worse in a column than the best one of those that were left."""

    variant: str
    column: Column
    best: str
    difference: Interval


class Alternative(msgspec.Struct, frozen=True):
    """A variant that is significantly better than the chosen one in some measures: the best one in each of them."""

    variant: str
    #: The columns in which it is the best one.
    gains: list[Column]
    #: The most important column in which it is significantly worse than the chosen one.
    cost: Column | None


class Choice(msgspec.Struct, frozen=True):
    """The variant to choose."""

    #: The baseline if nothing is better.
    variant: str
    is_baseline: bool
    #: Variants that are as good in every column that decides.
    ties: list[str]
    #: The columns that decide, in order.
    goals: list[Column]
    #: The columns of them in which it is significantly better than the baseline.
    gains: list[Column]
    #: Columns in which it is significantly worse than the baseline, one of each measure.
    costs: list[Column]
    dropped: list[Dropped]
    #: Trade-offs: what to choose instead, if another measure counts most.
    alternatives: list[Alternative]


class Certainty(msgspec.Struct, frozen=True):
    """How sure a difference is."""

    level: Level
    #: Seeds in which the difference has the sign of the mean, of all.
    agreeing: int
    seeds: int


class Comparison:
    """The differences between variants, paired by seed."""

    def __init__(self, results: Results) -> None:
        self._rows: dict[str, dict[int | None, TrialRow]] = {variant.name: {} for variant in results.variants}
        for row in results.trials:
            self._rows[row.variant][row.seed] = row
        self._rows = _comparable(self._rows, results.baseline)
        self.seeds = len({seed for rows in self._rows.values() for seed in rows})

    def can_win(self, variant: str) -> bool:
        """Whether it has trials, and none failed."""
        rows = self._rows[variant]
        return bool(rows) and not any(row.error for row in rows.values())

    def mean(self, variant: str, column: Column) -> float | None:
        """The mean over its seeds."""
        found = interval([row.values[column.key] for row in self._rows[variant].values() if column.key in row.values])
        return None if found is None else found.mean

    def is_always_zero(self, column: Column) -> bool:
        """Whether it is 0 in every trial."""
        return not any(row.values.get(column.key) for rows in self._rows.values() for row in rows.values())

    def pairs(self, a: str, b: str, column: Column) -> list[float]:
        """The differences of `a` to `b`, seed by seed."""
        key, others = column.key, self._rows[b]
        return [
            row.values[key] - others[seed].values[key]
            for seed, row in self._rows[a].items()
            if seed in others and key in row.values and key in others[seed].values
        ]

    def is_equal(self, a: str, b: str, columns: Sequence[Column]) -> bool:
        """Whether two variants have the same numbers in every trial of these columns."""
        return not any(difference for column in columns for difference in self.pairs(a, b, column))

    def between(self, a: str, b: str, column: Column) -> Interval | None:
        """The mean of the differences."""
        return interval(self.pairs(a, b, column))

    def verdict(self, a: str, b: str, column: Column) -> int:
        """1: `a` is significantly better than `b`, -1: worse, 0: neither."""
        difference = self.between(a, b, column)
        return 0 if difference is None else direction(difference, column)

    def certainty(self, a: str, b: str, column: Column) -> Certainty:
        """How sure the difference of `a` to `b` is."""
        pairs, difference = self.pairs(a, b, column), self.between(a, b, column)
        if difference is None:
            return Certainty("none", 0, 0)
        agreeing = sum(each * difference.mean > 0 for each in pairs)
        if not _is_sure(difference):
            return Certainty("none", agreeing, len(pairs))
        if difference.margin is None:
            return Certainty("exact", agreeing, len(pairs))
        is_strong = agreeing == len(pairs) and abs(difference.mean) > 2 * difference.margin
        return Certainty("strong" if is_strong else "fair", agreeing, len(pairs))


def _comparable(rows: dict[str, dict[int | None, TrialRow]], baseline: str) -> dict[str, dict[int | None, TrialRow]]:
    """The trials that can be compared while others are missing, so that all means are over the same seeds: those of the variants that have
    all seeds; if no variant but the baseline has, those of the seeds that all started variants share.
    """
    seeds = {seed for own in rows.values() for seed in own}
    complete = {name for name, own in rows.items() if len(own) == len(seeds)}
    if baseline in complete and len(complete) > 1:
        return {name: own if name in complete else {} for name, own in rows.items()}
    started = [own for own in rows.values() if own]
    shared = {seed for seed in seeds if all(seed in own for own in started)}
    if not shared:
        return {name: own if name == baseline else {} for name, own in rows.items()}
    return {name: {seed: row for seed, row in own.items() if seed in shared} for name, own in rows.items()}


def direction(difference: Interval, column: Column) -> int:
    """1: significantly better, -1: worse, 0: neither. Without seeds every difference counts, because runs repeat."""
    if not column.better or not _is_sure(difference):
        return 0
    return 1 if (difference.mean > 0) == (column.better == "higher") else -1


def _is_sure(difference: Interval) -> bool:
    return difference.mean != 0 and (difference.margin is None or difference.excludes_zero)


def choose(results: Results, comparison: Comparison) -> Choice | None:
    """Goal by goal, drop the variants that are significantly worse than the best one. None without two variants that have numbers."""
    baseline = results.baseline
    candidates = [variant.name for variant in results.variants if comparison.can_win(variant.name)]
    if len(candidates) < 2 or baseline not in candidates:
        return None
    left = candidates
    goals = _goals(results)
    dropped: list[Dropped] = []
    decided: Column | None = None
    for column in goals:
        best = _best(comparison, left, column)
        if best is None:
            continue
        worse = [name for name in left if name != best and comparison.verdict(name, best, column) < 0]
        if worse:
            decided = column
        for name in worse:
            difference = comparison.between(name, best, column)
            if difference is not None:
                dropped.append(Dropped(name, column, best, difference))
        left = [name for name in left if name not in worse]
    is_baseline = baseline in left
    chosen = baseline if is_baseline else (decided and _best(comparison, left, decided)) or left[0]
    rest = other_columns(results, goals)
    costs: dict[str, Column] = {}
    for column in [] if is_baseline else [*goals, *rest]:
        if comparison.verdict(chosen, baseline, column) < 0:
            costs.setdefault(column.measure, column)
    return Choice(
        variant=chosen,
        is_baseline=is_baseline,
        ties=[name for name in left if name != chosen],
        goals=goals,
        gains=[] if is_baseline else [column for column in goals if comparison.verdict(chosen, baseline, column) > 0],
        costs=list(costs.values()),
        dropped=dropped,
        alternatives=_alternatives(comparison, chosen, candidates, list(dict.fromkeys([*goals, *costs.values()]))),
    )


def other_columns(results: Results, goals: Sequence[Column]) -> list[Column]:
    """The columns that do not decide, without volatile ones."""
    return [column for column in results.columns if column not in goals and not column.is_volatile]


def _alternatives(comparison: Comparison, chosen: str, variants: Sequence[str], columns: Sequence[Column]) -> list[Alternative]:
    gains: dict[str, list[Column]] = {}
    for column in columns:
        best = _best(comparison, variants, column)
        if best is not None and comparison.verdict(best, chosen, column) > 0:
            gains.setdefault(best, []).append(column)
    return [
        Alternative(name, better, next((column for column in columns if comparison.verdict(name, chosen, column) < 0), None))
        for name, better in gains.items()
    ]


def _goals(results: Results) -> list[Column]:
    columns = {column.key: column for column in results.columns}
    found = [columns[key] for key in GOALS if key in columns]
    if found:
        return found
    first: dict[str, Column] = {}
    for column in results.columns:
        if column.better and not column.is_volatile:
            first.setdefault(column.measure, column)
    return list(first.values())


def _best(comparison: Comparison, variants: Sequence[str], column: Column) -> str | None:
    means = {name: mean for name in variants if (mean := comparison.mean(name, column)) is not None}
    if not means:
        return None
    return max(means, key=lambda name: means[name] if column.better == "higher" else -means[name])
