"""The dashboard and the alerts query existing metrics and labels."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import pytest
import yaml

from schedviz.sessions.metrics import process
from schedviz.sessions.metrics.definitions import SCHEDULER_METRICS, Kind
from schedviz.web.metrics import scheduler_metrics, service
from tests.conftest import ROOT, RedisServer

pytestmark = pytest.mark.django_db

DASHBOARD = json.loads((ROOT / "docker/grafana/schedviz.json").read_text())
ALERTS = yaml.safe_load((ROOT / "docker/prometheus/alerts.yaml").read_text())
_METRIC = re.compile(r"\b((?:scheduler|schedviz|process)_[a-z_]+)(?:\{([^}]*)\})?")
_LABEL = re.compile(r"(\w+)\s*=~?")


def test_the_dashboard_file_is_formatted_as_a_script_writes_it() -> None:
    assert (ROOT / "docker/grafana/schedviz.json").read_text() == json.dumps(DASHBOARD, indent=1) + "\n"


def expressions() -> Iterator[tuple[str, str]]:
    for panel in DASHBOARD["panels"]:
        for target in panel.get("targets", []):
            yield panel["title"], target["expr"]
    for variable in DASHBOARD["templating"]["list"]:
        if variable["type"] == "query":
            yield variable["name"], variable["query"]["query"]
    for group in ALERTS["groups"]:
        for rule in group["rules"]:
            yield rule["alert"], rule["expr"]


@pytest.fixture
def series(redis: RedisServer) -> dict[str, set[str]]:
    """Every series name that a scrape can have, with its labels."""
    results: dict[str, set[str]] = {}

    def add(name: str, kind: str, labels: set[str]) -> None:
        endings = {"counter": ["_total"], "histogram": ["_bucket", "_sum", "_count"]}.get(kind, [""])
        for ending in endings:
            results[name.removesuffix("_total") + ending] = labels | ({"le"} if ending == "_bucket" else set())

    for metric in SCHEDULER_METRICS:
        add(metric.name, str(metric.kind), {"session", *metric.labels})
    for registry in (process.ALL_ROLES, process.ENGINE_WORKER, process.IO_AND_EXPERIMENTS, process.WEB):
        for name in registry._collector_to_names:
            for family in name.describe() if hasattr(name, "describe") else name.collect():
                add(family.name, family.type, {"process", "role", *getattr(name, "_labelnames", ())})
    infos = scheduler_metrics.exported(limit=0, with_names=True).metrics[:1]
    for family in [
        *service.database_metrics(),
        *service.followed_cluster_metrics(),
        *service.redis_metrics(),
        service.build(),
        service.not_exported(0),
        *infos,
    ]:
        add(family.name, family.type, set(getattr(family, "_labelnames", ())))
    for part in ("database", "redis"):
        add(f"schedviz_{part}_up", "gauge", set())
    assert any(metric.kind is Kind.HISTOGRAM for metric in SCHEDULER_METRICS)
    return results


def test_every_query_uses_existing_series_and_labels(series: dict[str, set[str]]) -> None:
    queries = list(expressions())
    assert len(queries) > 40
    for title, expression in queries:
        metrics = _METRIC.findall(expression)
        assert metrics, f"{title} queries none of our metrics"
        for name, selector in metrics:
            assert name in series, f"{title}: there is no metric {name}"
            assert set(_LABEL.findall(selector)) <= series[name], f"{title}: {name} has no such label: {selector}"


def test_every_scheduler_metric_is_on_the_dashboard() -> None:
    shown = {re.sub("_(bucket|sum|count)$", "", name) for _, expression in expressions() for name, _ in _METRIC.findall(expression)}
    # The second name of the cache size is kept for existing dashboards.
    missing = [metric.name for metric in SCHEDULER_METRICS if metric.name not in {*shown, "scheduler_cache_size"}]
    assert not missing, f"docker/grafana/schedviz.json has no panel for {missing}; see docs/adding-a-metric.md, Add a panel"


def test_panels_have_unique_ids_and_do_not_overlap() -> None:
    panels = DASHBOARD["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels)
    taken: set[tuple[int, int]] = set()
    for panel in panels:
        position = panel["gridPos"]
        cells = {
            (x, y) for x in range(position["x"], position["x"] + position["w"]) for y in range(position["y"], position["y"] + position["h"])
        }
        assert position["x"] + position["w"] <= 24
        assert not cells & taken, panel["title"]
        taken |= cells
