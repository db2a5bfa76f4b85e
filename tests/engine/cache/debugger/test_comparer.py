"""The comparer has the results and messages of upstream's."""

from __future__ import annotations

import json
from pathlib import Path

from schedviz.engine.cache.debugger.comparer import compare, compare_strings
from schedviz.engine.cache.debugger.log_line import LogLine, ObjectRef
from schedviz.ingest.logs.sigusr2 import read_signals

SAMPLES = Path(__file__).parents[3] / "samples" / "sigusr2"
#: The informers' contents: the API's objects, except in the case whose watch lost events.
CASES = ["01-plain", "02-assumed", "03-nominated", "04-ghost-node", "06-amounts", "07-stale-handlers", "08-other-scheduler"]


def _pods_and_nodes(case: str) -> tuple[list[str], list[str]]:
    items = json.loads((SAMPLES / case / "objects.json").read_bytes())["items"]
    nodes = [item["metadata"]["name"] for item in items if item["kind"] == "Node"]
    pods = [item for item in items if item["kind"] == "Pod" and item["status"]["phase"] not in ("Succeeded", "Failed")]
    return nodes, [pod["metadata"]["uid"] for pod in pods]


def test_the_comparer_logs_what_the_real_one_logged() -> None:
    for case in CASES:
        text = (SAMPLES / case / "scheduler.log").read_text()
        structured = (SAMPLES / case / "scheduler.json.log").read_text()
        at = round(json.loads(structured.splitlines()[-1])["ts"]) * 1_000_000
        verbosity = 3 if case == "07-stale-handlers" else 2
        dump = read_signals(case, text.encode())[-1].dump
        lines = [line for line in compare(*_pods_and_nodes(case), dump).lines(at) if line.verbosity <= verbosity]
        lines += dump.lines(at)
        assert text.endswith("".join(line.text() for line in lines)), case
        assert structured.endswith("".join(line.json() for line in lines)), case
        assert text.count("comparer.go") == sum("comparer.go" in line.caller for line in lines), case


def test_a_repeated_string_counts_twice() -> None:
    assert compare_strings(["b", "a"], ["b", "b", "c"]) == (["a"], ["b", "c"])


def test_values_are_written_as_go_writes_them() -> None:
    line = LogLine(
        1704067200003 * 1_000_000,
        "cache/node_tree.go:65",
        "Added node in listed group to NodeTree",
        (("node", ObjectRef.of("worker-1")), ("zone", "eu-1:\x00:eu-1a")),
        verbosity=2,
    )
    real = (SAMPLES / "01-plain" / "scheduler.log").read_text(), (SAMPLES / "01-plain" / "scheduler.json.log").read_text()
    assert real[0].startswith(line.text())
    assert real[1].startswith(line.json())
