"""Event handlers: which watch event leads to which call of cache and queue.

Upstream: pkg/scheduler/eventhandlers.go
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, Final, Protocol

from schedviz.engine.cache import CacheError
from schedviz.engine.cluster.watch import WatchEvent
from schedviz.engine.framework.types import GVK, ActionType, ClusterEvent
from schedviz.engine.node_events import node_scheduling_properties_change, pre_check_for_node
from schedviz.engine.queue.v1_27 import events as queue_events
from schedviz.engine.scheduler_state import SchedulerState
from schedviz.kube.core import Node, Pod
from schedviz.kube.meta import KubeObject
from schedviz.kube.storage import StorageClass

#: Kinds whose changes move pods only if a plugin has registered for them: kind -> its name in cluster events and in their labels.
_WATCHED_FOR_PLUGINS: Final[Mapping[str, tuple[str, str]]] = {
    "CSINode": (GVK.CSI_NODE, "CSINode"),
    "CSIDriver": (GVK.CSI_DRIVER, "CSIDriver"),
    "CSIStorageCapacity": (GVK.CSI_STORAGE_CAPACITY, "CSIStorageCapacity"),
    "PersistentVolume": (GVK.PERSISTENT_VOLUME, "Pv"),
    "PersistentVolumeClaim": (GVK.PERSISTENT_VOLUME_CLAIM, "Pvc"),
}


class Handlers(Protocol):
    """The event handlers of a release."""

    def handle(self, event: WatchEvent, before: KubeObject | None) -> None:
        """Call the handlers of the event's kind. `before` is what the informer's store held."""
        ...


class EventHandlers:
    """Handles each watch event, after the informer's store was updated."""

    def __init__(self, state: SchedulerState) -> None:
        self._state = state
        self._cache = state.cache
        self._queue = state.queue
        #: Resource -> the actions that plugins have registered for. Upstream: gvkMap
        self._gvk_map = unioned_gvks(queue_events.merged_event_map(state.profiles))

    def handle(self, event: WatchEvent, before: KubeObject | None) -> None:
        """Call the handlers of the event's kind. `before` is what the informer's store held."""
        match event.object:
            case Pod() as pod:
                self._pod(event, before, pod)
            case Node() as node:
                self._node(event, before, node)
            case StorageClass() as storage_class:
                self._storage_class(event, before, storage_class)
            case _:
                self._other(event, before)

    # Pods: the cache's handlers run before the queue's, in the order of registration.

    def _pod(self, event: WatchEvent, before: KubeObject | None, pod: Pod) -> None:
        old = before if isinstance(before, Pod) else None
        if event.final_state_unknown:
            # The last known state may be stale, so both cache and queue clean up, whether or not the pod was assigned.
            self._delete_pod_from_cache(pod)
            if pod.spec.scheduler_name in self._state.profiles:
                self._delete_pod_from_queue(pod)
            return
        if event.verb == "DELETED":
            old, new = pod, None
        else:
            new = pod
        _filtered(_assigned, old, new, self._add_pod_to_cache, self._update_pod_in_cache, self._delete_pod_from_cache)
        _filtered(self._belongs_in_queue, old, new, self._add_pod_to_queue, self._update_pod_in_queue, self._delete_pod_from_queue)

    def _belongs_in_queue(self, pod: Pod) -> bool:
        """Upstream: assignedPod, responsibleForPod"""
        return not pod.spec.node_name and pod.spec.scheduler_name in self._state.profiles

    def _add_pod_to_cache(self, pod: Pod) -> None:
        info = self._state.known_pod_info(pod)
        with logged_cache_errors():
            self._cache.add_pod(info)
        self._queue.assigned_pod_added(info)

    def _update_pod_in_cache(self, old: Pod, new: Pod) -> None:
        info = self._state.known_pod_info(new)
        with logged_cache_errors():
            self._cache.update_pod(self._state.known_pod_info(old), info)
        self._queue.assigned_pod_updated(info)

    def _delete_pod_from_cache(self, pod: Pod) -> None:
        with logged_cache_errors():
            self._cache.remove_pod(pod)
        self._queue.move_all_to_active_or_backoff_queue(queue_events.ASSIGNED_POD_DELETE)

    def _add_pod_to_queue(self, pod: Pod) -> None:
        self._queue.add(self._state.pod_info(pod))

    def _update_pod_in_queue(self, old: Pod, new: Pod) -> None:
        if old.metadata.resource_version == new.metadata.resource_version:
            return
        if not self._cache.is_assumed_pod(new):
            self._queue.update(self._state.pod_info(old), self._state.pod_info(new))

    def _delete_pod_from_queue(self, pod: Pod) -> None:
        self._queue.delete(self._state.known_pod_info(pod))
        framework = self._state.profiles[pod.spec.scheduler_name]
        waiting = framework.waiting_pods.get(pod.uid)
        if waiting is not None:
            # The pod was assumed, so its resources are free again.
            waiting.reject("", "removed")
            self._queue.move_all_to_active_or_backoff_queue(queue_events.ASSIGNED_POD_DELETE)

    # Nodes.

    def _node(self, event: WatchEvent, before: KubeObject | None, node: Node) -> None:
        if event.verb == "DELETED":
            with logged_cache_errors():
                self._cache.remove_node(node)
        elif isinstance(before, Node):
            info = self._cache.update_node(before, node)
            change = node_scheduling_properties_change(node, before)
            if change is not None:
                self._queue.move_all_to_active_or_backoff_queue(change, pre_check_for_node(info))
        else:
            info = self._cache.add_node(node)
            self._queue.move_all_to_active_or_backoff_queue(queue_events.NODE_ADD, pre_check_for_node(info))

    # All other kinds move pods if a plugin has registered for the change.

    def _storage_class(self, event: WatchEvent, before: KubeObject | None, storage_class: StorageClass) -> None:
        registered = self._gvk_map.get(GVK.STORAGE_CLASS, ActionType(0))
        if event.verb == "DELETED":
            return
        if before is None:
            # Only late binding can make a claim without a volume schedulable.
            if registered & ActionType.ADD and storage_class.volume_binding_mode == "WaitForFirstConsumer":
                self._queue.move_all_to_active_or_backoff_queue(queue_events.STORAGE_CLASS_ADD)
        elif registered & ActionType.UPDATE:
            self._queue.move_all_to_active_or_backoff_queue(queue_events.STORAGE_CLASS_UPDATE)

    def _other(self, event: WatchEvent, before: KubeObject | None) -> None:
        watched = _WATCHED_FOR_PLUGINS.get(event.kind)
        if watched is None:
            return
        gvk, short = watched
        if event.verb == "DELETED":
            action, verb = ActionType.DELETE, "Delete"
        elif before is None:
            action, verb = ActionType.ADD, "Add"
        else:
            action, verb = ActionType.UPDATE, "Update"
        if self._gvk_map.get(gvk, ActionType(0)) & action:
            self._queue.move_all_to_active_or_backoff_queue(ClusterEvent(gvk, action, f"{short}{verb}"))


