"""The scheduler's log has the words and the source lines of the session's release."""

from __future__ import annotations

from typing import Any

import pytest

from schedviz.engine import run_trace
from schedviz.ingest.trace_file import trace_from_dict

NODE = {
    "apiVersion": "v1",
    "kind": "Node",
    "metadata": {"name": "n1"},
    "status": {"allocatable": {"cpu": "1", "memory": "4Gi", "pods": "10"}},
}


def pod(name: str) -> dict[str, Any]:
    containers = [{"name": "c", "image": "app", "resources": {"requests": {"cpu": "1"}}}]
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": {"containers": containers}}


def logged(release: str, *steps: dict[str, Any], v: int = 2) -> list[str]:
    """The log without times, from the source file on."""
    document = {"format": "schedviz-trace/1", "release": release, "logging": {"v": v}, "steps": list(steps)}
    observed = [step["observed"] for step in run_trace(trace_from_dict(document))["steps"]]
    return [line.split(" 1 ", 1)[-1] for one in observed for line in one.get("log", "").splitlines()]


CREATES = [{"op": "create", "object": NODE}, *({"op": "create", "object": pod(name)} for name in ("a", "b"))]


@pytest.mark.parametrize(
    ("release", "starts"),
    [
        ("v1.27.1", ['node_tree.go:65] "Added node in', "schedule_one.go:252]", "schedule_one.go:867]"]),
        ("v1.36", ['node_tree.go:65] "Added node to', "schedule_one.go:481]", "preemption.go:136]", "schedule_one.go:1239]"]),
    ],
)
def test_each_release_logs_its_own_lines(release: str, starts: list[str]) -> None:
    lines = logged(release, *CREATES, {"op": "run"})

    assert [line.startswith(start) for line, start in zip(lines, starts, strict=True)] == [True] * len(starts)


@pytest.mark.parametrize(("release", "shown"), [("v1.27.1", "missedNodes=[n2]"), ("v1.36", 'missedNodes=["n2"]')])
def test_lists_are_shown_as_the_releases_klog_shows_them(release: str, shown: str) -> None:
    lost = {"op": "create", "object": NODE | {"metadata": {"name": "n2"}}, "drop": "handlers"}

    lines = logged(release, *CREATES, lost, {"op": "dump"})

    assert any("Cache mismatch" in line and shown in line for line in lines)
