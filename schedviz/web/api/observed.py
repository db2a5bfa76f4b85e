"""A view in the shapes of a schedviz-trace/1 `observed`: what a script reads, and compares with what the real scheduler does."""

from __future__ import annotations

import msgspec

from schedviz.trace import fold
from schedviz.trace.view import CacheView, NodeItem, QueuedPod, QueueView, SnapshotView
from schedviz.web.api.bodies import CacheBody, CacheImageBody, NodeItemBody, QueueBody, QueuedPodBody, SnapshotBody


def cache_body(cache: CacheView) -> CacheBody:
    """`cache`: the list with headNode first."""
    return CacheBody(
        items=[_item(item) for item in cache.list],
        assumed_pods=sorted(cache.assumed_pods),
        pod_states=cache.pod_states,
        node_tree=cache.node_tree,
        image_states={name: CacheImageBody(size=image.size, nodes=image.nodes) for name, image in cache.image_states.items()},
    )


def _item(item: NodeItem) -> NodeItemBody:
    return NodeItemBody(
        name=item.name,
        generation=item.generation,
        has_node=item.has_node,
        pods=sorted(item.pod_order),
        pod_order=item.pod_order,
        pods_with_affinity=item.pods_with_affinity,
        pods_with_required_anti_affinity=item.pods_with_required_anti_affinity,
        requested=item.requested,
        non_zero_requested=item.non_zero_requested,
        allocatable=item.allocatable,
        used_ports=item.used_ports,
        image_states=item.image_states,
        pvc_ref_counts=item.pvc_ref_counts,
    )


def snapshot_body(snapshot: SnapshotView) -> SnapshotBody:
    """`snapshot`."""
    return SnapshotBody(
        generation=snapshot.generation,
        node_info_list=snapshot.node_info_list,
        node_generations=snapshot.node_generations,
        have_pods_with_affinity=snapshot.have_pods_with_affinity,
        have_pods_with_required_anti_affinity=snapshot.have_pods_with_required_anti_affinity,
        used_pvc_set=snapshot.used_pvc_set,
    )


def queue_body(queue: QueueView) -> QueueBody:
    """`queue`: the heaps in the order of popping, the unschedulable pods by name."""
    return QueueBody(
        active_q=[_queued(pod, expiry=False) for pod in fold.pop_order("activeQ", queue.active_q)],
        backoff_q=[_queued(pod, expiry=True) for pod in fold.pop_order("backoffQ", queue.backoff_q)],
        unschedulable=[_queued(pod, expiry=True) for pod in sorted(queue.unschedulable, key=lambda pod: pod.pod)],
        nominated=queue.nominated,
        scheduling_cycle=queue.scheduling_cycle,
        move_request_cycle=queue.move_request_cycle,
    )


def _queued(pod: QueuedPod, *, expiry: bool) -> QueuedPodBody:
    return QueuedPodBody(
        pod=pod.pod,
        priority=pod.priority,
        attempts=pod.attempts,
        timestamp_seconds=pod.timestamp_seconds,
        initial_attempt_timestamp_seconds=pod.initial_attempt_timestamp_seconds,
        unschedulable_plugins=pod.unschedulable_plugins,
        gated=pod.gated,
        backoff_expiry_seconds=pod.backoff_expiry_seconds if expiry else msgspec.UNSET,
    )
