"""The metrics of a session's scheduler: those of kube-scheduler v1.27.1, with upstream's names, help, labels and buckets, and
schedviz' own (`schedviz_…`). Sessions of v1.36 have the same metrics, counted where v1.36 counts.

`scheduler_plugin_execution_duration_seconds` is reported per worker, not per session (see plugin_durations.py). Not provided:
`scheduler_plugin_evaluation_total`, because a plugin here evaluates all nodes in one call, and what only Go's runtime or the volume
binder's workers have: `scheduler_goroutines` except for `binding`, and `scheduler_volume_*`.

Upstream: pkg/scheduler/metrics/metrics.go
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final

import msgspec


class Kind(StrEnum):
    COUNTER = "counter"
    GAUGE = "gauge"
    HISTOGRAM = "histogram"


class Metric(msgspec.Struct, frozen=True):
    """A Prometheus metric. `buckets` are the upper bounds of a histogram without +Inf."""

    name: str
    kind: Kind
    help: str
    labels: tuple[str, ...] = ()
    buckets: tuple[float, ...] = ()


def exponential(start: float, factor: float, count: int) -> tuple[float, ...]:
    """Upper bounds of buckets, computed by repeated multiplication as in Go. Upstream: prometheus.ExponentialBuckets"""
    bounds: list[float] = []
    for _ in range(count):
        bounds.append(start)
        start *= factor
    return tuple(bounds)


SCHEDULE_ATTEMPTS: Final = Metric(
    "scheduler_schedule_attempts_total",
    Kind.COUNTER,
    "[STABLE] Number of attempts to schedule pods, by the result. 'unschedulable' means a pod could not be scheduled, while 'error' "
    "means an internal scheduler problem.",
    ("result", "profile"),
)
SCHEDULING_ATTEMPT_DURATION: Final = Metric(
    "scheduler_scheduling_attempt_duration_seconds",
    Kind.HISTOGRAM,
    "[STABLE] Scheduling attempt latency in seconds (scheduling algorithm + binding)",
    ("result", "profile"),
    exponential(0.001, 2, 15),
)
SCHEDULING_ALGORITHM_DURATION: Final = Metric(
    "scheduler_scheduling_algorithm_duration_seconds",
    Kind.HISTOGRAM,
    "[ALPHA] Scheduling algorithm latency in seconds",
    (),
    exponential(0.001, 2, 15),
)
PREEMPTION_VICTIMS: Final = Metric(
    "scheduler_preemption_victims", Kind.HISTOGRAM, "[STABLE] Number of selected preemption victims", (), exponential(1, 2, 7)
)
PREEMPTION_ATTEMPTS: Final = Metric(
    "scheduler_preemption_attempts_total", Kind.COUNTER, "[STABLE] Total preemption attempts in the cluster till now"
)
PENDING_PODS: Final = Metric(
    "scheduler_pending_pods",
    Kind.GAUGE,
    "[STABLE] Number of pending pods, by the queue type. 'active' means number of pods in activeQ; 'backoff' means number of pods in "
    "backoffQ; 'unschedulable' means number of pods in unschedulablePods that the scheduler attempted to schedule and failed; 'gated' "
    "is the number of unschedulable pods that the scheduler never attempted to schedule because they are gated.",
    ("queue",),
)
GOROUTINES: Final = Metric(
    "scheduler_goroutines",
    Kind.GAUGE,
    "[ALPHA] Number of running goroutines split by the work they do such as binding.",
    ("operation",),
)
POD_SCHEDULING_DURATION: Final = Metric(
    "scheduler_pod_scheduling_duration_seconds",
    Kind.HISTOGRAM,
    "[STABLE] E2e latency for a pod being scheduled which may include multiple scheduling attempts.",
    ("attempts",),
    exponential(0.01, 2, 20),
)
POD_SCHEDULING_ATTEMPTS: Final = Metric(
    "scheduler_pod_scheduling_attempts",
    Kind.HISTOGRAM,
    "[STABLE] Number of attempts to successfully schedule a pod.",
    (),
    exponential(1, 2, 5),
)
FRAMEWORK_EXTENSION_POINT_DURATION: Final = Metric(
    "scheduler_framework_extension_point_duration_seconds",
    Kind.HISTOGRAM,
    "[STABLE] Latency for running all plugins of a specific extension point.",
    ("extension_point", "status", "profile"),
    exponential(0.0001, 2, 12),
)
QUEUE_INCOMING_PODS: Final = Metric(
    "scheduler_queue_incoming_pods_total",
    Kind.COUNTER,
    "[STABLE] Number of pods added to scheduling queues by event and queue type.",
    ("queue", "event"),
)
PERMIT_WAIT_DURATION: Final = Metric(
    "scheduler_permit_wait_duration_seconds",
    Kind.HISTOGRAM,
    "[ALPHA] Duration of waiting on permit.",
    ("result",),
    exponential(0.001, 2, 15),
)
#: In v1.27.1 the name contains `scheduler` twice: the subsystem's and the metric's own.
SCHEDULER_CACHE_SIZE: Final = Metric(
    "scheduler_scheduler_cache_size",
    Kind.GAUGE,
    "[ALPHA] Number of nodes, pods, and assumed (bound) pods in the scheduler cache.",
    ("type",),
)
#: Deviation: the same metric under the intended name, which later versions use, for dashboards that query it.
CACHE_SIZE: Final = Metric("scheduler_cache_size", Kind.GAUGE, SCHEDULER_CACHE_SIZE.help, ("type",))
UNSCHEDULABLE_PODS: Final = Metric(
    "scheduler_unschedulable_pods",
    Kind.GAUGE,
    "[ALPHA] The number of unschedulable pods broken down by plugin name. A pod will increment the gauge for all plugins that caused "
    "it to not schedule and so this metric have meaning only when broken down by plugin.",
    ("plugin", "profile"),
)
BLOCKED_PODS: Final = Metric(
    "schedviz_blocked_pods",
    Kind.GAUGE,
    "Pending pods that no change of a node makes schedulable: they wait for an object, or for a change of their own.",
    ("reason",),
)
CACHE_MISMATCH: Final = Metric(
    "schedviz_cache_mismatch",
    Kind.GAUGE,
    "Nodes, and pods on nodes, that only the API server has ('missed') or only the scheduler's cache ('redundant').",
    ("kind", "side"),
)
QUEUE_OLDEST_POD_AGE: Final = Metric(
    "schedviz_queue_oldest_pod_age_seconds",
    Kind.GAUGE,
    "Time since the pod of each queue that has waited longest was queued or its last attempt failed, by the session's clock.",
    ("queue",),
)

#: In upstream's order; then those that upstream does not have.
SCHEDULER_METRICS: Final = (
    SCHEDULE_ATTEMPTS,
    SCHEDULING_ATTEMPT_DURATION,
    SCHEDULING_ALGORITHM_DURATION,
    PREEMPTION_VICTIMS,
    PREEMPTION_ATTEMPTS,
    PENDING_PODS,
    POD_SCHEDULING_DURATION,
    POD_SCHEDULING_ATTEMPTS,
    FRAMEWORK_EXTENSION_POINT_DURATION,
    QUEUE_INCOMING_PODS,
    GOROUTINES,
    PERMIT_WAIT_DURATION,
    SCHEDULER_CACHE_SIZE,
    CACHE_SIZE,
    UNSCHEDULABLE_PODS,
    BLOCKED_PODS,
    CACHE_MISMATCH,
    QUEUE_OLDEST_POD_AGE,
)
