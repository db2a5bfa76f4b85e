"""Summarizes an experiment's results in sentences: the best variant for each headline measure, with its confidence interval."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from schedviz.experiments.results import Column, Results, VariantResult
from schedviz.experiments.table import number, signed

#: Columns that get a sentence, with a phrase for people.
HEADLINES: Final = {
    "placed": "pods placed",
    "nodesUsed": "nodes used",
    "utilization.cpu": "CPU utilization",
    "fragmentation.cpu": "CPU fragmentation",
    "zoneSkew.max": "largest zone skew",
    "victims": "evicted pods",
}


def summary(results: Results) -> list[str]:
    """One sentence for each headline measure of which the plan has numbers."""
    columns = {column.key: column for column in results.columns}
    if len(results.variants) < 2:
        return []
    return list(_sentences(results, columns))


def _sentences(results: Results, columns: dict[str, Column]) -> Iterator[str]:
    for key, phrase in HEADLINES.items():
        column = columns.get(key)
        if column is not None and len({variant.values[key].mean for variant in results.variants if key in variant.values}) > 1:
            yield _sentence(results, column, phrase)


def _sentence(results: Results, column: Column, phrase: str) -> str:
    baseline = results.variant(results.baseline)
    beginning = phrase[:1].upper() + phrase[1:]
    own = baseline.values.get(column.key)
    if own is None:
        return f"{beginning}: the baseline {baseline.name!r} has no value."
    better = [variant for variant in results.variants if _is_better(variant, column)]
    if not better:
        worse = [variant.name for variant in results.variants if _is_worse(variant, column)]
        rest = f"; worse: {', '.join(worse)}" if worse else ""
        return f"{beginning}: no variant is better than {baseline.name!r} ({number(own.mean, column.unit)}){rest}."
    sign = 1 if column.better == "higher" else -1
    best = max(better, key=lambda variant: sign * variant.values[column.key].mean)
    value, difference = best.values[column.key], best.differences[column.key]
    sure = "" if difference.margin is None else f", 95 % interval over {difference.count} seeds"
    sentence = (
        f"{beginning}: {best.name!r} is best with {number(value.mean, column.unit)}, "
        f"{signed(difference, column.unit)} against {baseline.name!r}{sure}."
    )
    placed = best.differences.get("placed")
    if column.key != "placed" and placed is not None and placed.mean < 0 and (placed.margin is None or placed.excludes_zero):
        sentence += f" But it places {signed(placed, 'pods').removeprefix('−')} fewer pods."
    return sentence


def _is_better(variant: VariantResult, column: Column) -> bool:
    return _direction(variant, column) > 0


def _is_worse(variant: VariantResult, column: Column) -> bool:
    return _direction(variant, column) < 0


def _direction(variant: VariantResult, column: Column) -> int:
    """1: significantly better than the baseline, -1: worse, 0: neither. Without seeds every difference counts, because runs are
    deterministic.
    """
    difference = variant.differences.get(column.key)
    if difference is None or difference.mean == 0 or (difference.margin is not None and not difference.excludes_zero):
        return 0
    return 1 if (difference.mean > 0) == (column.better == "higher") else -1
