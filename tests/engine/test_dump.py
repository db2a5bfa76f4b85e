"""A trace's `dump` step, and the log of its other steps, equal the real scheduler's log."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from schedviz.engine import run_trace
from schedviz.ingest.logs.sigusr2 import read_signals
from schedviz.ingest.trace_file import trace_from_dict

SAMPLE = Path(__file__).parents[1] / "samples" / "sigusr2" / "01-plain"


def _steps() -> list[dict[str, Any]]:
    """Steps that lead to the sample's state: two writes that the scheduler does not see, nodes, pods, and cycles."""
    items = json.loads((SAMPLE / "objects.json").read_bytes())["items"]
    by_name = {item["metadata"]["name"]: item for item in items}
    for name in ("api-1", "api-2", "huge-1", "gated-1", "waiting-1", "waiting-2"):
        by_name[name]["spec"].pop("nodeName", None)
        by_name[name]["status"] = {"phase": "Pending"}
    namespaces = [{"kind": "Namespace", "metadata": {"name": name}} for name in ("default", "kube-system")]
    nodes = [by_name[f"worker-{number}"] for number in (1, 2, 3)]
    placed = [by_name[f"kube-proxy-{number}"] for number in (1, 2, 3)] + [by_name[name] for name in ("coredns-1", "web-1", "web-2", "db-1")]
    first = [*namespaces, *nodes, *placed, by_name["api-1"], by_name["api-2"]]
    steps: list[dict[str, Any]] = [{"op": "create", "object": obj} for obj in first]
    steps += [{"op": "cycle"}, {"op": "cycle"}, {"op": "create", "object": by_name["huge-1"]}, {"op": "cycle"}]
    return [*steps, *({"op": "create", "object": by_name[name]} for name in ("waiting-1", "waiting-2", "gated-1")), {"op": "dump"}]


def _run(logging: dict[str, Any] | None) -> list[dict[str, Any]]:
    document = {"format": "schedviz-trace/1", "logging": logging, "steps": _steps()}
    return [step["observed"] for step in run_trace(trace_from_dict(document))["steps"]]


def _without_times(log: str) -> list[str]:
    return [line[21:] if line.startswith("I0101") else line for line in log.splitlines()]


def test_the_log_equals_the_recorded_log() -> None:
    observed = _run({"v": 2, "format": "text", "pid": 1})
    real = (SAMPLE / "scheduler.log").read_text()
    ours = "".join(step.get("log", "") for step in observed)
    for name in ("api-1", "api-2"):  # they were confirmed as running
        ours = "\n".join(line.replace("Pending", "Running") if f"name: {name}," in line else line for line in ours.split("\n"))
    assert _without_times(ours) == _without_times(real)
    assert [item["metadata"]["name"] for item in observed[-1]["objects"]["items"]][:3] == ["worker-1", "worker-2", "worker-3"]


def test_json_logging_has_the_same_content() -> None:
    text, structured = (_run({"v": 2, "format": form, "pid": 1})[-1]["log"] for form in ("text", "json"))
    assert read_signals("text", text.encode())[-1].dump == read_signals("json", structured.encode())[-1].dump


def test_without_logging_nothing_is_captured() -> None:
    assert not any("log" in step for step in _run(None))
