"""The metrics of each session's scheduler, with the label `session`."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import accumulate
from typing import TypeVar
from uuid import UUID

import msgspec
from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.utils import floatToGoString

from schedviz.sessions.metrics import metric_values
from schedviz.sessions.metrics.definitions import SCHEDULER_METRICS, Kind
from schedviz.sessions.metrics.definitions import Metric as Definition
from schedviz.sessions.metrics.metric_values import Histogram, MetricValues
from schedviz.sessions.models import SchedulerMetrics, Session
from schedviz.web.rooms.membership import unlisted_sessions

T = TypeVar("T")


class Exported(msgspec.Struct, frozen=True):
    """The metrics of the exported sessions, and how many other sessions have metrics."""

    metrics: list[Metric]
    not_exported: int


def exported(*, limit: int, with_names: bool, only: UUID | None = None) -> Exported:
    """The metrics of the `limit` most recently active sessions, or of one. Without names, the label `name` is empty."""
    rows = SchedulerMetrics.objects.order_by("-updated_at", "pk")
    if only is not None:
        rows = rows.filter(pk=only)
    selected = list(rows.values_list("session_id", "data", "session__name")[:limit])
    values: list[tuple[str, MetricValues]] = []
    # A fork in a room is named after its participant, whose nickname is deleted with the room.
    unnamed = set(unlisted_sessions())
    info = GaugeMetricFamily("schedviz_session_info", "The name of each exported session.", labels=["session", "name"])
    for session_id, data, name in selected:
        try:
            values.append((str(session_id), metric_values.decode(bytes(data))))
        except (msgspec.ValidationError, msgspec.DecodeError):
            # Written by another version. The worker that hosts the session next writes them again.
            continue
        info.add_metric([str(session_id), name if with_names and session_id not in unnamed else ""], 1)
    metrics = [_family(definition, values) for definition in SCHEDULER_METRICS]
    not_exported = 0 if only is not None or len(selected) < limit else rows.count() - len(selected)
    return Exported(metrics=[info, *metrics], not_exported=not_exported)


def _family(metric: Definition, sessions: Iterable[tuple[str, MetricValues]]) -> Metric:
    labels = ["session", *metric.labels]
    match metric.kind:
        case Kind.COUNTER:
            counter = CounterMetricFamily(metric.name.removesuffix("_total"), metric.help, labels=labels)
            for session, values in sessions:
                for series, number in _with_zero(metric, values.counters.get(metric.name), 0.0).items():
                    counter.add_metric([session, *series], number)
            return counter
        case Kind.GAUGE:
            gauge = GaugeMetricFamily(metric.name, metric.help, labels=labels)
            for session, values in sessions:
                for series, number in values.gauges.get(metric.name, {}).items():
                    gauge.add_metric([session, *series], number)
            return gauge
        case Kind.HISTOGRAM:
            histogram = HistogramMetricFamily(metric.name, metric.help, labels=labels)
            bounds = [*(str(floatToGoString(bound)) for bound in metric.buckets), "+Inf"]  # type: ignore[no-untyped-call]
            zero = Histogram([0] * len(bounds))
            for session, values in sessions:
                for series, histogram_values in _with_zero(metric, values.histograms.get(metric.name), zero).items():
                    buckets = list(zip(bounds, accumulate(histogram_values.counts), strict=True))
                    histogram.add_metric([session, *series], buckets, histogram_values.sum)
            return histogram


def _with_zero(metric: Definition, values: dict[tuple[str, ...], T] | None, zero: T) -> dict[tuple[str, ...], T]:
    """A counter or histogram without labels exists from the start, at 0."""
    if values:
        return values
    return {} if metric.labels else {(): zero}


def session_exists(session_id: UUID) -> bool:
    """Whether there is such a session."""
    return Session.objects.filter(pk=session_id).exists()
