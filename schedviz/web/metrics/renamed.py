"""Metrics under the names that they had before a rename, which dashboards and alerts keep using for one release."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from prometheus_client.metrics_core import Metric

#: Current name -> old name, without the suffix `_total`.
RENAMED: Final = {
    "schedviz_hostings": "schedviz_turns",
    "schedviz_commands_quarantined": "schedviz_commands_set_aside",
    "schedviz_sessions_in_backoff": "schedviz_sessions_resting",
    "schedviz_sessions_not_exported": "schedviz_sessions_left_out",
}


def with_old_names(metrics: Iterable[Metric]) -> Iterator[Metric]:
    """The metrics, and after each renamed one a copy under its old name."""
    for metric in metrics:
        yield metric
        if (old := RENAMED.get(metric.name)) is not None:
            yield _copy(metric, old)


def _copy(metric: Metric, name: str) -> Metric:
    copy = Metric(name, f"Deprecated: renamed to {metric.name}.", metric.type)
    copy.samples = [sample._replace(name=name + sample.name.removeprefix(metric.name)) for sample in metric.samples]
    return copy
