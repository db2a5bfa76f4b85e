"""Dumps of the real scheduler are read from its logs, whatever wrote the lines, and are written again byte for byte."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from schedviz.engine.cache.debugger.dumper import Dump
from schedviz.engine.cache.debugger.log_line import LogLine
from schedviz.ingest.errors import UnreadableFile
from schedviz.ingest.logs.sigusr2 import read_signals

SAMPLES = Path(__file__).parents[2] / "samples" / "sigusr2"
CASES = sorted(path.name for path in SAMPLES.iterdir())


def parse_dump(name: str, text: str) -> Dump:
    """The last dump of a log."""
    return read_signals(name, text.encode())[-1].dump


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


def test_the_dump_of_an_older_release_has_fewer_values() -> None:
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


def test_a_line_split_by_the_container_runtime_is_joined() -> None:
    text = (SAMPLES / "01-plain" / "scheduler.json.log").read_text()
    lines = []
    for line in text.splitlines():
        pieces = [line[start : start + 200] for start in range(0, len(line), 200)]
        lines += [f"2024-01-01T00:00:00.025Z stderr {'F' if piece is pieces[-1] else 'P'} {piece}" for piece in pieces]
    assert parse_dump("cri", "\n".join(lines)) == parse_dump("plain", text)


def test_the_year_is_that_of_timestamps_before_the_lines() -> None:
    text = (SAMPLES / "01-plain" / "scheduler.log").read_text()
    stamped = "\n".join(f"2024-01-01T00:00:25.000000000Z {line}" for line in text.splitlines())
    assert parse_dump("must-gather", stamped) == parse_dump("plain", text)
    (signal,) = read_signals("must-gather", stamped.encode())
    assert signal.seconds == 1704067225.0
    assert read_signals("plain", text.encode())[0].seconds is None


def test_a_release_that_logs_values_in_one_line_is_read() -> None:
    nodes = "Node name: a\\nDeleted: true\\nRequested Resources: &{MilliCPU:5 Memory:0 EphemeralStorage:0 AllowedPodNumber:0 ScalarResources:map[]}\\n"
    text = f'I1016 08:06:42.900000       1 dumper.go:52] "Dump of cached NodeInfo" nodes="{nodes}"\n'
    text += 'I1016 08:06:42.900000       1 dumper.go:62] "Dump of scheduling queue" summary="activeQ:1" pods="name: p, namespace: d, uid: u, phase: Pending, nominated node: \\n"\n'
    dump = parse_dump("log", text)
    assert [(node.name, node.is_deleted, node.requested.milli_cpu) for node in dump.nodes] == [("a", True, 5)]
    assert [pod.key for pod in dump.pending] == ["d/p"]


def test_a_release_that_logs_a_record_for_each_node_is_read() -> None:
    text = (
        "I1016 08:06:42.9 1 dumper.go:46] Dump of cached NodeInfo\n"
        "W1016 08:06:42.9 1 comparer.go:71] cache mismatch: missed nodes: [x]; redundant nodes: [y z]\n"
        "I1016 08:06:42.9 1 dumper.go:48] \nNode name: a\nRequested Resources: {MilliCPU:5 Memory:1 EphemeralStorage:0 AllowedPodNumber:0 "
        "ScalarResources:map[]}\nNumber of Pods: 1\nPods:\nname: p, namespace: d, uid: u, phase: Running\n"
        "name: q, namespace: d, uid: v, phase: Running, nominated node: \n"
        "I1016 08:06:42.9 1 dumper.go:48] \nNode name: b\nDeleted: false\n"
        "I1016 08:06:42.9 1 dumper.go:60] Dump of scheduling queue:\nname: w, namespace: d, uid: w, phase: Pending, nominated node: a\n"
    )
    (signal,) = read_signals("log", text.encode())
    assert [(node.name, [pod.key for pod in node.pods]) for node in signal.dump.nodes] == [("a", ["d/p", "d/q"]), ("b", [])]
    assert [(pod.key, pod.nominated_node) for pod in signal.dump.pending] == [("d/w", "a")]


def test_a_newer_release_logs_nodes_as_json() -> None:
    node = {
        "name": "a",
        "deleted": False,
        "requested": {"milliCPU": 5, "memory": 6, "ephemeralStorage": 0, "allowedPodNumber": 0, "scalarResources": {"x/y": 1}},
        "allocatable": {"milliCPU": 50, "memory": 60, "ephemeralStorage": 0, "allowedPodNumber": 9},
        "pods": [{"name": "p", "namespace": "d", "uid": "u", "phase": "Running"}],
        "nominatedPods": [{"name": "w", "namespace": "d", "uid": "w", "phase": "Pending", "nominatedNode": "a"}],
    }
    records = [
        {"ts": 1704067200025.0, "caller": "debugger/dumper.go:55", "msg": "Dump of cached NodeInfo", "v": 0, "nodes": [node]},
        {"ts": 1704067200025.0, "msg": "Dump of scheduling queue", "summary": "activeQ:1", "pods": node["nominatedPods"]},
    ]
    (signal,) = read_signals("log", "\n".join(map(json.dumps, records)).encode())
    (found,) = signal.dump.nodes
    assert (found.requested.milli_cpu, found.requested.scalar, found.allocatable.memory) == (5, {"x/y": 1}, 60)
    assert [pod.key for pod in (*found.pods, *found.nominated, *signal.dump.pending)] == ["d/p", "d/w", "d/w"]
    assert signal.at == "2024-01-01T00:00:00Z"


def test_the_last_dump_of_a_log_is_used() -> None:
    logs = [(SAMPLES / case / "scheduler.log").read_text() for case in ("01-plain", "03-nominated")]
    assert parse_dump("log", "".join(logs)) == parse_dump("log", logs[1])


def test_a_log_without_a_dump_is_refused() -> None:
    with pytest.raises(UnreadableFile, match=r"a\.log: it contains no dump"):
        parse_dump("a.log", 'I0101 00:00:00.000000       1 server.go:1] "Starting"\n')


def test_lists_in_json_are_read_as_newer_schedulers_write_them() -> None:
    text = (SAMPLES / "07-stale-handlers" / "scheduler.log").read_text()
    newer = text.replace("missedNodes=[worker-4] redundantNodes=[worker-2]", 'missedNodes=["worker-4"] redundantNodes=["worker-2"]')
    assert newer != text

    assert read_signals("newer", newer.encode()) == read_signals("older", text.encode())
