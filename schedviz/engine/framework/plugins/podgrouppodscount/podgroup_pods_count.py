"""PodGroupPodsCount: prefers the placement in which the most pods of the group get a node. v1.36.

Upstream: framework/plugins/podgrouppodscount/podgroup_pods_count.go
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from schedviz.engine.framework.interface import MAX_NODE_SCORE, Handle
from schedviz.engine.framework.plugins import names
from schedviz.engine.framework.pod_groups import PodGroupAssignments, PodGroupInfo
from schedviz.engine.framework.status import Status, as_status


class PodGroupPodsCount:
    name = names.POD_GROUP_PODS_COUNT

    def __init__(self, _args: Any, handle: Handle) -> None:
        self._handle = handle

    def score_placement(self, group: PodGroupInfo, assignments: PodGroupAssignments) -> int | Status:
        """The number of pods of the group that would have a node."""
        try:
            state = self._handle.snapshot.pod_group(group.key)
        except LookupError as error:
            return as_status(str(error))
        return state.scheduled_pods_count + len(assignments.proposed)

    def normalize_placement_score(self, group: PodGroupInfo, scores: Sequence[int]) -> Sequence[int] | Status:  # noqa: ARG002
        """In proportion to the highest number, which gets 100."""
        most = max(scores, default=0)
        if most == 0:
            return as_status("no pods from pod group are assigned to any of the candidate placements")
        return [score * MAX_NODE_SCORE // most for score in scores]
