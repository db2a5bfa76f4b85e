"""The dump of a recorded state equals the real scheduler's, byte for byte, in text and in JSON."""

from __future__ import annotations

import json
import lzma
from pathlib import Path
from typing import Any

import msgspec
import pytest

from schedviz.engine.cache.debugger.dump_of_state import ObservedState, dump_of_state, lines_of_state
from schedviz.engine.clock import EPOCH_SECONDS
from schedviz.engine.reporting.debugger import dump
from schedviz.kube import codec
from schedviz.kube.core import Node, Pod
from tests.engine.clusters import do, four_nodes, pod

SAMPLES = Path(__file__).parents[3] / "samples" / "sigusr2"
CASES = sorted(folder.name for folder in SAMPLES.iterdir())
#: The `-v` of each run, if it was not 2.
VERBOSITY = {"07-stale-handlers": 3, "08-other-scheduler": 0}


def _pod(name: str, uid: str, **status: Any) -> Pod:
    pod = codec.from_dict({"kind": "Pod", "metadata": {"name": name, "namespace": "default", "uid": uid}, "status": status})
    assert isinstance(pod, Pod)
    return pod


def _state(*, pods: dict[str, tuple[str, bool]], order: list[str], waiting: list[str], nominated: list[str]) -> ObservedState:
    """One node `n`; `pods`: uid -> key and whether it is assumed."""
    states = {uid: {"pod": key, "node": "n", "assumed": assumed} for uid, (key, assumed) in pods.items()}
    item = {"name": "n", "hasNode": True, "podOrder": order, "requested": {"milliCPU": 1}, "allocatable": {"scalar": {"b": 1, "a": 2}}}
    queue = {"activeQ": [{"pod": key} for key in waiting], "backoffQ": [], "unschedulable": [], "nominated": {"n": nominated}}
    return msgspec.convert({"cache": {"list": [item], "podStates": states}, "queue": queue}, ObservedState)


@pytest.mark.parametrize("case", CASES)
def test_the_dump_equals_that_of_the_real_scheduler(case: str) -> None:
    folder = SAMPLES / case
    objects = [codec.from_dict(item) for item in json.loads((folder / "objects.json").read_bytes())["items"] if item["kind"] == "Pod"]
    nodes = [item["metadata"]["name"] for item in json.loads((folder / "objects.json").read_bytes())["items"] if item["kind"] == "Node"]
    text, structured = (folder / "scheduler.log").read_text(), (folder / "scheduler.json.log").read_text()

    lines = lines_of_state(
        msgspec.json.decode((folder / "state.json").read_bytes(), type=ObservedState),
        nodes,
        [pod for pod in objects if isinstance(pod, Pod)],
        stale=case == "05-stale-watch",
        verbosity=VERBOSITY.get(case, 2),
        at=round(json.loads(structured.splitlines()[-1])["ts"]) * 1_000_000,
    )

    assert text.endswith("".join(line.text() for line in lines))
    assert structured.endswith("".join(line.json() for line in lines))
    assert text.count("comparer.go") == sum("comparer.go" in line.caller for line in lines)
    assert text.count("dumper.go") == 2


def test_a_pod_missing_at_the_api_server_has_the_uid_of_the_cache_and_the_phase_that_follows() -> None:
    state = _state(pods={"u1": ("default/a", False), "u2": ("default/b", True)}, order=["default/b", "default/a"], waiting=[], nominated=[])

    assert [(pod.name, pod.uid, pod.phase) for pod in dump_of_state(state, []).nodes[0].pods] == [
        ("b", "u2", "Pending"),
        ("a", "u1", "Running"),
    ]


def test_two_pods_of_one_name_on_one_node_are_both_dumped() -> None:
    state = _state(
        pods={"u1": ("default/a", False), "u2": ("default/a", False)}, order=["default/a", "default/a"], waiting=[], nominated=[]
    )

    assert [pod.uid for pod in dump_of_state(state, [_pod("a", "u2", phase="Running")]).nodes[0].pods] == ["u1", "u2"]


