"""Metrics of the whole service, from the database and Redis. Every web server exports the same values."""

from __future__ import annotations

from collections import Counter

import redis
from django.db.models import Count, F, Min, Q, Sum
from django.utils import timezone
from prometheus_client.metrics_core import GaugeMetricFamily, Metric

from schedviz import __version__
from schedviz.sessions.experiments import dispatch
from schedviz.sessions.hosting.lease import BACKOFF_OWNER, FREE
from schedviz.sessions.models import Command, Session
from schedviz.sessions.observing import agreement
from schedviz.sessions.queries.database import DatabaseSeconds
from schedviz.sessions.redis import heartbeat, stream
from schedviz.sessions.redis.wakeups import IO_QUEUE

#: What a metric of Redis raises while Redis is unavailable.
UNAVAILABLE_ERRORS = (redis.RedisError, OSError)


def database_metrics() -> list[Metric]:
    """Sessions, leases and waiting commands. Raises database errors."""
    statuses = GaugeMetricFamily("schedviz_sessions", "Sessions by their stored status.", labels=["status"])
    counted: Counter[str] = Counter(dict(Session.objects.order_by().values_list("status").annotate(Count("pk"))))
    for status in Session.Status:
        statuses.add_metric([str(status)], counted[status])
    waits = Q(applied_seq__lt=F("last_seq"))
    totals = Session.objects.aggregate(
        waiting=Sum(F("last_seq") - F("applied_seq"), filter=waits & Q(status__in=Session.OPEN_STATUSES), default=0),
        unowned=Count("pk", filter=waits & Q(status__in=Session.OPEN_STATUSES) & FREE),
        leases=Count("pk", filter=~Q(lease_owner__in=["", BACKOFF_OWNER]) & Q(lease_until__gte=DatabaseSeconds())),
        in_backoff=Count("pk", filter=Q(lease_owner=BACKOFF_OWNER)),
    )
    oldest = Command.objects.filter(
        session__status__in=Session.OPEN_STATUSES, session__applied_seq__lt=F("session__last_seq"), applied_at=None
    )
    since = oldest.filter(seq=F("session__applied_seq") + 1).aggregate(since=Min("accepted_at"))["since"]
    return [
        statuses,
        _gauge("schedviz_commands_waiting", "Commands that were accepted but not yet applied.", totals["waiting"]),
        _gauge(
            "schedviz_oldest_waiting_command_seconds",
            "Age of the oldest command that was accepted but not yet applied.",
            0 if since is None else max(0.0, (timezone.now() - since).total_seconds()),
        ),
        _gauge("schedviz_leases", "Sessions that a worker hosts.", totals["leases"]),
        _gauge("schedviz_sessions_unowned", "Sessions with waiting commands that no worker hosts.", totals["unowned"]),
        _gauge("schedviz_sessions_in_backoff", "Sessions in backoff, because their workers crashed.", totals["in_backoff"]),
    ]


def followed_cluster_metrics() -> list[Metric]:
    """How often this engine agrees with the schedulers of followed clusters. Raises database errors."""
    agreed = GaugeMetricFamily(
        "schedviz_followed_bindings",
        "Bindings made by the schedulers of followed clusters, by the verdict of this engine's dry run, over all sessions.",
        labels=["verdict"],
    )
    verdicts = agreement.counts_of_all()
    for verdict, column in agreement.COLUMNS.items():
        agreed.add_metric([verdict], getattr(verdicts, column))
    recent = GaugeMetricFamily(
        "schedviz_followed_agreement_ratio",
        f"Share of the last {agreement.RECENT_BINDINGS} judged bindings of a followed cluster on which this engine agrees, by session.",
        labels=["session"],
    )
    for session_id in agreement.recently_active():
        rate = agreement.recent(session_id).rate
        if rate is not None:
            recent.add_metric([str(session_id)], rate)
    return [agreed, recent]


def redis_metrics() -> list[Metric]:
    """Queues and workers. Raises `redis.RedisError`."""
    lengths = GaugeMetricFamily("schedviz_queue_length", "Sessions and jobs that wait for a worker.", labels=["queue"])
    workers = GaugeMetricFamily("schedviz_workers", "Workers with a current heartbeat.", labels=["queue"])
    serving = Counter(queue for queues in heartbeat.alive().values() for queue in queues)
    for queue in (stream.ENGINE_QUEUE, IO_QUEUE, dispatch.QUEUE):
        length = stream.client().llen(queue)
        lengths.add_metric([queue], length if isinstance(length, int) else 0)
        workers.add_metric([queue], serving[queue])
    return [lengths, workers]


def is_up(part: str, *, up: bool) -> Metric:
    """Whether the database or Redis is reachable."""
    return _gauge(f"schedviz_{part}_up", f"Whether {'the database' if part == 'database' else 'Redis'} responds (1) or not (0).", int(up))


def not_exported(sessions: int) -> Metric:
    """How many sessions exceed SCHEDVIZ_METRICS_SESSIONS."""
    return _gauge(
        "schedviz_sessions_not_exported",
        "Sessions whose scheduler metrics are not exported, because SCHEDVIZ_METRICS_SESSIONS limits their number.",
        sessions,
    )


def build() -> Metric:
    """The version of schedviz."""
    info = GaugeMetricFamily("schedviz_build_info", "The version of schedviz.", labels=["version"])
    info.add_metric([__version__], 1)
    return info


def _gauge(name: str, help_: str, value: float) -> Metric:
    return GaugeMetricFamily(name, help_, value=value)
