"""Metrics that a process of the service (web server, worker, sweeper) keeps about itself. process_reports.py shares them through Redis."""

from __future__ import annotations

import os
import socket
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, disable_created_metrics

from schedviz.sessions.metrics.definitions import exponential

# They would add a series per counter; process_start_time_seconds already has the start of the process.
disable_created_metrics()  # type: ignore[no-untyped-call]

#: The metrics of every process, and those of one role.
ALL_ROLES: Final = CollectorRegistry()
ENGINE_WORKER: Final = CollectorRegistry()
IO_AND_EXPERIMENTS: Final = CollectorRegistry()
WEB: Final = CollectorRegistry()
BY_ROLE: Final = {"worker": ENGINE_WORKER, "io": IO_AND_EXPERIMENTS, "experiments": IO_AND_EXPERIMENTS, "web": WEB}
ProcessCollector(registry=ALL_ROLES)

#: Bucket bounds, from a single step to a long jump through the history.
_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)

# --- Engine workers

HOSTINGS: Final = Counter(
    "schedviz_hostings", "Number of times that this worker stopped hosting a session, by reason.", ["ended"], registry=ENGINE_WORKER
)
SLOTS: Final = Gauge("schedviz_slots", "Sessions that this worker can host at once.", registry=ENGINE_WORKER)
SLOTS_TAKEN: Final = Gauge("schedviz_slots_taken", "Sessions that this worker hosts.", registry=ENGINE_WORKER)
RECOVERIES: Final = Counter(
    "schedviz_recoveries", "Sessions taken over from a worker that crashed or stalled beyond its lease.", registry=ENGINE_WORKER
)
LEASES_LOST: Final = Counter("schedviz_leases_lost", "Leases that were lost to another worker.", registry=ENGINE_WORKER)
LOADS: Final = Histogram(
    "schedviz_engine_load_seconds", "Loading the engine of a session from storage.", registry=ENGINE_WORKER, buckets=_SECONDS
)
SLICES: Final = Histogram(
    "schedviz_slice_seconds",
    "Computing a slice of a session's commands, committing it and notifying its viewers.",
    registry=ENGINE_WORKER,
    buckets=_SECONDS,
)
CYCLES: Final = Counter("schedviz_cycles", "Committed scheduling cycles.", registry=ENGINE_WORKER)
COMMANDS: Final = Counter("schedviz_commands_applied", "Applied commands.", registry=ENGINE_WORKER)
QUARANTINED: Final = Counter(
    "schedviz_commands_quarantined",
    "Commands quarantined because the engine failed on them, or its worker ended or got stuck.",
    registry=ENGINE_WORKER,
)

PLUGINS: Final = Histogram(
    "scheduler_plugin_execution_duration_seconds",
    "[ALPHA] Duration for running a plugin at a specific extension point.",
    ["plugin", "extension_point", "status"],
    registry=ENGINE_WORKER,
    buckets=exponential(0.00001, 1.5, 20),
)

# --- Workers for imports and other long jobs

JOBS: Final = Histogram(
    "schedviz_job_seconds",
    "Duration of finished jobs, by task and final state.",
    ["task", "state"],
    registry=IO_AND_EXPERIMENTS,
    buckets=(0.1, 0.5, 1, 5, 10, 30, 60, 120, 300, 600),
)

# --- Web servers

REQUESTS: Final = Histogram(
    "schedviz_http_request_duration_seconds",
    "Duration of HTTP requests, by method, route and status.",
    ["method", "route", "status"],
    registry=WEB,
    buckets=_SECONDS,
)
VIEWERS: Final = Gauge("schedviz_viewers", "Open WebSockets.", registry=WEB)
FEEDS: Final = Gauge("schedviz_feeds", "Sessions with viewers connected to this process.", registry=WEB)
FRAMES: Final = Counter("schedviz_frames_sent", "Frames sent to viewers.", registry=WEB)
FRAME_BYTES: Final = Counter("schedviz_frame_bytes_sent", "Compressed bytes of the frames sent to viewers.", registry=WEB)
OVERFLOWS: Final = Counter(
    "schedviz_viewer_overflows",
    "Number of times that a viewer was too slow, its pending frames were dropped and it received the whole view.",
    registry=WEB,
)


def process_name(role: str) -> str:
    """A unique name for this process: role, host and process ID."""
    return f"{role}@{socket.gethostname()}-{os.getpid()}"
