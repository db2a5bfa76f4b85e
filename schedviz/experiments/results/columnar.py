"""Results column by column: a tenth of the size of the document, and what the page and the report read."""

from __future__ import annotations

import msgspec
from msgspec import UNSET, UnsetType

from schedviz.experiments.results.comparing import Moves
from schedviz.experiments.results.courses import Course
from schedviz.experiments.results.document import Column, Results, VariantResult
from schedviz.experiments.trials.series import SeriesInfo, infos_of


class ColumnarVariant(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True, gc=False):
    """A variant without its means, which the reader calculates for the baseline that is chosen, and without its description in the plan."""

    name: str
    note: str = ""
    node_shares: dict[str, list[float]] = {}
    courses: dict[str, Course] = {}


class ColumnarTrials(msgspec.Struct, frozen=True, rename="camel"):
    """The trials: the lists have a place for each."""

    numbers: list[int]
    #: Place in `variants`.
    variants: list[int]
    seeds: list[int | None]
    cycles: list[int]
    #: For each column, the numbers of the trials.
    values: list[list[float | None]]
    #: Number of a trial that failed -> why.
    errors: dict[int, str]


class SearchReport(msgspec.Struct, frozen=True):
    """What a search found."""

    sentences: list[str]
    #: The best candidate as a variant of a plan, in YAML; "": none is better than the baseline.
    best: str


class ColumnarResults(msgspec.Struct, frozen=True, rename="camel"):
    """What the page and the report draw."""

    schedviz: str
    name: str
    question: str
    plan: str
    baseline: str
    nodes: int
    pods: int
    columns: list[Column]
    variants: list[ColumnarVariant]
    trials: ColumnarTrials
    moves: Moves | None
    courses_axis: str
    #: The variants' time series: the keys of `courses`, titles and units.
    series: list[SeriesInfo]
    #: Only in the report of a search.
    search: SearchReport | UnsetType = UNSET


def columnar(results: Results) -> ColumnarResults:
    """The results, without what can be calculated from the trials."""
    return ColumnarResults(
        schedviz=results.schedviz,
        name=results.name,
        question=results.question,
        plan=results.plan,
        baseline=results.baseline,
        nodes=results.nodes,
        pods=results.pods,
        columns=results.columns,
        variants=[_variant(each) for each in results.variants],
        trials=_trials(results),
        moves=results.moves,
        courses_axis=results.courses_axis,
        series=infos_of([key for variant in results.variants for key in variant.courses]),
    )


def _variant(variant: VariantResult) -> ColumnarVariant:
    return ColumnarVariant(variant.name, variant.note, variant.node_shares, variant.courses)


def _trials(results: Results) -> ColumnarTrials:
    rows = results.trials
    places = {variant.name: place for place, variant in enumerate(results.variants)}
    return ColumnarTrials(
        numbers=[row.number for row in rows],
        variants=[places[row.variant] for row in rows],
        seeds=[row.seed for row in rows],
        cycles=[row.cycles for row in rows],
        values=[[row.values.get(column.key) for row in rows] for column in results.columns],
        errors={row.number: row.error for row in rows if row.error},
    )
