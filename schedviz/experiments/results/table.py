"""Results as rows of text, for terminals, and as CSV."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from typing import Final

from schedviz.experiments.results.csv_cells import plain_cell
from schedviz.experiments.results.document import Column, Results, VariantResult
from schedviz.experiments.results.statistics import Interval

#: The columns of the table in a terminal, if the plan chose no measures. The last two are shown only if they are not 0 everywhere.
_DEFAULT_COLUMNS: Final = (
    "placed",
    "pending",
    "nodesUsed",
    "utilization.cpu",
    "utilization.memory",
    "fragmentation.cpu",
    "zoneSkew.max",
    "victims",
)
_SHOWN_IF_NOT_ZERO: Final = ("zoneSkew.max", "victims")
#: Names of measures that their keys do not show, as in frontend/src/i18n/messages/en.experiments.json (`experiments.measure.*`).
_NAMES: Final = {
    "placed": "pods placed",
    "utilization": "utilization of all nodes",
    "meanUtilization": "mean utilization of all nodes",
    "pending": "pods pending",
    "pendingReason": "pending",
    "pdbViolations": "budget violations",
    "victims": "evicted pods",
    "engineSeconds": "engine time",
}
#: Names of columns that do not follow from those of their measures and parts (`experiments.column.*`).
_COLUMN_NAMES: Final = {
    "attempts.all": "scheduling attempts",
    "attempts.most": "most attempts by one pod",
    "waiting.p50": "median wait",
    "waiting.p99": "99th-percentile wait",
    "waiting.max": "longest wait",
}
#: Parts of columns that have words (`experiments.part.*`).
_PARTS: Final = {
    "cpu": "CPU",
    "all": "in total",
    "most": "for one pod",
    "p10": "10th percentile",
    "p50": "median",
    "p90": "90th percentile",
    "p99": "99th percentile",
}
#: Parts that are an adjective of the measure: "mean node spread".
_STATISTICS: Final = frozenset({"mean", "max"})
#: Columns of one measure in a terminal. Of more, such as the points of a curve, evenly spaced ones are shown.
_MAX_PARTS: Final = 8
_WORD_BOUNDARY: Final = re.compile(r"(?<=[a-z])(?=[A-Z])")
#: Measures of a resource, whose names say which: "memory fragmentation".
_RESOURCE_MEASURES: Final = frozenset({"utilization", "meanUtilization", "nodeUtilization", "fragmentation"})


def table(results: Results, *, keys: Sequence[str] | None = None) -> list[list[str]]:
    """A header row, and a row for each variant: means, each with its difference to the baseline on a second line."""
    columns = _thinned([column for column in results.columns if (column.key in keys if keys is not None else _is_shown(column, results))])
    head = ["configuration", *(label(column.key) for column in columns)]
    return [head, *([variant.name, *(_cell(variant, column) for column in columns)] for variant in results.variants)]


def _thinned(columns: Sequence[Column]) -> list[Column]:
    of_measure: dict[str, list[Column]] = {}
    for column in columns:
        of_measure.setdefault(column.measure, []).append(column)
    return [column for parts in of_measure.values() for column in _spaced(parts)]


def _spaced(parts: list[Column]) -> list[Column]:
    """The first, the last and evenly spaced ones between them, as frontend/src/model/experiments/spaced.ts selects them."""
    if len(parts) <= _MAX_PARTS:
        return parts
    return [parts[place * (len(parts) - 1) // (_MAX_PARTS - 1)] for place in range(_MAX_PARTS)]


def label(key: str) -> str:
    """A column's key for people: `nodesUsed` becomes `nodes used`, and `utilization.cpu` becomes `CPU utilization of all nodes`."""
    if key in _COLUMN_NAMES:
        return _COLUMN_NAMES[key]
    measure, _, part = key.partition(".")
    words = _NAMES.get(measure) or _WORD_BOUNDARY.sub(" ", measure).lower()
    if not part:
        return words
    if measure == "stranded":
        return f"{words} {in_words(part)}"
    if part in _STATISTICS:
        return f"{part} {words}"
    if measure not in _RESOURCE_MEASURES:
        return f"{words} · {part}"
    resource, _, statistic = part.partition(" ")
    named = f"{in_words(resource)} {words}"
    return f"{named} · {in_words(statistic)}" if statistic else named


def in_words(part: str) -> str:
    """The part of a column's key for people: the resource `cpu` becomes `CPU`."""
    return _PARTS.get(part, part)


def heading(key: str) -> str:
    """As `label`, at the beginning of a sentence."""
    text = label(key)
    return text[:1].upper() + text[1:]


def _is_shown(column: Column, results: Results) -> bool:
    if column.key in _SHOWN_IF_NOT_ZERO:
        return any(variant.values[column.key].mean for variant in results.variants if column.key in variant.values)
    return column.key in _DEFAULT_COLUMNS


def csv_of(results: Results) -> str:
    """A line for each trial. Cells that a spreadsheet would read as a formula have an apostrophe."""
    out = io.StringIO()
    # Texts are quoted: spreadsheets of many languages separate cells by semicolons.
    writer = csv.writer(out, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
    keys = [column.key for column in results.columns]
    writer.writerow(["trial", "variant", "seed", "error", *map(plain_cell, keys)])
    for row in results.trials:
        seed = "" if row.seed is None else row.seed
        writer.writerow([row.number, plain_cell(row.variant), seed, plain_cell(row.error), *(row.values.get(key, "") for key in keys)])
    return out.getvalue()


def _cell(variant: VariantResult, column: Column) -> str:
    value, difference = variant.values.get(column.key), variant.differences.get(column.key)
    if value is None:
        return "failed" if variant.failed else "–"
    text = number(value.mean, column.unit)
    if difference is None or (difference.mean == 0 and not difference.margin):
        return text
    return f"{text}\n{signed(difference, column.unit)}"


def number(value: float, unit: str) -> str:
    """A number with its unit, short."""
    if unit == "share":
        return f"{100 * value:.1f}%"
    if unit == "seconds":
        return f"{value:,.3g} s"
    if unit == "price":
        return f"{value:,.2f}"
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:,.1f}"


def signed(difference: Interval, unit: str) -> str:
    """A difference with its sign and its 95% interval. Shares differ by percentage points (pp)."""
    mean, margin = difference.mean, difference.margin
    if mean == 0 and not margin:
        return "0 pp" if unit == "share" else number(0, unit)
    sign = "+" if mean > 0 else "−" if mean < 0 else ""
    if unit == "share":
        return f"{sign}{_with_margin(100 * abs(mean), None if margin is None else 100 * margin, 1)} pp"
    if unit == "seconds":
        return f"{sign}{number(abs(mean), unit)}{'' if margin is None else f' ± {number(margin, unit)}'}"
    is_whole = float(mean).is_integer() and float(margin or 0).is_integer()
    return f"{sign}{_with_margin(abs(mean), margin, 2 if unit == 'price' else 0 if is_whole else 1)}"


def _with_margin(size: float, margin: float | None, digits: int) -> str:
    """A size and its margin with equal digits, and one more if they would look the same though they are not."""
    if margin is None:
        return f"{size:,.{digits}f}"
    if size != margin and f"{size:.{digits}f}" == f"{margin:.{digits}f}":
        digits += 1
    return f"{size:,.{digits}f} ± {margin:,.{digits}f}"
