"""Who has the highest total, who shares it, and what it is made of.

Upstream: pkg/scheduler/schedule_one.go selectHost (reservoir sampling, which is one uniform draw among the tied nodes)
"""

from __future__ import annotations

import random
from typing import Final

import numpy as np

from schedviz.engine.cycle_results import Ranking
from schedviz.engine.framework.interface import Scores
from schedviz.engine.framework.rows import Rows
from schedviz.engine.framework.runtime import ScoreOutcome
from schedviz.trace.view import ScoredNodeView, ScoreView

#: How many of the tied nodes are named.
NAMED_NODES: Final = 8


def rank(totals: Scores, random_source: random.Random | None) -> Ranking:
    """The winner among the rows; drawn from those that are tied, or the first of them where there is no source."""
    total = int(totals.max())
    tied = np.flatnonzero(totals == total)
    winner = int(tied[0]) if random_source is None else int(tied[random_source.randrange(len(tied))])
    if len(totals) == 1:
        return Ranking(winner, total, tied.tolist())
    others = totals.copy()
    others[winner] = np.iinfo(np.int64).min
    runner_up = int(others.argmax())
    return Ranking(winner, total, tied.tolist(), runner_up, int(totals[runner_up]))


def tied_names(ranking: Ranking, rows: Rows) -> list[str]:
    """The first few tied nodes."""
    return [rows.names[row] for row in ranking.tied[:NAMED_NODES]]


def scored_nodes(ranking: Ranking, rows: Rows, scored: ScoreOutcome | None) -> tuple[ScoredNodeView, ScoredNodeView | None]:
    """The winner and the runner-up with the shares of the plugins."""
    winner = _scored_node(rows.names[ranking.winner], ranking.total, ranking.winner, scored)
    if ranking.runner_up is None:
        return winner, None
    return winner, _scored_node(rows.names[ranking.runner_up], ranking.runner_up_total, ranking.runner_up, scored)


def _scored_node(name: str, total: int, row: int, scored: ScoreOutcome | None) -> ScoredNodeView:
    plugins = [] if scored is None else scored.plugins
    return ScoredNodeView(
        node=name,
        total=total,
        scores=[
            ScoreView(
                plugin=plugin.name,
                weight=plugin.weight,
                raw=int(plugin.raw[row]),
                normalized=int(plugin.normalized[row]),
                weighted=int(plugin.weighted[row]),
            )
            for plugin in plugins
        ],
    )
