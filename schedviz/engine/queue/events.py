"""What can move pods within the queue. Upstream: internal/queue/events.go"""

from __future__ import annotations

from typing import Final

from schedviz.engine.framework.types import GVK, ActionType, ClusterEvent

#: A new pod came.
POD_ADD: Final = "PodAdd"
#: A scheduling attempt failed.
SCHEDULE_ATTEMPT_FAILURE: Final = "ScheduleAttemptFailure"
#: A pod's backoff is over.
BACKOFF_COMPLETE: Final = "BackoffComplete"
#: A plugin asked for the pod.
FORCE_ACTIVATE: Final = "ForceActivate"
#: A waiting pod was updated.
POD_UPDATE: Final = "PodUpdate"
#: A waiting pod is gone. Not an event of upstream's: its Delete has no label.
POD_DELETE: Final = "PodDelete"
#: The scheduler took the pod. Not an event of upstream's: its Pop has no label.
POP: Final = "Pop"
#: Ours: the scheduler was given another configuration.
CONFIGURE: Final = "Configure"

ASSIGNED_POD_ADD: Final = ClusterEvent(GVK.POD, ActionType.ADD, "AssignedPodAdd")
NODE_ADD: Final = ClusterEvent(GVK.NODE, ActionType.ADD, "NodeAdd")
ASSIGNED_POD_UPDATE: Final = ClusterEvent(GVK.POD, ActionType.UPDATE, "AssignedPodUpdate")
ASSIGNED_POD_DELETE: Final = ClusterEvent(GVK.POD, ActionType.DELETE, "AssignedPodDelete")
NODE_SPEC_UNSCHEDULABLE_CHANGE: Final = ClusterEvent(GVK.NODE, ActionType.UPDATE_NODE_TAINT, "NodeSpecUnschedulableChange")
NODE_ALLOCATABLE_CHANGE: Final = ClusterEvent(GVK.NODE, ActionType.UPDATE_NODE_ALLOCATABLE, "NodeAllocatableChange")
NODE_LABEL_CHANGE: Final = ClusterEvent(GVK.NODE, ActionType.UPDATE_NODE_LABEL, "NodeLabelChange")
NODE_TAINT_CHANGE: Final = ClusterEvent(GVK.NODE, ActionType.UPDATE_NODE_TAINT, "NodeTaintChange")
NODE_CONDITION_CHANGE: Final = ClusterEvent(GVK.NODE, ActionType.UPDATE_NODE_CONDITION, "NodeConditionChange")
PV_ADD: Final = ClusterEvent(GVK.PERSISTENT_VOLUME, ActionType.ADD, "PvAdd")
PV_UPDATE: Final = ClusterEvent(GVK.PERSISTENT_VOLUME, ActionType.UPDATE, "PvUpdate")
PVC_ADD: Final = ClusterEvent(GVK.PERSISTENT_VOLUME_CLAIM, ActionType.ADD, "PvcAdd")
PVC_UPDATE: Final = ClusterEvent(GVK.PERSISTENT_VOLUME_CLAIM, ActionType.UPDATE, "PvcUpdate")
STORAGE_CLASS_ADD: Final = ClusterEvent(GVK.STORAGE_CLASS, ActionType.ADD, "StorageClassAdd")
STORAGE_CLASS_UPDATE: Final = ClusterEvent(GVK.STORAGE_CLASS, ActionType.UPDATE, "StorageClassUpdate")
CSI_NODE_ADD: Final = ClusterEvent(GVK.CSI_NODE, ActionType.ADD, "CSINodeAdd")
CSI_NODE_UPDATE: Final = ClusterEvent(GVK.CSI_NODE, ActionType.UPDATE, "CSINodeUpdate")
CSI_DRIVER_ADD: Final = ClusterEvent(GVK.CSI_DRIVER, ActionType.ADD, "CSIDriverAdd")
CSI_DRIVER_UPDATE: Final = ClusterEvent(GVK.CSI_DRIVER, ActionType.UPDATE, "CSIDriverUpdate")
CSI_STORAGE_CAPACITY_ADD: Final = ClusterEvent(GVK.CSI_STORAGE_CAPACITY, ActionType.ADD, "CSIStorageCapacityAdd")
CSI_STORAGE_CAPACITY_UPDATE: Final = ClusterEvent(GVK.CSI_STORAGE_CAPACITY, ActionType.UPDATE, "CSIStorageCapacityUpdate")
WILD_CARD_EVENT: Final = ClusterEvent(GVK.WILD_CARD, ActionType.ALL, "WildCardEvent")
UNSCHEDULABLE_TIMEOUT: Final = ClusterEvent(GVK.WILD_CARD, ActionType.ALL, "UnschedulableTimeout")
