"""Event handlers of v1.36: which watch event leads to which call of cache and queue.

Upstream: pkg/scheduler/eventhandlers.go
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from schedviz.engine.cache import CacheError
from schedviz.engine.cluster.watch import WatchEvent
from schedviz.engine.event_handlers import logged_cache_errors, unioned_gvks
from schedviz.engine.framework.types import GVK, ActionType, PodInfo
from schedviz.engine.queue.v1_27.events import merged_event_map
from schedviz.engine.queue.v1_36 import cluster_events
from schedviz.engine.queue.v1_36.cluster_events import cluster_event, node_scheduling_properties_change, pod_scheduling_properties_change
from schedviz.engine.scheduler_state import SchedulerState
from schedviz.kube.core import Node, Pod
from schedviz.kube.devices import DeviceTaintRule, ResourceClaim, ResourceSlice
from schedviz.kube.meta import KubeObject

#: Kinds whose changes are cluster events if a plugin has registered for them.
_WATCHED_FOR_PLUGINS: Final[Mapping[str, str]] = {
    "CSINode": GVK.CSI_NODE,
    "CSIDriver": GVK.CSI_DRIVER,
    "CSIStorageCapacity": GVK.CSI_STORAGE_CAPACITY,
    "PersistentVolume": GVK.PERSISTENT_VOLUME,
    "PersistentVolumeClaim": GVK.PERSISTENT_VOLUME_CLAIM,
    "StorageClass": GVK.STORAGE_CLASS,
    "VolumeAttachment": GVK.VOLUME_ATTACHMENT,
    "ResourceClaim": GVK.RESOURCE_CLAIM,
    "ResourceSlice": GVK.RESOURCE_SLICE,
    "DeviceClass": GVK.DEVICE_CLASS,
    "PodGroup": GVK.POD_GROUP,
}


class EventHandlersV136:
    """Handles each watch event, after the informer's store was updated."""

    def __init__(self, state: SchedulerState) -> None:
        self._state = state
        self._cache = state.cache
        self._queue = state.queue
        #: Resource -> the actions that plugins have registered for. Upstream: gvkMap
        self._gvk_map = unioned_gvks(merged_event_map(state.profiles))
        if state.dra_manager is not None:
            state.dra_manager.claims.on_change = self._claim_changed

    def handle(self, event: WatchEvent, before: KubeObject | None) -> None:
        """Call the handlers of the event's kind. `before` is what the informer's store held."""
        match event.object:
            case Pod() as pod:
                self._pod(event, before if isinstance(before, Pod) else None, pod)
            case Node() as node:
                self._node(event, before if isinstance(before, Node) else None, node)
            case _:
                self._other(event, before)

    # Pods

    def _pod(self, event: WatchEvent, old: Pod | None, pod: Pod) -> None:
        if event.final_state_unknown:
            # The last known state may be stale, so both cache and queue clean up, whether or not the pod was assigned.
            self._delete_from_cache(pod)
            if self._is_responsible_for(pod):
                self._delete_from_queue(pod, in_binding=False)
        elif event.verb == "DELETED":
            self._delete_pod(pod)
        elif old is None:
            self._add_pod(pod)
        else:
            self._update_pod(old, pod)

    def _is_responsible_for(self, pod: Pod) -> bool:
        """Upstream: responsibleForPod"""
        return pod.spec.scheduler_name in self._state.profiles

    def _add_pod(self, pod: Pod) -> None:
        """Upstream: addPod"""
        if pod.spec.node_name:
            self._add_to_cache(pod)
        elif self._is_responsible_for(pod):
            self._cache.add_pod_group_member(pod)
            self._queue.add(self._state.pod_info(pod))
            if self._state.features.gang_scheduling:
                self._queue.move_all_to_active_or_backoff_queue(cluster_events.UNSCHEDULABLE_POD_ADD, new=pod)

    def _update_pod(self, old: Pod, new: Pod) -> None:
        """Upstream: updatePod"""
        if old.spec.node_name:
            self._update_in_cache(old, new)
        elif new.spec.node_name:
            # A binding.
            self._add_to_cache(new)
            if self._is_responsible_for(old):
                self._delete_from_queue(old, in_binding=True)
        elif self._is_responsible_for(old):
            self._update_in_queue(old, new)

    def _delete_pod(self, pod: Pod) -> None:
        """Upstream: deletePod"""
        if pod.spec.node_name:
            self._delete_from_cache(pod)
        elif self._is_responsible_for(pod):
            self._delete_from_queue(pod, in_binding=False)

    def _add_to_cache(self, pod: Pod) -> None:
        """Upstream: addAssignedPodToCache"""
        with logged_cache_errors():
            self._cache.add_pod(self._state.known_pod_info(pod))
        self._queue.move_all_to_active_or_backoff_queue(cluster_events.ASSIGNED_POD_ADD, new=pod)

    def _update_in_cache(self, old: Pod, new: Pod) -> None:
        """Upstream: updateAssignedPodInCache"""
        self._sync_with_dispatcher(new)
        before, after = self._state.known_pod_info(old), self._state.known_pod_info(new)
        with logged_cache_errors():
            self._cache.update_pod(before, after)
        for event in pod_scheduling_properties_change(after, before, self._state.features):
            self._queue.move_all_to_active_or_backoff_queue(event, old=old, new=new)

    def _sync_with_dispatcher(self, pod: Pod) -> None:
        """Upstream: syncPodWithDispatcher, whose result is not used"""
        if self._state.api_dispatcher is not None:
            self._state.api_dispatcher.sync(pod)

    def _delete_from_cache(self, pod: Pod) -> None:
        """Upstream: deleteAssignedPodFromCache"""
        with logged_cache_errors():
            self._cache.remove_pod(pod)
        self._queue.move_all_to_active_or_backoff_queue(cluster_events.ASSIGNED_POD_DELETE, old=pod)

    def _update_in_queue(self, old: Pod, new: Pod) -> None:
        """Upstream: updatePodInSchedulingQueue"""
        if old.metadata.resource_version == new.metadata.resource_version:
            return
        self._sync_with_dispatcher(new)
        self._cache.update_pod_group_member(old, new)
        if self._cache.is_assumed_pod(new):
            if new.metadata.deletion_timestamp is not None and old.metadata.deletion_timestamp is None:
                self._handle_assumed_pod_deletion(new)
            return
        self._queue.update(self._state.pod_info(old), self._state.pod_info(new))
        nominated = old.status.nominated_node_name
        if nominated and nominated != new.status.nominated_node_name:
            # The node's room that was kept for the pod is free for pods of the same or a lower priority.
            self._queue.move_all_to_active_or_backoff_queue(
                cluster_events.ASSIGNED_POD_DELETE, _le_priority_pre_check(old.spec.priority or 0), old=old
            )

    def _delete_from_queue(self, pod: Pod, *, in_binding: bool) -> None:
        """Upstream: deletePodFromSchedulingQueue"""
        self._queue.delete(self._state.known_pod_info(pod))
        if in_binding:
            return
        self._cache.remove_pod_group_member(pod)
        if self._cache.is_assumed_pod(pod):
            self._handle_assumed_pod_deletion(pod)
        elif pod.status.nominated_node_name:
            self._queue.move_all_to_active_or_backoff_queue(
                cluster_events.ASSIGNED_POD_DELETE, _le_priority_pre_check(pod.spec.priority or 0), old=pod
            )

    def _handle_assumed_pod_deletion(self, pod: Pod) -> None:
        """Free what an assumed pod takes at once; its binding will fail. Upstream: handleAssumedPodDeletion"""
        try:
            assumed = self._cache.get_pod(pod)
        except CacheError:
            return
        framework = self._state.profiles.get(assumed.spec.scheduler_name)
        if framework is None:
            return
        if not framework.reject_waiting_pod(assumed.uid, "", "removed"):
            with logged_cache_errors():
                self._cache.forget_pod(assumed)
        self._queue.move_all_to_active_or_backoff_queue(cluster_events.ASSIGNED_POD_DELETE, old=assumed)

    # Nodes

    def _node(self, event: WatchEvent, old: Node | None, node: Node) -> None:
        if event.verb == "DELETED":
            self._queue.move_all_to_active_or_backoff_queue(cluster_events.NODE_DELETE, old=node)
            with logged_cache_errors():
                self._cache.remove_node(node)
        elif old is None:
            self._cache.add_node(node)
            self._queue.move_all_to_active_or_backoff_queue(cluster_events.NODE_ADD, new=node)
        else:
            self._cache.update_node(old, node)
            for change in node_scheduling_properties_change(node, old, self._state.features):
                self._queue.move_all_to_active_or_backoff_queue(change, old=old, new=node)

    # All other kinds

    def _other(self, event: WatchEvent, before: KubeObject | None) -> None:
        """Upstream: addAllEventHandlers, buildEvtResHandler"""
        if isinstance(event.object, DeviceTaintRule):
            self._taint_rule_changed(before, None if event.verb == "DELETED" else event.object)
            return
        resource = _WATCHED_FOR_PLUGINS.get(event.kind)
        if resource is None:
            return
        new: KubeObject | None = event.object
        if event.verb == "DELETED":
            before, new = event.object, None
        if self._state.dra_manager is not None:
            self._state.dra_manager.object_changed(before, new)
        if isinstance(event.object, ResourceSlice):
            self._move_all(resource, self._with_taints(before), self._with_taints(new))
        elif not isinstance(event.object, ResourceClaim):
            self._move_all(resource, before, new)

    def _taint_rule_changed(self, old: KubeObject | None, new: DeviceTaintRule | None) -> None:
        """Each slice whose taints a rule changes is an update of that slice. Upstream: resourceslice/tracker/tracker.go pushEvent"""
        manager = self._state.dra_manager
        if manager is not None:
            for before, after in manager.slices_changed_by(old if isinstance(old, DeviceTaintRule) else None, new):
                self._move_all(GVK.RESOURCE_SLICE, before, after)

    def _with_taints(self, obj: KubeObject | None) -> KubeObject | None:
        """A slice as the tracker has it, with the taints of the rules."""
        manager = self._state.dra_manager
        return obj if manager is None or not isinstance(obj, ResourceSlice) else manager.with_taints(obj)

    def _claim_changed(self, old: ResourceClaim | None, new: ResourceClaim | None) -> None:
        """The queue gets changes of claims as the scheduler knows them, with those that it assumes. Upstream: resourceClaimCache"""
        self._move_all(GVK.RESOURCE_CLAIM, old, new)

    def _move_all(self, resource: str, old: KubeObject | None, new: KubeObject | None) -> None:
        action = ActionType.DELETE if new is None else ActionType.ADD if old is None else ActionType.UPDATE
        if self._gvk_map.get(resource, ActionType(0)) & action:
            self._queue.move_all_to_active_or_backoff_queue(cluster_event(resource, action), old=old, new=new)


def _le_priority_pre_check(priority: int) -> Callable[[PodInfo], bool]:
    """Upstream: getLEPriorityPreCheck"""
    return lambda pod: pod.priority <= priority
