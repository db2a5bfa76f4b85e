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
from schedviz.engine.framework.runtime.outcomes import ScoreOutcome, ScoresOfPlugin
from schedviz.engine.framework.runtime.per_node_adapter import Score, score_of
from schedviz.engine.framework.status import SUCCESS, Status, as_status, wrapped
from schedviz.engine.framework.types import PodInfo
from schedviz.engine.framework.uniform import uniform, uniform_value


class Scorer:
    """A score plugin with its weight."""

    __slots__ = ("extensions", "name", "score", "weight")

    def __init__(self, plugin: Any, weight: int) -> None:
        self.name: str = plugin.name
        self.weight = weight
        self.score: Score = score_of(plugin)
        self.extensions: ScoreExtensions | None = plugin if isinstance(plugin, ScoreExtensions) else None


def run_score_plugins(scorers: Sequence[Scorer], state: CycleState, pod: PodInfo, rows: Rows) -> ScoreOutcome:
    """The scores of all rows, or the first error with upstream's message: all plugins score before the first one normalizes."""
    active = [scorer for scorer in scorers if scorer.name not in state.skip_score_plugins]
    raws: list[Scores] = []
    for scorer in active:
        raw = scorer.score(state, pod, rows)
        if isinstance(raw, Status):
            return _failed("running Score plugins", wrapped(f'plugin "{scorer.name}" failed with', raw))
        raws.append(raw)
    normalized: list[Scores] = []
    for scorer, raw in zip(active, raws, strict=True):
        scores = raw if scorer.extensions is None else scorer.extensions.normalize_score(state, pod, raw)
        if isinstance(scores, Status):
            return _failed("running Normalize on Score plugins", wrapped(f'plugin "{scorer.name}" failed with', scores))
        normalized.append(scores)
    return _weighed(active, raws, normalized, len(rows))


def _weighed(active: Sequence[Scorer], raws: Sequence[Scores], normalized: Sequence[Scores], rows: int) -> ScoreOutcome:
    """Weighted scores, and the sum for each row. Each plugin's array is read once; uniform scores are added as one number."""
    plugins: list[ScoresOfPlugin] = []
    common = 0
    summands: list[Scores] = []
    for scorer, raw, scores in zip(active, raws, normalized, strict=True):
        value = uniform_value(scores)
        if not _is_in_range(scores, value):
            return _failed("applying score defaultWeights on Score plugins", _first_invalid(active, normalized))
        weight = scorer.weight
        weighted = scores
        if value is not None:
            common += value * weight
            weighted = scores if weight == 1 else uniform(rows, value * weight)
        else:
            if weight != 1:
                weighted = scores * weight
            summands.append(weighted)
        plugins.append(ScoresOfPlugin(scorer.name, weight, raw, scores, weighted))
    return ScoreOutcome(SUCCESS, plugins, _sum(summands, common, rows))


def _sum(summands: Sequence[Scores], common: int, rows: int) -> Scores:
    """The sum for each row, in a new array."""
    if not summands:
        return np.full(rows, common)
    first, *others = summands
    totals = first + np.int64(common)
    for scores in others:
        totals += scores
    return totals


def _is_in_range(scores: Scores, value: int | None) -> bool:
    """Whether all scores are in range; `value` is the score of all rows if it is known."""
    if value is not None:
        return MIN_NODE_SCORE <= value <= MAX_NODE_SCORE
    # Interpreted as unsigned, negative scores are huge: one pass finds both kinds.
    return not len(scores) or bool(np.maximum.reduce(np.ascontiguousarray(scores).view(np.uint64)) <= MAX_NODE_SCORE)


def _first_invalid(scorers: Sequence[Scorer], normalized: Sequence[Scores]) -> Status:
    """The error of the first row that has a score out of range, from its first such plugin."""
    wrong = [(scores > MAX_NODE_SCORE) | (scores < MIN_NODE_SCORE) for scores in normalized]
    row, index = min((int(np.flatnonzero(rows)[0]), plugin_index) for plugin_index, rows in enumerate(wrong) if rows.any())
    return as_status(
        f'plugin "{scorers[index].name}" returns an invalid score {normalized[index][row]}, it should in the range of '
        f"[{MIN_NODE_SCORE}, {MAX_NODE_SCORE}] after normalizing"
    )


def _failed(prefix: str, status: Status) -> ScoreOutcome:
    return ScoreOutcome(wrapped(prefix, status), (), np.zeros(0, np.int64))