def test_a_nominated_pod_is_under_its_node_and_in_the_queue() -> None:
    state = _state(pods={}, order=[], waiting=["default/p", "default/unknown"], nominated=["default/p"])
    dump = dump_of_state(state, [_pod("p", "u", phase="Pending", nominatedNodeName="n")])

    assert [pod.text() for pod in dump.nodes[0].nominated] == ["name: p, namespace: default, uid: u, phase: Pending, nominated node: n\n"]
    assert sorted((pod.name, pod.uid) for pod in dump.pending) == [("p", "u"), ("unknown", "")]
    assert dump.summary == "activeQ:2; backoffQ:0; unschedulablePods:0"


def test_the_comparer_reports_differences_between_informers_and_cache() -> None:
    state = _state(pods={"u1": ("default/a", False)}, order=["default/a"], waiting=[], nominated=[])
    done = _pod("done", "u2", phase="Succeeded")
    missed = _pod("missed", "u3", phase="Running")

    messages = [line.message for line in lines_of_state(state, ["n"], [done, missed])]
    silent = [line.message for line in lines_of_state(state, ["n"], [done, missed], stale=True)]

    assert messages == ["Cache mismatch", "Dump of cached NodeInfo", "Dump of scheduling queue"]
    assert silent == messages[1:]
    assert dict(lines_of_state(state, ["n"], [done, missed])[0].values) == {"missedPods": ["u3"], "redundantPods": ["u1"]}


def test_the_state_of_an_engine_is_dumped_as_the_engine_dumps_itself() -> None:
    simulation = four_nodes(pod("a", node_name="node1"), pod("big", cpu="99"), pod("urgent", cpu="4", priority=10))
    for name in ("b", "c", "d"):
        do(simulation, "create", object=pod(name, cpu="2"))
    do(simulation, "run", max=4)
    do(simulation, "schedule")
    do(simulation, "delete", kind="Node", name="node1")

    state = msgspec.convert(simulation.observed_state(), ObservedState)
    pods = [obj for obj in simulation.stored_objects() if isinstance(obj, Pod)]

    ours, engines = dump_of_state(state, pods), dump(simulation)
    assert [line.text() for line in ours.lines(0)] == [line.text() for line in engines.lines(0)]
    assert ours == engines


@pytest.mark.parametrize("name", ["89-dump", "90-dump-mismatch"])
def test_the_dump_of_a_v1_36_state_is_the_real_one(name: str) -> None:
    trace = Path(__file__).parents[3] / "conformance" / "traces" / f"v1.36-aimed-{name}.json.xz"
    document = json.loads(lzma.decompress(trace.read_bytes()))
    observed = document["steps"][-1]["observed"]
    objects = [codec.from_dict(item) for item in observed["objects"]["items"]]
    at = (EPOCH_SECONDS * 1000 + round(observed["clockSeconds"] * 1000)) * 1_000_000

    lines = lines_of_state(
        msgspec.convert(observed, ObservedState),
        [obj.name for obj in objects if isinstance(obj, Node)],
        [obj for obj in objects if isinstance(obj, Pod)],
        verbosity=document["logging"]["v"],
        at=at,
    )

    # The phase of a pod that the API no longer has is not known; a confirmed one is shown as running.
    assert "".join(line.text() for line in lines).replace("Running", "Pending") == observed["log"]


def test_both_heaps_of_backoff_q_are_dumped() -> None:
    queue = {"activeQ": [], "backoffQ": [{"pod": "default/a"}], "errorBackoffQ": [{"pod": "default/b"}], "unschedulable": []}
    dump = dump_of_state(msgspec.convert({"cache": {"list": [], "podStates": {}}, "queue": queue}, ObservedState), [])
    assert dump.summary == "activeQ:0; backoffQ:2; unschedulablePods:0"
    assert [pod.name for pod in dump.pending] == ["a", "b"]
