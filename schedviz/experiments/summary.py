"""What an experiment's results say, in sentences: which variant to choose, why, what it costs, and how sure that is.

The page and the report have the same sentences, in other languages too (frontend/src/views/experiments/choiceText.ts).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from schedviz.experiments.choice import Certainty, Choice, Comparison, choose
from schedviz.experiments.results import Column, Results
from schedviz.experiments.table import heading, label, number, signed

_MOST_COSTS: Final = 4
_MOST_OTHERS: Final = 6
_MOST_NAMES: Final = 5
#: With more variants than this, some differences lie beyond their margins by chance alone.
_MANY: Final = 6

_SURE: Final = {
    "strong": "The difference is more than twice its 95 % margin, and all {seeds} seeds agree.",
    "fair": "The difference is larger than its 95 % margin; {agreeing} of {seeds} seeds agree. More seeds would narrow the margin.",
    "exact": "Each variant ran once, and a run repeats exactly. Add seeds to the plan to see whether the order of arrival matters.",
    "equal": "Not one of the {trials} trials differs in these measures.",
    "even": "Differences over {seeds} seeds lie within their 95 % margins, or decide against the other variants.",
}


def summary(results: Results) -> list[str]:
    """The sentences; the first one names the variant to choose. Empty without two variants that have numbers."""
    comparison = Comparison(results)
    choice = choose(results, comparison)
    return [] if choice is None else list(_sentences(results, comparison, choice))


def _sentences(results: Results, comparison: Comparison, choice: Choice) -> Iterator[str]:
    yield _headline(choice)
    yield from _reasons_to_keep(results, comparison, choice) if choice.is_baseline else _reasons(results, comparison, choice)
    yield from _certainty(results, comparison, choice)


def _headline(choice: Choice) -> str:
    headline = f"{'Keep' if choice.is_baseline else 'Choose'} {choice.variant}."
    if choice.ties:
        headline += f" As good{', but not better' if choice.is_baseline else ''}: {_listed(choice.ties)}."
    return headline


def _reasons(results: Results, comparison: Comparison, choice: Choice) -> Iterator[str]:
    chosen, baseline = choice.variant, results.baseline
    for column in choice.gains:
        sure = comparison.certainty(chosen, baseline, column)
        seeds = f"; better with {sure.agreeing} of {sure.seeds} seeds" if sure.seeds > 1 else ""
        difference = _difference(comparison, chosen, baseline, column)
        yield f"{heading(column.key)}: {_value(comparison, chosen, column)}, {difference} against {baseline}{seeds}."
    first = choice.goals.index(choice.gains[0]) if choice.gains else 0
    for column in choice.goals[:first]:
        if column not in choice.costs and not comparison.is_nothing(column):
            own, other = (_value(comparison, name, column) for name in (chosen, baseline))
            is_equal = comparison.is_equal(chosen, baseline, [column])
            says = f"the same in every trial ({own})" if is_equal else f"no difference beyond chance ({own} and {other})"
            yield f"{heading(column.key)}: {says}."
    if choice.costs:
        costs = [f"{label(column.key)} {_difference(comparison, chosen, baseline, column)}" for column in choice.costs[:_MOST_COSTS]]
        yield f"It costs: {'; '.join(costs)}."


def _reasons_to_keep(results: Results, comparison: Comparison, choice: Choice) -> Iterator[str]:
    seeds = _seeds(results)
    worse = "in a measure that decides without being worse in a more important one"
    yield (
        f"Over {seeds} seeds, no other variant is better beyond chance {worse}." if seeds > 1 else f"No other variant is better {worse}."
    )
    for column in choice.goals if choice.ties else []:
        if comparison.is_nothing(column):
            continue
        is_equal = all(comparison.is_equal(name, results.baseline, [column]) for name in choice.ties)
        says = "the same in every trial" if is_equal else "no difference beyond chance"
        yield f"{heading(column.key)}: {says} ({_value(comparison, results.baseline, column)})."
    unmoved = [name for name in choice.ties if results.moves is not None and results.moves.between(name, results.baseline) == 0]
    if unmoved:
        yield f"Every pod lies on the same node: {_listed(unmoved)}."


def _certainty(results: Results, comparison: Comparison, choice: Choice) -> Iterator[str]:
    seeds = _seeds(results)
    sure: Certainty | None = comparison.certainty(choice.variant, results.baseline, choice.gains[0]) if choice.gains else None
    is_equal = choice.is_baseline and not choice.dropped
    is_equal = is_equal and all(comparison.is_equal(name, results.baseline, choice.goals) for name in choice.ties)
    level = sure.level if sure else "equal" if is_equal else "even" if seeds > 1 else "exact"
    yield _SURE["fair" if level == "none" else level].format(
        agreeing=sure.agreeing if sure else 0, seeds=sure.seeds if sure else seeds, trials=len(results.trials)
    )
    compared = len(choice.dropped) + len(choice.ties)
    if compared >= _MANY and seeds > 1:
        yield (
            f"{compared + 1} variants were compared: of twenty such differences about one lies beyond its margin by chance. "
            "Run the best two again with more seeds."
        )
    yield "It holds for this workload, and says nothing about others."


def others(results: Results) -> list[str]:
    """Why not the other variants; of many, those that were dropped last."""
    choice = choose(results, Comparison(results))
    if choice is None:
        return []
    dropped = [each for each in choice.dropped if each.variant != results.baseline]
    return [
        f"{each.variant}: {label(each.column.key)} {signed(each.difference, each.column.unit)} against {each.best}."
        for each in dropped[-_MOST_OTHERS:]
    ]


def _seeds(results: Results) -> int:
    return len({row.seed for row in results.trials})


def _value(comparison: Comparison, variant: str, column: Column) -> str:
    return number(comparison.mean(variant, column) or 0.0, column.unit)


def _difference(comparison: Comparison, a: str, b: str, column: Column) -> str:
    difference = comparison.between(a, b, column)
    return "–" if difference is None else signed(difference, column.unit)


def _listed(names: Sequence[str]) -> str:
    more = len(names) - _MOST_NAMES
    return f"{', '.join(names[:_MOST_NAMES])} and {more} more" if more > 0 else ", ".join(names)
