"""The cluster events of v1.36, its other causes of moves between the queues, and which registered event an incoming one matches.

Upstream: framework/events.go, framework/types.go MatchClusterEvents
"""

from __future__ import annotations

from typing import Final

from schedviz.engine.features import Features
from schedviz.engine.framework.pod_info_v1_36 import is_scaled_down
from schedviz.engine.framework.resource import exact_amount
from schedviz.engine.framework.types import GVK, ActionType, ClusterEvent, PodInfo
from schedviz.kube.core import Node, Pod

#: An incoming event about a pod on a node, or about a pending pod. Plugins register for `Pod`, which matches both.
ASSIGNED_POD: Final = "AssignedPod"
UNSCHEDULABLE_POD: Final = "UnschedulablePod"

#: Upstream's names of the actions, for labels.
_ACTIONS: Final = {
    ActionType.ADD: "Add",
    ActionType.DELETE: "Delete",
    ActionType.UPDATE_NODE_ALLOCATABLE: "UpdateNodeAllocatable",
    ActionType.UPDATE_NODE_LABEL: "UpdateNodeLabel",
    ActionType.UPDATE_NODE_TAINT: "UpdateNodeTaint",
    ActionType.UPDATE_NODE_CONDITION: "UpdateNodeCondition",
    ActionType.UPDATE_NODE_ANNOTATION: "UpdateNodeAnnotation",
    ActionType.UPDATE_NODE_DECLARED_FEATURE: "UpdateNodeDeclaredFeature",
    ActionType.UPDATE_POD_LABEL: "UpdatePodLabel",
    ActionType.UPDATE_POD_SCALE_DOWN: "UpdatePodScaleDown",
    ActionType.UPDATE_POD_TOLERATION: "UpdatePodToleration",
    ActionType.UPDATE_POD_SCHEDULING_GATES_ELIMINATED: "UpdatePodSchedulingGatesEliminated",
    ActionType.UPDATE_POD_GENERATED_RESOURCE_CLAIM: "UpdatePodGeneratedResourceClaim",
    ActionType.ALL: "All",
    ActionType.UPDATE: "Update",
}


def label_of(resource: str, action: ActionType) -> str:
    """Upstream: kube-scheduler/framework/types.go ClusterEvent.Label. A combination of actions has no name."""
    return f"{resource}{_ACTIONS.get(action, '')}"


def cluster_event(resource: str, action: ActionType) -> ClusterEvent:
    """An incoming event with upstream's label."""
    return ClusterEvent(resource, action, label_of(resource, action))


ASSIGNED_POD_ADD: Final = cluster_event(ASSIGNED_POD, ActionType.ADD)
ASSIGNED_POD_DELETE: Final = cluster_event(ASSIGNED_POD, ActionType.DELETE)
UNSCHEDULABLE_POD_ADD: Final = cluster_event(UNSCHEDULABLE_POD, ActionType.ADD)
UNSCHEDULABLE_POD_UPDATE: Final = cluster_event(UNSCHEDULABLE_POD, ActionType.UPDATE)
NODE_ADD: Final = cluster_event(GVK.NODE, ActionType.ADD)
NODE_DELETE: Final = cluster_event(GVK.NODE, ActionType.DELETE)
UNSCHEDULABLE_TIMEOUT: Final = ClusterEvent(GVK.WILD_CARD, ActionType.ALL, "UnschedulableTimeout")
FORCE_ACTIVATE: Final = ClusterEvent(GVK.WILD_CARD, ActionType.ALL, "ForceActivate")
#: Upstream's labels of causes that are no cluster events. `queue/unlabelled_causes` has the causes without a label.
SCHEDULE_ATTEMPT_FAILURE: Final = "ScheduleAttemptFailure"
BACKOFF_COMPLETE: Final = "BackoffComplete"
POP_FROM_BACKOFF_Q: Final = "PopFromBackoffQ"


def matches(registered: ClusterEvent, incoming: ClusterEvent) -> bool:
    """Whether the incoming event is the registered one, or more specific. Upstream: framework/types.go MatchClusterEvents"""
    if registered.is_wild_card:
        return True
    same = registered.resource in (GVK.WILD_CARD, incoming.resource) or (
        registered.resource == GVK.POD and incoming.resource in (ASSIGNED_POD, UNSCHEDULABLE_POD)
    )
    registered_action, action = int(registered.action_type), int(incoming.action_type)
    return same and registered_action & action != 0 and action <= registered_action


def pod_scheduling_properties_change(new: PodInfo, old: PodInfo, features: Features) -> list[ClusterEvent]:
    """The changes of a pod that plugins can wait for; the general Update if there is none.

    Upstream: framework/events.go PodSchedulingPropertiesChange
    """
    now, before = new.pod, old.pod
    resource = ASSIGNED_POD if now.spec.node_name else UNSCHEDULABLE_POD
    changes = [
        (ActionType.UPDATE_POD_LABEL, now.metadata.labels != before.metadata.labels),
        (ActionType.UPDATE_POD_SCALE_DOWN, is_scaled_down(now, before, features)),
        (ActionType.UPDATE_POD_SCHEDULING_GATES_ELIMINATED, bool(before.spec.scheduling_gates) and not now.spec.scheduling_gates),
        (ActionType.UPDATE_POD_TOLERATION, len(now.spec.tolerations) != len(before.spec.tolerations)),
        (
            ActionType.UPDATE_POD_GENERATED_RESOURCE_CLAIM,
            features.dynamic_resource_allocation and _generated_claims_changed(now, before),
        ),
    ]
    return [cluster_event(resource, action) for action, changed in changes if changed] or [cluster_event(resource, ActionType.UPDATE)]


def _generated_claims_changed(new: Pod, old: Pod) -> bool:
    return (
        new.status.resource_claim_statuses != old.status.resource_claim_statuses
        or new.status.extended_resource_claim_status != old.status.extended_resource_claim_status
    )


def _allocatable_changed(new: Node, old: Node) -> bool:
    """Whether an amount changed; another notation of the same amount is no change."""
    return new.status.allocatable != old.status.allocatable and _amounts(new) != _amounts(old)


def _amounts(node: Node) -> dict[str, int]:
    return {name: exact_amount(quantity) for name, quantity in node.status.allocatable.items()}


def node_scheduling_properties_change(new: Node, old: Node, features: Features) -> list[ClusterEvent]:
    """All changes of a node that plugins can wait for. Upstream: framework/events.go NodeSchedulingPropertiesChange"""
    changes = [
        (ActionType.UPDATE_NODE_TAINT, old.spec.unschedulable and not new.spec.unschedulable),
        (ActionType.UPDATE_NODE_ALLOCATABLE, _allocatable_changed(new, old)),
        (ActionType.UPDATE_NODE_LABEL, old.metadata.labels != new.metadata.labels),
        (ActionType.UPDATE_NODE_TAINT, old.spec.taints != new.spec.taints),
        (ActionType.UPDATE_NODE_CONDITION, _conditions(old) != _conditions(new)),
        (ActionType.UPDATE_NODE_ANNOTATION, _annotations(old) != _annotations(new)),
        (
            ActionType.UPDATE_NODE_DECLARED_FEATURE,
            features.node_declared_features and old.status.declared_features != new.status.declared_features,
        ),
    ]
    return [cluster_event(GVK.NODE, action) for action, changed in changes if changed]


def _conditions(node: Node) -> dict[str, str]:
    return {condition.type: condition.status for condition in node.status.conditions}


def _annotations(node: Node) -> tuple[dict[str, str], str]:
    """The annotations that are kept, and the digest of the others."""
    return node.metadata.annotations, node.metadata.unread_annotations
