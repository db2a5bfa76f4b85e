"""The scheduler's patch of a pod group's status: one condition. Upstream: apimachinery/pkg/api/meta/conditions.go SetStatusCondition"""

from __future__ import annotations

from msgspec.structs import replace

from schedviz.kube.meta import Condition, condition_of, conditions_with
from schedviz.kube.workloads import PodGroupStatus


def changed_condition(status: PodGroupStatus, condition: Condition, now: str) -> Condition | None:
    """The condition as it would be in the status; None: the status has it. Its transition time changes only with its status."""
    existing = condition_of(status.conditions, condition.type)
    changed_at = existing.last_transition_time if existing is not None and existing.status == condition.status else now
    condition = replace(condition, last_transition_time=changed_at)
    return None if condition == existing else condition


def merged(status: PodGroupStatus, condition: Condition) -> PodGroupStatus:
    """The status with this condition."""
    return replace(status, conditions=conditions_with(status.conditions, condition))
