"""TaintToleration: taints that the pod does not tolerate reject a node or lower its score.

Upstream: framework/plugins/tainttoleration/taint_toleration.go
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, cast

import msgspec
import numpy as np

from schedviz.engine.framework.columns import IntArray
from schedviz.engine.framework.cycle_state import CycleState, NotFoundError, StateKey
from schedviz.engine.framework.interface import FilterReads, Handle, Scores
from schedviz.engine.framework.plugins import names
from schedviz.engine.framework.plugins.helper.normalize_score import default_normalize_score
from schedviz.engine.framework.plugins.helper.taint import (
    HARD_TAINT_EFFECTS,
    PREFER_NO_SCHEDULE,
    find_matching_untolerated_taint,
    tolerations_tolerate_taint,
)
from schedviz.engine.framework.rows import Rows
from schedviz.engine.framework.status import SUCCESS, Status, as_status, unresolvable
from schedviz.engine.framework.types import GVK, ActionType, ClusterEvent, NodeInfo, PodInfo, RegisteredEvent
from schedviz.engine.framework.uniform import uniform
from schedviz.engine.framework.verdicts import CODE_TYPE, Verdicts
from schedviz.kube.affinity import Toleration
from schedviz.kube.core import Taint

Taints = tuple[Taint, ...]


class PreScoreState(msgspec.Struct, frozen=True):
    """The pod's tolerations that apply to PreferNoSchedule."""

    tolerations: tuple[Toleration, ...]

    def clone(self) -> PreScoreState:
        return self


PRE_SCORE_STATE_KEY: Final = StateKey(f"PreScore{names.TAINT_TOLERATION}", PreScoreState)


class TaintToleration:
    name = names.TAINT_TOLERATION

    def __init__(self, _args: Any, _handle: Handle) -> None:
        pass

    def events_to_register(self) -> Sequence[RegisteredEvent]:
        return (ClusterEvent(GVK.NODE, ActionType.ADD | ActionType.UPDATE),)

    def filter_reads(self, state: CycleState, pod: PodInfo) -> FilterReads:  # noqa: ARG002 - the extension point's shape
        return FilterReads.NODE

    def filter(self, state: CycleState, pod: PodInfo, rows: Rows) -> Verdicts | None:  # noqa: ARG002 - the extension point's shape
        """Compute one status for each distinct set of hard taints in the cluster."""
        classes, taint_sets = taint_sets_of(rows, HARD_TAINT_EFFECTS)
        tolerations = pod.pod.spec.tolerations
        untolerated = [find_matching_untolerated_taint(taints, tolerations) for taints in taint_sets]
        if not any(untolerated):
            return None
        statuses: dict[Status, int] = {SUCCESS: 0}
        codes = [0 if taint is None else statuses.setdefault(_untolerated(taint), len(statuses)) for taint in untolerated]
        return Verdicts(np.array(codes, CODE_TYPE)[classes], tuple(statuses))

    def pre_score(self, state: CycleState, pod: PodInfo, rows: Rows) -> Status:
        if len(rows):
            soft = tuple(toleration for toleration in pod.pod.spec.tolerations if toleration.effect in ("", PREFER_NO_SCHEDULE))
            state.write(PRE_SCORE_STATE_KEY, PreScoreState(soft))
        return SUCCESS

    def score(self, state: CycleState, pod: PodInfo, rows: Rows) -> Scores | Status:  # noqa: ARG002 - the extension point's shape
        """The number of PreferNoSchedule taints of each node that the pod does not tolerate."""
        try:
            tolerations = state.read(PRE_SCORE_STATE_KEY).tolerations
        except NotFoundError as error:
            return as_status(f'failed to read "{PRE_SCORE_STATE_KEY.name}" from cycleState: {error}')
        classes, taint_sets = taint_sets_of(rows, (PREFER_NO_SCHEDULE,))
        counts = [sum(1 for taint in taints if not self._tolerate(tolerations, taint)) for taints in taint_sets]
        if len(set(counts)) == 1:
            return uniform(len(rows), counts[0])
        return np.array(counts, np.int64)[classes]

    def _tolerate(self, tolerations: Sequence[Toleration], taint: Taint) -> bool:
        """Whether any of the tolerations tolerates the taint."""
        return tolerations_tolerate_taint(tolerations, taint)

    def normalize_score(self, state: CycleState, pod: PodInfo, scores: Scores) -> Scores | Status:  # noqa: ARG002
        return default_normalize_score(scores, reverse=True)


def _untolerated(taint: Taint) -> Status:
    return unresolvable(f"node(s) had untolerated taint {{{taint.key}: {taint.value}}}")


def taint_sets_of(rows: Rows, effects: tuple[str, ...]) -> tuple[IntArray, list[Taints]]:
    """The distinct sets of taints with these effects, and the set of each row."""

    def taints(node_info: NodeInfo) -> Taints:
        return tuple(taint for taint in node_info.node.spec.taints if taint.effect in effects) if node_info.node is not None else ()

    classes, values = rows.classes((names.TAINT_TOLERATION, effects), taints)
    return classes, cast("list[Taints]", values)