def _filtered(
    is_relevant: Callable[[Pod], bool],
    old: Pod | None,
    new: Pod | None,
    add: Callable[[Pod], None],
    update: Callable[[Pod, Pod], None],
    delete: Callable[[Pod], None],
) -> None:
    """Call a handler that sees only some pods: a pod that starts to match is added, one that stops matching is deleted.

    Upstream: client-go tools/cache/controller.go FilteringResourceEventHandler
    """
    before = old is not None and is_relevant(old)
    now = new is not None and is_relevant(new)
    if before and now:
        assert old is not None
        assert new is not None
        update(old, new)
    elif now:
        assert new is not None
        add(new)
    elif before:
        assert old is not None
        delete(old)


def logged_cache_errors() -> suppress:
    """Suppress errors that upstream's handlers only log."""
    return suppress(CacheError)


def _assigned(pod: Pod) -> bool:
    return bool(pod.spec.node_name)


def unioned_gvks(events: Mapping[ClusterEvent, Any]) -> dict[str, ActionType]:
    """The actions that any plugin has registered for, by resource. Upstream: pkg/scheduler/scheduler.go unionedGVKs"""
    result: dict[str, ActionType] = {}
    for event in events:
        result[event.resource] = result.get(event.resource, ActionType(0)) | event.action_type
    return result
