"""The scheduler's patch of a pod's status: the differences from its version of the pod, merged into the present one.

Upstream: util/utils.go PatchPodStatus (a strategic merge patch; conditions merge by type)
"""

from __future__ import annotations

import json

import msgspec
from msgspec.structs import replace

from schedviz.kube.core import PodCondition, PodStatus
from schedviz.kube.meta import condition_of, conditions_with


class StatusPatch(msgspec.Struct, frozen=True):
    """Fields of one condition, and of the nomination. None: not in the patch."""

    condition_type: str = ""
    status: str | None = None
    reason: str | None = None
    message: str | None = None
    last_transition_time: str | None = None
    nominated_node_name: str | None = None

    @property
    def detail(self) -> str:
        """The patch in FORMAT.md's form: `condition PodScheduled=False Unschedulable; nominatedNodeName="n1"`."""
        parts = []
        if self.condition_type:
            parts.append(f"condition {self.condition_type}={self.status or ''} {self.reason or ''}")
        if self.nominated_node_name is not None:
            parts.append(f"nominatedNodeName={json.dumps(self.nominated_node_name or None)}")
        return "; ".join(parts)

    def detail_after(self, status: PodStatus | None) -> str:
        """The patch in FORMAT-1.36's form: the members that it changes, with the values that they have in the status after it.

        None: the write failed; the values are those of the patch, and a member of the condition that is not in it is `<nil>`.
        """
        parts = []
        if self.condition_type:
            result = self if status is None else condition_of(status.conditions, self.condition_type) or self
            values = ["<nil>" if value is None else value for value in (result.status, result.reason)]
            parts.append(f"condition {self.condition_type}={values[0]} {values[1]}")
        if self.nominated_node_name is not None:
            name = self.nominated_node_name if status is None else status.nominated_node_name
            parts.append(f"nominatedNodeName={json.dumps(name)}")
        return "; ".join(parts)

    def apply(self, status: PodStatus) -> PodStatus:
        """The status with the patch merged into it."""
        if self.nominated_node_name is not None:
            status = replace(status, nominated_node_name=self.nominated_node_name)
        if not self.condition_type:
            return status
        old = condition_of(status.conditions, self.condition_type) or PodCondition(type=self.condition_type)
        new = PodCondition(
            type=self.condition_type,
            status=old.status if self.status is None else self.status,
            reason=old.reason if self.reason is None else self.reason,
            message=old.message if self.message is None else self.message,
            last_transition_time=old.last_transition_time if self.last_transition_time is None else self.last_transition_time,
        )
        return with_applied(status, new)


def between(base: PodStatus, condition: PodCondition | None, nominated_node_name: str | None) -> StatusPatch | None:
    """The patch that gives `base` this condition and nomination; None: it has them.

    Upstream: pkg/api/v1/pod/util.go UpdatePodCondition (a condition whose status stays keeps its transition time)
    """
    if nominated_node_name == base.nominated_node_name:
        nominated_node_name = None
    patch = StatusPatch(nominated_node_name=nominated_node_name)
    if condition is not None:
        old = condition_of(base.conditions, condition.type)
        if old is None:
            patch = replace(
                patch,
                condition_type=condition.type,
                status=condition.status,
                reason=condition.reason,
                message=condition.message,
                last_transition_time=condition.last_transition_time,
            )
        else:
            moved = condition.status != old.status
            fields = {
                "status": condition.status if moved else None,
                "reason": condition.reason if condition.reason != old.reason else None,
                "message": condition.message if condition.message != old.message else None,
                "last_transition_time": condition.last_transition_time if moved else None,
            }
            if any(value is not None for value in fields.values()):
                patch = replace(patch, condition_type=condition.type, **fields)
    return patch if patch.condition_type or patch.nominated_node_name is not None else None


def with_condition(status: PodStatus, condition: PodCondition) -> PodStatus:
    """The status with a condition set; its transition time changes only if its status changes."""
    old = condition_of(status.conditions, condition.type)
    if old is not None and old.status == condition.status:
        condition = replace(condition, last_transition_time=old.last_transition_time)
    return with_applied(status, condition)


def with_applied(status: PodStatus, condition: PodCondition) -> PodStatus:
    """The status with exactly this condition set."""
    return replace(status, conditions=conditions_with(status.conditions, condition))
