"""Lines of kube-scheduler's JSON log in a copied text."""

from __future__ import annotations

import json

import pytest

from schedviz.ingest.logs.json_log_lines import with_text_lines
from schedviz.ingest.scheduler_messages import PodMessage
from tests.ingest.pasted.found_messages import found_messages

NO_FIT = "0/3 nodes are available: 3 Insufficient cpu."
TIMED_OUT = 'running PreBind plugin "VolumeBinding": binding volumes: timed out waiting for the condition'


def line(msg: str, pod: object, err: str) -> str:
    return json.dumps({"ts": 1_700_000_000_000.1, "caller": "schedule_one.go:867", "msg": msg, "pod": pod, "err": err})


@pytest.mark.parametrize("pod", ["shop/web-1", {"name": "web-1", "namespace": "shop"}])
@pytest.mark.parametrize(
    ("msg", "err"),
    [
        ("Unable to schedule pod; no fit; waiting", NO_FIT),
        ("Error scheduling pod; retrying", TIMED_OUT),
        ("Error scheduling pod", TIMED_OUT),
    ],
)
def test_a_line_names_its_pod_its_time_and_its_error(msg: str, err: str, pod: object) -> None:
    assert found_messages(line(msg, pod, err)) == [PodMessage("shop/web-1", err, at="11-14 22:13:20")]


def test_each_line_has_its_own_pod() -> None:
    text = "\n".join(
        (line("Unable to schedule pod; no fit; waiting", "shop/web-1", NO_FIT), line("Error scheduling pod", "shop/db-0", TIMED_OUT))
    )
    assert [(said.pod, said.message) for said in found_messages(text)] == [("shop/web-1", NO_FIT), ("shop/db-0", TIMED_OUT)]


def test_the_prefix_of_a_runtime_is_skipped() -> None:
    logged = "2026-01-01T00:00:00Z stderr F " + line("Error scheduling pod", "shop/db-0", TIMED_OUT)
    assert [said.pod for said in found_messages(logged)] == ["shop/db-0"]


@pytest.mark.parametrize(
    "text", ['{"msg":"Error scheduling pod"', '{"msg":"Unable to schedule pod","pod":[1]}', '{"msg":"hello Unable to schedule pod"}']
)
def test_other_lines_are_unchanged(text: str) -> None:
    assert with_text_lines(text) == text
