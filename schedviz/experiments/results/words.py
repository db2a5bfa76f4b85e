"""The words and measures of an experiment's answer, explained. The page has the same words (frontend/src/views/experiments/words.ts)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from schedviz.experiments.results.document import Column, Results
from schedviz.experiments.results.table import label

#: Of every answer.
_BASELINE: Final = ("baseline", "The configuration that the others are compared with.")
#: If a share differs.
_PP: Final = ("pp", "Percentage points, the difference of two percentages: from 12% to 56% is +44 pp.")
#: If there are seeds.
_SEEDS: Final = (
    (
        "seed",
        (
            "A number that determines the random part of a trial: the order in which pods arrive, and which of several equally good nodes "
            "is chosen. Each configuration has one trial for each seed."
        ),
    ),
    (
        "±",
        (
            "The 95% margin of error of a mean difference: in 19 of 20 such experiments, the mean over all possible seeds lies within it. "
            "It is calculated from the differences between trials with the same seed: Student's t × their standard deviation ÷ the square "
            "root of the number of seeds."
        ),
    ),
    ("significant", "The difference is larger than its margin. A smaller difference can come from the seeds alone."),
)


def explained(results: Results, columns: Sequence[Column]) -> list[tuple[str, str]]:
    """Each word with its meaning: the measures of these columns first."""
    measures = {label(column.measure): f"{column.title}." for column in columns}
    has_seeds = len({row.seed for row in results.trials}) > 1
    shares = [_PP] if any(column.unit == "share" for column in columns) else []
    return [*measures.items(), _BASELINE, *shares, *(_SEEDS if has_seeds else ())]
