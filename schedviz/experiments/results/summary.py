"""An experiment's results in sentences: which variant to choose, why, what it costs, and how sure that is.

The page and the report have the same sentences, in other languages too (frontend/src/views/experiments/choiceText.ts).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from schedviz.experiments.results.choice import Alternative, Certainty, Choice, Comparison, choose, other_columns
from schedviz.experiments.results.clauses import clause
from schedviz.experiments.results.document import Column, Results
from schedviz.experiments.results.table import heading, label, number, signed
from schedviz.experiments.results.words import explained

_MAX_COSTS: Final = 4
_MAX_OTHERS: Final = 6
_MAX_NAMES: Final = 5
#: Variants that are as good, which the headline names.
_MAX_TIES: Final = 2
#: Differences in the headline of variants that are equal in what decides.
_MAX_HEADLINE: Final = 2
#: Variants as good as the baseline of which all differences are listed.
_MAX_DIFFERING: Final = 3
#: With more variants than this, some differences lie beyond their margins by chance alone.
_MANY_COMPARED: Final = 6

_CERTAINTY: Final = {
    "strong": "The difference in {measure} is more than twice its 95% margin of error, and all {seeds} seeds agree.",
    "fair": "The difference in {measure} is larger than its 95% margin of error; {agreeing} of {seeds} seeds agree. "
    "More seeds would narrow the margin.",
    "exact": "Each configuration has one trial, and a repeated trial has the same result. "
    "Add seeds to the plan to see whether the order in which pods arrive matters.",
    "equal": "For each of the {seeds} seeds, all configurations have the same values of these metrics.",
    "even": "Differences over {seeds} seeds lie within their 95% margins of error, or decide against the other configurations.",
}
_EQUAL_ONCE: Final = "All configurations have the same values of these metrics."
#: The name of each level.
LEVELS: Final = {
    "strong": "very high confidence",
    "fair": "moderate confidence",
    "exact": "exact for this trial",
    "equal": "equal results",
    "even": "no clear difference",
}


class Summary(msgspec.Struct, frozen=True):
    """The answer of an experiment, by section."""

    #: The variant to choose, what it gains, and what it costs.
    headline: str
    reasons: list[str]
    #: What becomes worse with it. Empty if the baseline is kept.
    costs: list[str]
    #: A key of `LEVELS`.
    level: str
    certainty: list[str]
    #: What to choose if another measure counts most.
    alternatives: list[str]
    #: Why not the other variants; of many, those that were dropped last.
    others: list[str]
    #: The words and measures above, with their meanings.
    words: list[tuple[str, str]]

    def lines(self) -> Iterator[str]:
        """The lines that a terminal shows."""
        yield self.headline
        for title, sentences in self.sections():
            yield ""
            yield f"{title}:"
            yield from (f"  {sentence}" for sentence in sentences)
        yield ""
        yield "Words:"
        yield from (f"  {word}: {meaning}" for word, meaning in self.words)

    def sections(self) -> list[tuple[str, list[str]]]:
        """The sections that are not empty, with their titles."""
        found = [
            ("Why", self.reasons),
            ("What it costs", self.costs),
            (f"How certain is it? {LEVELS[self.level].capitalize()}", self.certainty),
            ("When to choose another", self.alternatives),
            ("Why not the others", self.others),
        ]
        return [(title, sentences) for title, sentences in found if sentences]


def summary(results: Results) -> Summary | None:
    """The answer; None without two variants that have numbers."""
    comparison = Comparison(results)
    choice = choose(results, comparison)
    if choice is None:
        return None
    level, certainty = _certainty(results, comparison, choice)
    return Summary(
        headline=_headline(results, comparison, choice),
        reasons=list(_reasons_to_keep(results, comparison, choice) if choice.is_baseline else _reasons(results, comparison, choice)),
        costs=[] if choice.is_baseline else _costs(results, comparison, choice),
        level=level,
        certainty=certainty,
        alternatives=[_alternative(comparison, choice, each) for each in choice.alternatives],
        others=_others(results, choice),
        words=explained(results, _named(results, comparison, choice)),
    )


def _headline(results: Results, comparison: Comparison, choice: Choice) -> str:
    if choice.is_baseline:
        return _headline_to_keep(results, comparison, choice)
    chosen, baseline = choice.variant, results.baseline
    headline = f"Choose {chosen} instead of {baseline}"
    if choice.gains:
        headline += f": it {_clause(comparison, chosen, baseline, choice.gains[0])}"
        headline += f", but {_clause(comparison, chosen, baseline, choice.costs[0])}" if choice.costs else ", and no metric is worse"
    return f"{headline}.{_ties(choice)}"


def _headline_to_keep(results: Results, comparison: Comparison, choice: Choice) -> str:
    baseline = results.baseline
    if _is_equal(comparison, choice):
        is_unmoved = len(_unmoved(results, choice)) == len(choice.ties)
        differing = list(_differing(results, comparison, choice))
        where = "" if not differing else " in placement" if is_unmoved else " in the criteria"
        same = "put every pod on the same node" if is_unmoved else "have the same numbers"
        numbers = [
            f"{label(column.key)} {_value(comparison, baseline, column)}"
            for column in choice.goals
            if not comparison.is_always_zero(column)
        ]
        but = "".join(f", but {name} {_clauses(comparison, name, baseline, columns)}" for name, columns in differing[:1])
        return f"No difference{where}: {_listed(choice.ties)} and {baseline} {same} ({_listed(numbers)}){but}."
    trade = next((each for each in choice.alternatives if each.cost is not None), None)
    why = "no other configuration is better"
    if trade is not None and trade.cost is not None:
        gain, cost = (_clause(comparison, trade.variant, baseline, column) for column in (trade.gains[0], trade.cost))
        why = f"{trade.variant} {gain}, but {cost}"
    return f"Keep {baseline}: {why}.{_ties(choice)}"


def _ties(choice: Choice) -> str:
    """The variants that are as good, for the end of the headline: many are only counted, and named among the reasons."""
    if not choice.ties:
        return ""
    if len(choice.ties) > _MAX_TIES:
        return f" {len(choice.ties)} other configurations are as good."
    return f" As good: {_listed(choice.ties)}."


def _many_ties(choice: Choice) -> Iterator[str]:
    if len(choice.ties) > _MAX_TIES:
        yield f"As good: {_listed(choice.ties)}."


def _reasons(results: Results, comparison: Comparison, choice: Choice) -> Iterator[str]:
    chosen, baseline = choice.variant, results.baseline
    for column in choice.gains:
        yield _against(comparison, chosen, baseline, column, "better")
    first = choice.goals.index(choice.gains[0]) if choice.gains else 0
    for column in choice.goals[:first]:
        if column not in choice.costs and not comparison.is_always_zero(column):
            own, other = (_value(comparison, name, column) for name in (chosen, baseline))
            is_equal = comparison.is_equal(chosen, baseline, [column])
            says = _equal(comparison, own) if is_equal else f"no significant difference ({own} and {other})"
            yield f"{heading(column.key)}: {says}."
    yield from _many_ties(choice)


def _costs(results: Results, comparison: Comparison, choice: Choice) -> list[str]:
    if not choice.costs:
        return ["No metric is significantly worse."]
    return [_against(comparison, choice.variant, results.baseline, column, "worse") for column in choice.costs[:_MAX_COSTS]]


def _against(comparison: Comparison, chosen: str, baseline: str, column: Column, how: str) -> str:
    sure = comparison.certainty(chosen, baseline, column)
    seeds = f"; {how} for {sure.agreeing} of {sure.seeds} seeds" if sure.seeds > 1 else ""
    difference = _difference(comparison, chosen, baseline, column)
    return f"{heading(column.key)}: {_value(comparison, chosen, column)}, {difference} compared with {baseline}{seeds}."


def _equal(comparison: Comparison, value: str) -> str:
    """What equal variants have: seeds may differ from each other, and then the value is a mean."""
    return f"equal for every seed (mean {value})" if comparison.seeds > 1 else f"equal ({value})"


def _reasons_to_keep(results: Results, comparison: Comparison, choice: Choice) -> Iterator[str]:
    seeds = comparison.seeds
    yield (
        f"Across {seeds} seeds, no other configuration is significantly better by one criterion without being significantly worse by "
        "a more important one."
        if seeds > 1
        else "No other configuration is better by one criterion without being worse by a more important one."
    )
    for column in choice.goals if choice.ties else []:
        if comparison.is_always_zero(column):
            continue
        is_equal = all(comparison.is_equal(name, results.baseline, [column]) for name in choice.ties)
        value = _value(comparison, results.baseline, column)
        says = _equal(comparison, value) if is_equal else f"no significant difference ({value})"
        yield f"{heading(column.key)}: {says}."
    yield from _many_ties(choice)
    unmoved = _unmoved(results, choice)
    if unmoved:
        yield f"Every pod is on the same node: {_listed(unmoved)}."
    for name, columns in _differing(results, comparison, choice):
        found = [f"{label(column.key)} {_difference(comparison, name, results.baseline, column)}" for column in columns]
        yield f"Also different in {name}: {'; '.join(found)}."


def _differing(results: Results, comparison: Comparison, choice: Choice) -> Iterator[tuple[str, list[Column]]]:
    """The variants that are as good as the baseline, with the columns in which they differ significantly from it: one of each measure."""
    for name in choice.ties[:_MAX_DIFFERING]:
        found: dict[str, Column] = {}
        for column in other_columns(results, choice.goals):
            if comparison.verdict(name, results.baseline, column):
                found.setdefault(column.measure, column)
        if found:
            yield name, list(found.values())[:_MAX_COSTS]


def _is_equal(comparison: Comparison, choice: Choice) -> bool:
    """Whether all variants have the same numbers in the columns that decide."""
    if not choice.is_baseline or choice.dropped or not choice.ties:
        return False
    return all(comparison.is_equal(name, choice.variant, choice.goals) for name in choice.ties)


def _unmoved(results: Results, choice: Choice) -> list[str]:
    return [name for name in choice.ties if results.moves is not None and results.moves.between(name, results.baseline) == 0]


def _certainty(results: Results, comparison: Comparison, choice: Choice) -> tuple[str, list[str]]:
    seeds = comparison.seeds
    sure: Certainty | None = comparison.certainty(choice.variant, results.baseline, choice.gains[0]) if choice.gains else None
    level = sure.level if sure else "equal" if _is_equal(comparison, choice) else "even" if seeds > 1 else "exact"
    level = "fair" if level == "none" else level
    is_equal_once = level == "equal" and seeds == 1
    said = _EQUAL_ONCE if is_equal_once else _CERTAINTY[level]
    measure = label(choice.gains[0].key) if choice.gains else ""
    sentences = [said.format(measure=measure, agreeing=sure.agreeing if sure else 0, seeds=sure.seeds if sure else seeds)]
    compared = len(choice.dropped) + len(choice.ties)
    if compared >= _MANY_COMPARED and seeds > 1:
        sentences.append(
            f"{compared + 1} configurations were compared. About one in twenty such differences exceeds its margin by chance. "
            "Run the best two again with more seeds."
        )
    return level, [*sentences, "The result holds for this workload only."]


def _alternative(comparison: Comparison, choice: Choice, found: Alternative) -> str:
    gains = _joined([_clause(comparison, found.variant, choice.variant, column) for column in found.gains])
    cost = f", but {_clause(comparison, found.variant, choice.variant, found.cost)}" if found.cost else ""
    counts = _joined([label(column.key) for column in found.gains])
    verb = "matters" if len(found.gains) == 1 else "matter"
    return f"Choose {found.variant} if {counts} {verb} most: compared with {choice.variant}, it {gains}{cost}."


def _others(results: Results, choice: Choice) -> list[str]:
    dropped = [each for each in choice.dropped if each.variant != results.baseline]
    return [
        f"{each.variant}: {label(each.column.key)} {signed(each.difference, each.column.unit)} compared with {each.best}."
        for each in dropped[-_MAX_OTHERS:]
    ]


def _named(results: Results, comparison: Comparison, choice: Choice) -> list[Column]:
    """The columns that the sentences name, one of each measure."""
    found: dict[str, Column] = {}
    differing = [column for _, columns in _differing(results, comparison, choice) for column in columns] if choice.is_baseline else []
    for column in [*choice.goals, *choice.costs, *differing]:
        if not comparison.is_always_zero(column):
            found.setdefault(column.measure, column)
    return list(found.values())


def _value(comparison: Comparison, variant: str, column: Column) -> str:
    return number(comparison.mean(variant, column) or 0.0, column.unit)


def _difference(comparison: Comparison, a: str, b: str, column: Column) -> str:
    difference = comparison.between(a, b, column)
    return "–" if difference is None else signed(difference, column.unit)


def _clause(comparison: Comparison, a: str, b: str, column: Column) -> str:
    difference = comparison.between(a, b, column)
    return clause(column, 0.0 if difference is None else difference.mean)


def _clauses(comparison: Comparison, a: str, b: str, columns: Sequence[Column]) -> str:
    """The first differences, for a headline."""
    return _joined([_clause(comparison, a, b, column) for column in columns[:_MAX_HEADLINE]])


def _joined(parts: Sequence[str]) -> str:
    return f"{', '.join(parts[:-1])} and {parts[-1]}" if len(parts) > 1 else "".join(parts)


def _listed(names: Sequence[str]) -> str:
    """Some names. Variants of a grid have commas in theirs."""
    separator = "; " if any("," in name for name in names) else ", "
    more = len(names) - _MAX_NAMES
    return f"{separator.join(names[:_MAX_NAMES])} and {more} more" if more > 0 else separator.join(names)
