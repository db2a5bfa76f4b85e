"""Logs of v1.36's scheduler are read in both formats and at every verbosity."""

from __future__ import annotations

import json
import lzma
import re
from pathlib import Path
from typing import Any

import pytest

from schedviz.engine import run_trace
from schedviz.engine.cache.debugger.comparer import Mismatch
from schedviz.explain.doctor.import_check import examine_import
from schedviz.ingest.errors import IngestError
from schedviz.ingest.limits import Limits
from schedviz.ingest.load import load
from schedviz.ingest.logs.klog import records
from schedviz.ingest.logs.log_lines import log_lines
from schedviz.ingest.logs.scheduler_log import SchedulerLog, read_log
from schedviz.ingest.trace_file import trace_from_dict
from schedviz.trace.releases import V1_36
from tests.ingest.sources import source

SAMPLES = Path(__file__).parents[2] / "samples"
TRACES = Path(__file__).parents[2] / "conformance" / "traces"
RECORDINGS = ("89-dump", "90-dump-mismatch", "91-scheduler-log")


def recording(name: str) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(lzma.decompress((TRACES / f"v1.36-aimed-{name}.json.xz").read_bytes()))
    return document


def real_log(name: str) -> str:
    """A log of the real scheduler."""
    return "".join(step["observed"].get("log", "") for step in recording(name)["steps"])


def real_objects(name: str) -> str:
    """The output of kubectl at the time of the dump."""
    return json.dumps(next(step["observed"]["objects"] for step in recording(name)["steps"] if step["op"] == "dump"))


def written_as_json(name: str) -> str:
    document = recording(name)
    document["logging"]["format"] = "json"
    steps = run_trace(trace_from_dict(document))["steps"]
    return "".join(step["observed"].get("log", "") for step in steps)


def read(text: str) -> SchedulerLog:
    return read_log("scheduler.log", text.encode(), Limits())


@pytest.mark.parametrize("name", RECORDINGS)
def test_text_and_json_logs_give_the_same_result(name: str) -> None:
    text, structured = read(real_log(name)), read(written_as_json(name))
    assert text.records == structured.records
    assert text.bound == structured.bound
    assert [message.message for message in text.messages] == [message.message for message in structured.messages]
    assert [(signal.dump, signal.mismatch) for signal in text.signals] == [(signal.dump, signal.mismatch) for signal in structured.signals]


def test_a_log_at_verbosity_5_is_read() -> None:
    result = read(real_log("91-scheduler-log"))
    assert result.records == real_log("91-scheduler-log").count("\n")
    assert result.bound == {"default/a": "n1", "default/b": "n1"}
    assert result.messages == ()


def test_the_comparers_lists_are_read() -> None:
    [signal] = read(real_log("90-dump-mismatch")).signals
    assert signal.mismatch == Mismatch(missed_nodes=["n2"], redundant_pods=["default/a"])


def differences(name: str) -> list[str]:
    result = load([source(real_objects(name), "objects.json"), source(real_log(name), "scheduler.log")])
    (examined,) = examine_import(result, release=V1_36)
    return [finding.about for finding in examined.differences]


def test_the_doctor_reads_dump_and_objects() -> None:
    assert differences("89-dump") == []
    assert differences("90-dump-mismatch") == ["Node n2", "Pod default/a"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('no nodes are registered to the cluster; waiting" pod="default/a"', "no nodes available to schedule pods"),
        ('no fit; waiting" pod="default/a" err="0/1 nodes are available: 1 x."', "0/1 nodes are available: 1 x."),
    ],
)
def test_why_a_pod_did_not_fit_is_read(line: str, message: str) -> None:
    [found] = read(f'I0101 00:00:00.001000       1 schedule_one.go:1235] "Unable to schedule pod; {line}\n').messages
    assert (found.pod, found.message) == ("default/a", message)


def test_a_pod_of_a_group_that_did_not_fit_is_read() -> None:
    text = '"Unable to schedule pod belonging to a pod group; waiting" pod="default/a" err="no"'
    [found] = read(f"I0101 00:00:00.001000       1 schedule_one.go:1241] {text}\n").messages
    assert (found.pod, found.message) == ("default/a", "no")


def test_an_attempt_that_ended_with_an_error_is_read() -> None:
    text = 'E1125 17:46:11.466036   28968 schedule_one.go:1243] "Error scheduling pod; retrying" err="running \\"X\\" filter plugin: no" pod="default/a"'
    [found] = read(f"{text}\n").messages
    assert (found.pod, found.message) == ("default/a", 'running "X" filter plugin: no')


def test_the_lines_after_a_dump_name_the_pods_that_were_tried() -> None:
    log = lzma.decompress((SAMPLES / "live136" / "busy-dump-then-objects.log.xz").read_bytes()).decode()
    signal = read(log).signals[-1]

    assert 0 < len(signal.tried_next) <= 8
    assert signal.tried_next <= signal.attempts.keys()
    assert signal.bound.keys() <= signal.attempts.keys()
    assert all(re.fullmatch(r"1125 17:0[67]:\d\d\.\d{6}", at) for at in signal.attempts.values())


def test_lists_and_objects_are_values() -> None:
    text = 'I0101 00:00:00.001000       1 x.go:1] "m" a=[8000,34359738368] b=["x y","z"] c=[p q] d=[] e={"k":{}} f=0\n'
    [record] = records(log_lines(text.encode()))
    assert record.values == {"a": ["8000", "34359738368"], "b": ["x y", "z"], "c": ["p", "q"], "d": [], "e": '{"k":{}}', "f": "0"}


def test_a_log_without_a_dump_says_what_to_add() -> None:
    with pytest.raises(IngestError) as error:
        load([source(real_log("91-scheduler-log"), "scheduler.log")])
    assert str(error.value) == (
        "scheduler.log: it contains nothing to import (it is a log of kube-scheduler with 49 records, without a SIGUSR2 dump and without a pod "
        "that did not fit; send SIGUSR2 to kube-scheduler and bring the log again). Expected nodes and pods: the output of "
        "`kubectl get nodes,pods,pv,pvc,sc,events -A -o json`."
    )
