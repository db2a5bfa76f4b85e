"""The outcome of a search for people: how many candidates, the best one, and its variant as YAML."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import yaml

from schedviz.experiments.results.document import Results, Tuning, VariantResult
from schedviz.experiments.results.table import label, number, signed


def sentences(results: Results, tuning: Tuning) -> list[str]:
    """What the search found, in a few sentences."""
    column = next(column for column in results.columns if column.key == tuning.goal)
    count, feasible = len(tuning.candidates), len(tuning.feasible)
    tried = f"{count} candidates were tried for the {'largest' if tuning.direction == 'maximize' else 'smallest'} {label(tuning.goal)}"
    if tuning.constraints:
        tried += f"; {feasible} of them hold {', '.join(tuning.constraints)}"
    baseline = results.variant(results.baseline).values[tuning.goal]
    if not tuning.best:
        return [f"{tried}.", f"None of these is better than {results.baseline!r} ({number(baseline.mean, column.unit)})."]
    best = results.variant(tuning.best)
    difference = signed(best.differences[tuning.goal], column.unit)
    value = number(best.values[tuning.goal].mean, column.unit)
    return [
        f"{tried}.",
        f"The best is {best.name!r} with {value}, {difference} against {results.baseline!r}.",
        "It was chosen by these seeds: confirm it with others before you rely on the difference.",
    ]


def printed(results: Results) -> Iterator[str]:
    """The lines that `schedviz experiment tune` prints."""
    assert isinstance(results.tuning, Tuning)
    yield from sentences(results, results.tuning)
    if results.tuning.best:
        yield ""
        yield "As a variant of the plan:"
        yield ""
        yield from as_yaml(results.variant(results.tuning.best)).splitlines()


def as_yaml(variant: VariantResult) -> str:
    """The variant as an element of a plan's list `variants`."""
    members: dict[str, Any] = {"name": variant.name, **{name: change for name, change in variant.changes.items() if change != {}}}
    return yaml.safe_dump([members], sort_keys=False, allow_unicode=True, width=120)
