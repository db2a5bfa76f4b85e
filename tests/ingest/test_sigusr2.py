"""Dumps of the real scheduler are read from its logs, whatever wrote the lines, and are written again byte for byte."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from schedviz.engine.cache.debugger.log_line import LogLine
from schedviz.ingest.errors import UnreadableFile
from schedviz.ingest.sigusr2 import parse_dump

SAMPLES = Path(__file__).parents[1] / "samples" / "sigusr2"
CASES = sorted(path.name for path in SAMPLES.iterdir())


def _moment(log: str) -> int:
    millis: float = json.loads(log.splitlines()[-1])["ts"]
    return round(millis) * 1_000_000


@pytest.mark.parametrize("case", CASES)
def test_a_dump_is_written_as_it_was_read(case: str) -> None:
    text, structured = (SAMPLES / case / "scheduler.log").read_text(), (SAMPLES / case / "scheduler.json.log").read_text()
    dump = parse_dump("scheduler.log", text)
    assert parse_dump("scheduler.json.log", structured) == dump
    lines: list[LogLine] = dump.lines(_moment(structured))
    assert text.endswith("".join(line.text() for line in lines))
    assert structured.endswith("".join(line.json() for line in lines))


def test_docker_and_cri_lines_are_unwrapped() -> None:
    text = (SAMPLES / "03-nominated" / "scheduler.log").read_text()
    docker = "\n".join(json.dumps({"log": f"{line}\n", "stream": "stderr", "time": "t"}) for line in text.splitlines())
    cri = "\n".join(f"2024-01-01T00:00:00.000000000Z stderr F {line}" for line in text.splitlines())
    assert parse_dump("docker", docker) == parse_dump("cri", cri) == parse_dump("plain", text)


def test_an_older_release_says_less() -> None:
    lines = [
        "Node name: 132.10.134.193\n",
        (
            "Requested Resources: {MilliCPU:37500 Memory:56837160960 EphemeralStorage:42949672960 AllowedPodNumber:0 "
            "ScalarResources:map[example.com/amd-cpu:36000 example.com/eni-ip:1]}\n"
        ),
        (
            "Allocatable Resources:{MilliCPU:98667 Memory:191588200448 EphemeralStorage:482947890401 AllowedPodNumber:110 "
            "ScalarResources:map[hugepages-1Gi:0]}\n"
        ),
        "Scheduled Pods(number: 1):\n",
        "name: kube-proxy-7sb7d, namespace: kube-system, uid: c53e, phase: Running, nominated node: \n",
        "Nominated Pods(number: 1):\n",
        "name: waits, namespace: test-ns, uid: ae6f, phase: Pending, nominated node: 132.10.134.193\n",
    ]
    [node] = parse_dump("log", "\n".join(json.dumps({"log": line}) for line in lines)).nodes
    assert (node.requested.milli_cpu, node.requested.scalar["example.com/amd-cpu"], node.allocatable.memory) == (37500, 36000, 191588200448)
    assert [pod.key for pod in node.pods] == ["kube-system/kube-proxy-7sb7d"]
    assert [pod.nominated_node for pod in node.nominated] == ["132.10.134.193"]


def test_the_last_dump_counts() -> None:
    logs = [(SAMPLES / case / "scheduler.log").read_text() for case in ("01-plain", "03-nominated")]
    assert parse_dump("log", "".join(logs)) == parse_dump("log", logs[1])


def test_a_log_without_a_dump_is_refused() -> None:
    with pytest.raises(UnreadableFile, match=r"a\.log: there is no dump in it"):
        parse_dump("a.log", 'I0101 00:00:00.000000       1 server.go:1] "Starting"\n')
