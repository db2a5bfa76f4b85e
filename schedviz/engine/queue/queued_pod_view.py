"""A QueuedPodInfo as a view and the moves of trace events show it."""

from __future__ import annotations

from schedviz.engine.framework.types import QueuedPodInfo, nanos_to_seconds
from schedviz.trace.view import QueuedPod


def queued_pod_view(queued: QueuedPodInfo, *, backoff_expiry: int) -> QueuedPod:
    """The pod as it is now; `backoff_expiry` in nanoseconds, 0: it has no backoff. The members that only v1.36 has are empty in v1.27.1."""
    return QueuedPod(
        pod=queued.key,
        priority=queued.pod_info.priority,
        attempts=queued.attempts,
        timestamp_seconds=nanos_to_seconds(queued.timestamp),
        initial_attempt_timestamp_seconds=nanos_to_seconds(queued.initial_attempt_timestamp or 0),
        backoff_expiry_seconds=nanos_to_seconds(backoff_expiry),
        unschedulable_plugins=sorted(queued.unschedulable_plugins),
        gated=queued.gated,
        pending_plugins=sorted(queued.pending_plugins),
        gating_plugin=queued.gating_plugin,
        unschedulable_count=queued.unschedulable_count,
        consecutive_errors_count=queued.consecutive_errors_count,
        was_flushed_from_unschedulable=queued.was_flushed_from_unschedulable,
    )
