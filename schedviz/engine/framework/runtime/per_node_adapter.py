"""Adapts plugins that are written for one node, so that the framework has one form of Filter and one of Score."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from schedviz.engine.framework.cycle_state import CycleState
from schedviz.engine.framework.interface import NodeFilterPlugin, NodeScorePlugin, Scores
from schedviz.engine.framework.rows import Rows
from schedviz.engine.framework.status import SUCCESS, Status
from schedviz.engine.framework.types import PodInfo
from schedviz.engine.framework.verdicts import Verdicts

Filter = Callable[[CycleState, PodInfo, Rows], Verdicts | None]
Score = Callable[[CycleState, PodInfo, Rows], Scores | Status]


def filter_of(plugin: Any) -> Filter:
    """The plugin's `filter`, or an adapter of its `filter_node`."""
    return _adapted_filter(plugin) if isinstance(plugin, NodeFilterPlugin) else plugin.filter


def score_of(plugin: Any) -> Score:
    """The plugin's `score`, or an adapter of its `score_node`."""
    return _adapted_score(plugin) if isinstance(plugin, NodeScorePlugin) else plugin.score


def _adapted_filter(plugin: NodeFilterPlugin) -> Filter:
    def filter_rows(state: CycleState, pod: PodInfo, rows: Rows) -> Verdicts | None:
        statuses = [plugin.filter_node(state, pod, info) for info in rows.infos]
        return None if all(status is SUCCESS for status in statuses) else Verdicts.of(statuses)

    return filter_rows


def _adapted_score(plugin: NodeScorePlugin) -> Score:
    def score_rows(state: CycleState, pod: PodInfo, rows: Rows) -> Scores | Status:
        scores = np.zeros(len(rows), np.int64)
        for row, info in enumerate(rows.infos):
            score = plugin.score_node(state, pod, info)
            if isinstance(score, Status):
                return score
            scores[row] = score
        return scores

    return score_rows
