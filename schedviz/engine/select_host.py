"""Selects the node with the highest total, and describes the tied nodes, the winner and the runner-up.

Upstream: pkg/scheduler/schedule_one.go selectHost (reservoir sampling, which is one uniform draw among the tied nodes)
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from schedviz.engine.cycle_results import Ranking
from schedviz.engine.extenders.extender import SCALE, ExtenderScoreRecord
from schedviz.engine.framework.interface import Scores
from schedviz.engine.framework.rows import Rows
from schedviz.engine.framework.runtime import ScoreOutcome
from schedviz.trace.view import ScoredNodeView, ScoreView

#: How many of the tied nodes are listed by name.
MAX_NAMED_NODES: Final = 8


def totals(rows: Rows, scored: ScoreOutcome | None, extenders: Mapping[str, ExtenderScoreRecord] | None) -> Scores:
    """The sum of plugins' and extenders' scores for each row; 1 each if nothing was scored."""
    if scored is None:
        return np.ones(len(rows), np.int64)
    total_scores = scored.totals
    for record in (extenders or {}).values():
        total_scores = total_scores + np.array([record.weighted.get(name, 0) for name in rows.names], np.int64)
    return total_scores


def rank(scores: Scores, random_source: random.Random | None) -> Ranking:
    """The winner among the rows: a random one of the tied nodes, or the first without a random source."""
    total = int(scores.max())
    tied = np.flatnonzero(scores == total)
    first = tied[:MAX_NAMED_NODES].tolist()
    winner = int(tied[0]) if random_source is None else int(tied[random_source.randrange(len(tied))])
    if len(scores) == 1:
        return Ranking(winner, total, len(tied), first)
    if len(tied) > 1:
        runner_up = int(tied[1] if tied[0] == winner else tied[0])
    else:
        others = scores.copy()
        others[winner] = np.iinfo(np.int64).min
        runner_up = int(others.argmax())
    return Ranking(winner, total, len(tied), first, runner_up, int(scores[runner_up]))


def best_raw(rows: Rows, scored: ScoreOutcome, ranking: Ranking) -> list[dict[str, Any]]:
    """The two best rows of a ranking by the plugins' totals, and what each plugin gave them, in the order of the plugins."""
    return [{"node": rows.names[row], "raw": [int(plugin.raw[row]) for plugin in scored.plugins]} for row in _best_rows(ranking)]


def best_normalized(rows: Rows, scored: ScoreOutcome, ranking: Ranking) -> list[dict[str, Any]]:
    """The same rows after NormalizeScore, with their totals; extenders have not scored yet."""
    return [
        {
            "node": rows.names[row],
            "normalized": [int(plugin.normalized[row]) for plugin in scored.plugins],
            "total": int(scored.totals[row]),
        }
        for row in _best_rows(ranking)
    ]


def _best_rows(ranking: Ranking) -> list[int]:
    return [ranking.winner] if ranking.runner_up is None else [ranking.winner, ranking.runner_up]


def tied_rows(scores: Scores) -> list[int]:
    """All rows with the highest total."""
    rows: list[int] = np.flatnonzero(scores == scores.max()).tolist()
    return rows


def tied_names(ranking: Ranking, rows: Rows) -> list[str]:
    """The names of the first few tied nodes."""
    return [rows.names[row] for row in ranking.first_tied]


def scored_nodes(
    ranking: Ranking, rows: Rows, scored: ScoreOutcome | None, extenders: Mapping[str, ExtenderScoreRecord] | None = None
) -> tuple[ScoredNodeView, ScoredNodeView | None]:
    """The winner and the runner-up, with the scores of plugins and extenders."""
    winner = _scored_node(rows.names[ranking.winner], ranking.total, ranking.winner, scored, extenders or {})
    if ranking.runner_up is None:
        return winner, None
    row = ranking.runner_up
    return winner, _scored_node(rows.names[row], ranking.runner_up_total, row, scored, extenders or {})


def _scored_node(
    name: str, total: int, row: int, scored: ScoreOutcome | None, extenders: Mapping[str, ExtenderScoreRecord]
) -> ScoredNodeView:
    scores = [
        ScoreView(
            plugin=plugin.name,
            weight=plugin.weight,
            raw=int(plugin.raw[row]),
            normalized=int(plugin.normalized[row]),
            weighted=int(plugin.weighted[row]),
        )
        for plugin in ([] if scored is None else scored.plugins)
    ]
    for extender, record in extenders.items():
        if name in record.raw:
            raw = record.raw[name]
            scores.append(ScoreView(plugin=extender, weight=record.weight, raw=raw, normalized=raw * SCALE, weighted=record.weighted[name]))
    return ScoredNodeView(node=name, total=total, scores=scores)
