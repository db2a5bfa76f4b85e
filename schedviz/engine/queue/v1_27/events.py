"""Events that move pods within the queue of v1.27.1, and the plugins that wait for them. Upstream: internal/queue/events.go

Those of v1.36 are in `v1_36/cluster_events`. Both queues have the causes in `unlabelled_causes`, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, Protocol

from schedviz.engine.framework.types import GVK, ActionType, ClusterEvent, QueuedPodInfo

#: A pod was created.
POD_ADD: Final = "PodAdd"
#: A scheduling attempt failed.
SCHEDULE_ATTEMPT_FAILURE: Final = "ScheduleAttemptFailure"
#: A pod's backoff ended.
BACKOFF_COMPLETE: Final = "BackoffComplete"
#: A plugin requested that the pod be activated.
FORCE_ACTIVATE: Final = "ForceActivate"
#: A pending pod was updated.
POD_UPDATE: Final = "PodUpdate"

ASSIGNED_POD_ADD: Final = ClusterEvent(GVK.POD, ActionType.ADD, "AssignedPodAdd")
NODE_ADD: Final = ClusterEvent(GVK.NODE, ActionType.ADD, "NodeAdd")
ASSIGNED_POD_UPDATE: Final = ClusterEvent(GVK.POD, ActionType.UPDATE, "AssignedPodUpdate")
ASSIGNED_POD_DELETE: Final = ClusterEvent(GVK.POD, ActionType.DELETE, "AssignedPodDelete")
NODE_SPEC_UNSCHEDULABLE_CHANGE: Final = ClusterEvent(GVK.NODE, ActionType.UPDATE_NODE_TAINT, "NodeSpecUnschedulableChange")
NODE_ALLOCATABLE_CHANGE: Final = ClusterEvent(GVK.NODE, ActionType.UPDATE_NODE_ALLOCATABLE, "NodeAllocatableChange")
NODE_LABEL_CHANGE: Final = ClusterEvent(GVK.NODE, ActionType.UPDATE_NODE_LABEL, "NodeLabelChange")
NODE_TAINT_CHANGE: Final = ClusterEvent(GVK.NODE, ActionType.UPDATE_NODE_TAINT, "NodeTaintChange")
NODE_CONDITION_CHANGE: Final = ClusterEvent(GVK.NODE, ActionType.UPDATE_NODE_CONDITION, "NodeConditionChange")
STORAGE_CLASS_ADD: Final = ClusterEvent(GVK.STORAGE_CLASS, ActionType.ADD, "StorageClassAdd")
STORAGE_CLASS_UPDATE: Final = ClusterEvent(GVK.STORAGE_CLASS, ActionType.UPDATE, "StorageClassUpdate")
UNSCHEDULABLE_TIMEOUT: Final = ClusterEvent(GVK.WILD_CARD, ActionType.ALL, "UnschedulableTimeout")


class ClusterEventMap:
    """The ClusterEvents that plugins have registered for."""

    def __init__(self, cluster_event_map: Mapping[ClusterEvent, Iterable[str]]) -> None:
        self._registered = {event: frozenset(plugins) for event, plugins in cluster_event_map.items()}
        #: Cache of `_of`.
        self._plugins_of: dict[ClusterEvent, frozenset[str]] = {}

    def may_help(self, event: ClusterEvent, queued: QueuedPodInfo) -> bool:
        """Whether a plugin that rejected the pod waits for the event. Upstream: scheduling_queue.go podMatchesEvent"""
        return event.is_wild_card or not self._of(event).isdisjoint(queued.unschedulable_plugins)

    def _of(self, event: ClusterEvent) -> frozenset[str]:
        plugins = self._plugins_of.get(event)
        if plugins is None:
            plugins = self._plugins_of[event] = frozenset().union(
                *(
                    waiting
                    for registered, waiting in self._registered.items()
                    if registered.is_wild_card or (registered.resource == event.resource and registered.action_type & event.action_type)
                )
            )
        return plugins


class RegistersEvents(Protocol):
    """A profile, whose plugins have registered for events."""

    def cluster_event_map(self) -> Mapping[ClusterEvent, set[str]]: ...


def merged_event_map(profiles: Mapping[str, RegistersEvents]) -> dict[ClusterEvent, set[str]]:
    """The events that any plugin of any profile has registered for."""
    merged: dict[ClusterEvent, set[str]] = {}
    for profile in profiles.values():
        for event, plugins in profile.cluster_event_map().items():
            merged.setdefault(event, set()).update(plugins)
    return merged
