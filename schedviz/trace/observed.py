"""Converts a view to the shapes of FORMAT.md's `observed`: `cache`, `snapshot` and `queue` with all members, as recorded from the real
scheduler.
"""

from __future__ import annotations

from typing import Any

import msgspec

from schedviz.trace.queue_fold import pop_order
from schedviz.trace.releases import V1_27
from schedviz.trace.view import (
    CacheImage,
    CacheView,
    InFlightEntry,
    NodeItem,
    PodGroupMembers,
    PodState,
    QueuedPod,
    QueueView,
    Resources,
    SnapshotView,
    View,
)


def state(view: View, release: str = V1_27) -> dict[str, Any]:
    """`{"cache", "snapshot", "queue"}`, with the members of the release."""
    return {
        "cache": cache_state(view.cache, release),
        "snapshot": snapshot_state(view.snapshot),
        "queue": queue_state(view.queue, release),
    }


def cache_state(cache: CacheView, release: str = V1_27) -> dict[str, Any]:
    """The cache; the list has headNode first."""
    return {
        "list": [_item(item) if release == V1_27 else _item_v1_36(item, cache.image_states) for item in cache.list],
        "assumedPods": sorted(cache.assumed_pods),
        "podStates": {uid: _pod_state(pod, release) for uid, pod in cache.pod_states.items()},
        "nodeTree": msgspec.to_builtins(cache.node_tree),
        "imageStates": {name: {"size": image.size, "nodes": image.nodes} for name, image in cache.image_states.items()},
        **_pod_groups(cache.pod_groups),
    }


def snapshot_state(snapshot: SnapshotView) -> dict[str, Any]:
    """The snapshot."""
    return {
        "generation": snapshot.generation,
        "nodeInfoList": snapshot.node_info_list,
        "nodeGenerations": snapshot.node_generations,
        "havePodsWithAffinity": snapshot.have_pods_with_affinity,
        "havePodsWithRequiredAntiAffinity": snapshot.have_pods_with_required_anti_affinity,
        "usedPVCSet": snapshot.used_pvc_set,
        **_pod_groups(snapshot.pod_groups),
    }


def _pod_groups(groups: dict[str, PodGroupMembers]) -> dict[str, Any]:
    """FORMAT-1.36's `podGroups`; absent if there are none."""
    return {"podGroups": {group: msgspec.to_builtins(members) for group, members in groups.items()}} if groups else {}


def queue_state(queue: QueueView, release: str = V1_27) -> dict[str, Any]:
    """The queue: the heaps in the order of popping, unschedulable pods by name."""
    show = _queued if release == V1_27 else _queued_v1_36
    members = {
        "activeQ": [show(pod, with_expiry=False) for pod in pop_order("activeQ", queue.active_q)],
        "backoffQ": [
            show(pod, with_expiry=True) for pod in pop_order("backoffQ", queue.backoff_q, pops_from_backoff_q=queue.pops_from_backoff_q)
        ],
        "unschedulable": [show(pod, with_expiry=True) for pod in _by_name(queue.unschedulable, release)],
        "nominated": queue.nominated,
        "schedulingCycle": queue.scheduling_cycle,
        "moveRequestCycle": queue.move_request_cycle,
    }
    if release == V1_27:
        return members
    return members | {
        "errorBackoffQ": [show(pod, with_expiry=True) for pod in pop_order("errorBackoffQ", queue.error_backoff_q)],
        "inFlightPods": [entry.pod for entry in queue.in_flight if entry.pod],
        "inFlightEvents": [_in_flight(entry) for entry in queue.in_flight],
    }


def _by_name(pods: list[QueuedPod], release: str) -> list[QueuedPod]:
    """By key; the recordings of v1.36 are sorted by full name (upstream's GetPodFullName)."""
    return sorted(pods, key=lambda pod: pod.pod if release == V1_27 else "{2}_{0}".format(*pod.pod.partition("/")))


def _in_flight(entry: InFlightEntry) -> dict[str, Any]:
    return {"pod": entry.pod} if entry.pod else {"event": entry.event, "old": entry.old or None, "new": entry.new or None}


def _pod_state(pod: PodState, release: str) -> dict[str, Any]:
    members = {"pod": pod.pod, "node": pod.node, "assumed": pod.assumed}
    if release != V1_27:
        return members
    return members | {"bindingFinished": pod.binding_finished, "deadlineSeconds": pod.deadline_seconds}


def _item(item: NodeItem) -> dict[str, Any]:
    return {
        "name": item.name,
        "generation": item.generation,
        "hasNode": item.has_node,
        "pods": sorted(item.pod_order),
        "podOrder": item.pod_order,
        "podsWithAffinity": sorted(item.pods_with_affinity),
        "podsWithRequiredAntiAffinity": sorted(item.pods_with_required_anti_affinity),
        "requested": _amounts(item.requested),
        "nonZeroRequested": _amounts(item.non_zero_requested),
        "allocatable": _amounts(item.allocatable),
        "usedPorts": item.used_ports,
        "imageStates": {name: {"size": image.size, "numNodes": image.num_nodes} for name, image in item.image_states.items()},
        "pvcRefCounts": item.pvc_ref_counts,
    }


def _item_v1_36(item: NodeItem, images: dict[str, CacheImage]) -> dict[str, Any]:
    """The number of nodes with an image is that of the cache."""
    return _item(item) | {
        "imageStates": {
            name: {"size": image.size, "numNodes": len(images[name].nodes) if name in images else 0}
            for name, image in item.image_states.items()
        },
        "declaredFeatures": item.declared_features,
    }


def _amounts(resources: Resources) -> dict[str, Any]:
    return {
        "milliCPU": resources.milli_cpu,
        "memory": resources.memory,
        "ephemeralStorage": resources.ephemeral_storage,
        "allowedPodNumber": resources.allowed_pod_number,
        "scalar": resources.scalar,
    }


def _queued(pod: QueuedPod, *, with_expiry: bool) -> dict[str, Any]:
    members = {
        "pod": pod.pod,
        "priority": pod.priority,
        "attempts": pod.attempts,
        "timestampSeconds": pod.timestamp_seconds,
        "initialAttemptTimestampSeconds": pod.initial_attempt_timestamp_seconds,
        "unschedulablePlugins": pod.unschedulable_plugins,
        "gated": pod.gated,
    }
    return members | {"backoffExpirySeconds": pod.backoff_expiry_seconds} if with_expiry else members


def _queued_v1_36(pod: QueuedPod, *, with_expiry: bool) -> dict[str, Any]:
    members = _queued(pod, with_expiry=False) | {
        "pendingPlugins": pod.pending_plugins,
        "gatingPlugin": pod.gating_plugin,
        "unschedulableCount": pod.unschedulable_count,
        "consecutiveErrorsCount": pod.consecutive_errors_count,
        "wasFlushedFromUnschedulable": pod.was_flushed_from_unschedulable,
    }
    # A pod without backoff has no expiry.
    return members | {"backoffExpirySeconds": pod.backoff_expiry_seconds or None} if with_expiry else members
