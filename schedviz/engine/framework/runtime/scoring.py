"""Score over many nodes: each plugin's scores, normalised, weighted and summed.

Upstream: framework/runtime/framework.go RunScorePlugins
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from schedviz.engine.framework.cycle_state import CycleState
from schedviz.engine.framework.interface import MAX_NODE_SCORE, MIN_NODE_SCORE, ScoreExtensions, Scores
from schedviz.engine.framework.rows import Rows
from schedviz.engine.framework.runtime.lifted import Score, score_of
from schedviz.engine.framework.runtime.outcomes import ScoreOutcome, ScoresOfPlugin
from schedviz.engine.framework.status import SUCCESS, Status, as_status, wrapped
from schedviz.engine.framework.types import PodInfo
from schedviz.engine.framework.uniform import uniform, uniform_value


class Scorer:
    """A score plugin with its weight, ready to be asked."""

    __slots__ = ("extensions", "name", "score", "weight")

    def __init__(self, plugin: Any, weight: int) -> None:
        self.name: str = plugin.name
        self.weight = weight
        self.score: Score = score_of(plugin)
        self.extensions: ScoreExtensions | None = plugin if isinstance(plugin, ScoreExtensions) else None


def run_score_plugins(scorers: Sequence[Scorer], state: CycleState, pod: PodInfo, rows: Rows) -> ScoreOutcome:
    """The scores of all rows, or the first error in upstream's words: all plugins score before the first one normalises."""
    asked = [scorer for scorer in scorers if scorer.name not in state.skip_score_plugins]
    raws: list[Scores] = []
    for scorer in asked:
        raw = scorer.score(state, pod, rows)
        if isinstance(raw, Status):
            return _failed("running Score plugins", wrapped(f'plugin "{scorer.name}" failed with', raw))
        raws.append(raw)
    normalized: list[Scores] = []
    for scorer, raw in zip(asked, raws, strict=True):
        scores = raw if scorer.extensions is None else scorer.extensions.normalize_score(state, pod, raw)
        if isinstance(scores, Status):
            return _failed("running Normalize on Score plugins", wrapped(f'plugin "{scorer.name}" failed with', scores))
        normalized.append(scores)
    invalid = _first_invalid(asked, normalized)
    if invalid is not None:
        return _failed("applying score defaultWeights on Score plugins", invalid)
    plugins = [
        ScoresOfPlugin(scorer.name, scorer.weight, raw, scores, _weighted(scores, scorer.weight))
        for scorer, raw, scores in zip(asked, raws, normalized, strict=True)
    ]
    return ScoreOutcome(SUCCESS, plugins, _total([plugin.weighted for plugin in plugins], len(rows)))


def _weighted(scores: Scores, weight: int) -> Scores:
    value = uniform_value(scores)
    if value is not None:
        return uniform(len(scores), value * weight)
    return scores if weight == 1 else scores * weight


def _total(weighted: Sequence[Scores], rows: int) -> Scores:
    """The sum for each row; what all rows have in common is added once."""
    common = 0
    totals: Scores | None = None
    for scores in weighted:
        value = uniform_value(scores)
        if value is not None:
            common += value
        elif totals is None:
            totals = scores.astype(np.int64)
        else:
            totals += scores
    if totals is None:
        return np.full(rows, common)
    totals += common
    return totals


def _first_invalid(scorers: Sequence[Scorer], normalized: Sequence[Scores]) -> Status | None:
    """The error of the first row, and in it of the first plugin, with a score out of range."""
    first: tuple[int, int] | None = None
    for place, scores in enumerate(normalized):
        value = uniform_value(scores)
        if value is not None and MIN_NODE_SCORE <= value <= MAX_NODE_SCORE:
            continue
        # Seen as unsigned, negative scores are huge: one look finds both kinds.
        if len(scores) and np.maximum.reduce(np.ascontiguousarray(scores).view(np.uint64)) > MAX_NODE_SCORE:
            row = int(np.flatnonzero((scores > MAX_NODE_SCORE) | (scores < MIN_NODE_SCORE))[0])
            first = min(first, (row, place)) if first is not None else (row, place)
    if first is None:
        return None
    row, place = first
    return as_status(
        f'plugin "{scorers[place].name}" returns an invalid score {normalized[place][row]}, it should in the range of '
        f"[{MIN_NODE_SCORE}, {MAX_NODE_SCORE}] after normalizing"
    )


def _failed(prefix: str, status: Status) -> ScoreOutcome:
    return ScoreOutcome(wrapped(prefix, status), (), np.zeros(0, np.int64))
