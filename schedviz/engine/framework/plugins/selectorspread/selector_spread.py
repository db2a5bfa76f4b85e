"""SelectorSpread: prefers nodes and zones with fewer pods of the same services and controllers.

Not enabled by default, and rejected in a v1 configuration. Upstream: framework/plugins/selectorspread/selector_spread.go
"""

from __future__ import annotations

from typing import Any, Final, cast

import msgspec
import numpy as np

from schedviz.engine.framework.columns import IntArray
from schedviz.engine.framework.cycle_state import CycleState, NotFoundError, StateKey
from schedviz.engine.framework.interface import MAX_NODE_SCORE, Handle, Scores
from schedviz.engine.framework.plugins import names
from schedviz.engine.framework.plugins.helper.spread import default_selector
from schedviz.engine.framework.rows import Rows
from schedviz.engine.framework.status import SUCCESS, Status, as_status
from schedviz.engine.framework.types import NodeInfo, PodInfo
from schedviz.kube.selectors import Selector
from schedviz.kube.zones import zone_key

#: The weight of the zone against the node.
ZONE_WEIGHTING: Final = 2.0 / 3.0

#: The code of a node without a zone.
NO_ZONE: Final = -1


class PreScoreState(msgspec.Struct, frozen=True):
    """The selector of the pods that belong together, and the zone of each feasible row as a number."""

    selector: Selector
    zones: tuple[int, ...]

    def clone(self) -> PreScoreState:
        return self


PRE_SCORE_STATE_KEY: Final = StateKey(f"PreScore{names.SELECTOR_SPREAD}", PreScoreState)


class SelectorSpread:
    name = names.SELECTOR_SPREAD

    def __init__(self, _args: Any, handle: Handle) -> None:
        self._handle = handle

    def pre_score(self, state: CycleState, pod: PodInfo, rows: Rows) -> Status:
        if not _is_skipped(pod):
            selector = default_selector(pod.pod, self._handle.objects)
            state.write(PRE_SCORE_STATE_KEY, PreScoreState(selector, tuple(zones_of(rows).tolist())))
        return SUCCESS

    def score(self, state: CycleState, pod: PodInfo, rows: Rows) -> Scores | Status:
        """The number of pods of each node that belong together with this one."""
        if _is_skipped(pod):
            return np.zeros(len(rows), np.int64)
        try:
            selector = state.read(PRE_SCORE_STATE_KEY).selector
        except NotFoundError as error:
            return as_status(f'reading "{PRE_SCORE_STATE_KEY.name}" from cycleState: {error}')
        return matching_pods(rows, selector, pod.namespace)

    def normalize_score(self, state: CycleState, pod: PodInfo, scores: Scores) -> Scores | Status:
        if _is_skipped(pod):
            return scores
        try:
            zones = state.read(PRE_SCORE_STATE_KEY).zones
        except NotFoundError as error:
            return as_status(f'reading "{PRE_SCORE_STATE_KEY.name}" from cycleState: {error}')
        return spread_scores(scores, np.array(zones, np.int64), MAX_NODE_SCORE)


def _is_skipped(pod: PodInfo) -> bool:
    """Whether the pod has spread constraints of its own. Upstream: skipSelectorSpread"""
    return bool(pod.pod.spec.topology_spread_constraints)


def zones_of(rows: Rows) -> IntArray:
    """The zone of each row's node as a number, NO_ZONE if it has none."""

    def zone(node_info: NodeInfo) -> str:
        return "" if node_info.node is None else zone_key(node_info.node)

    codes, values = rows.classes((names.SELECTOR_SPREAD, "zone"), zone)
    numbers = [NO_ZONE if value == "" else code for code, value in enumerate(cast("list[str]", values))]
    return np.array(numbers, np.int64)[codes]


def matching_pods(rows: Rows, selector: Selector, namespace: str) -> Scores:
    """Selected pods of the namespace that are not terminating, by row. An empty selector selects none. Upstream: countMatchingPods"""
    if selector.is_empty:
        return np.zeros(len(rows), np.int64)

    def count(node_info: NodeInfo) -> int:
        return sum(
            1
            for other in node_info.pods
            if other.namespace == namespace
            and other.pod.metadata.deletion_timestamp is None
            and selector.matches(other.pod.metadata.labels)
        )

    return rows.info_column((names.SELECTOR_SPREAD, selector, namespace), count, np.int64).astype(np.int64, copy=False)


def spread_scores(counts: Scores, zones: IntArray, maximum: int) -> Scores:
    """Scores of 0 to `maximum` from counts: one third for the node, two thirds for its zone if it has one. Upstream: NormalizeScore

    Floats are added in upstream's order.
    """
    highest = float(maximum)
    most = int(counts.max(initial=0))
    scores = np.full(len(counts), highest)
    if most > 0:
        scores = highest * ((most - counts).astype(np.float64) / float(most))
    zoned = zones != NO_ZONE
    if zoned.any():
        by_zone = np.zeros(int(zones.max()) + 1, np.int64)
        np.add.at(by_zone, zones[zoned], counts[zoned])
        of_zone = by_zone[np.where(zoned, zones, 0)]
        most_of_zone = max(0, int(by_zone.max(initial=0)))
        zone_scores = np.full(len(counts), highest)
        if most_of_zone > 0:
            zone_scores = highest * ((most_of_zone - of_zone).astype(np.float64) / float(most_of_zone))
        scores = np.where(zoned, scores * (1.0 - ZONE_WEIGHTING) + ZONE_WEIGHTING * zone_scores, scores)
    return scores.astype(np.int64)
