"""A message about too little CPU or memory is read with what a described node has free."""

from __future__ import annotations

import pytest

from schedviz.engine.framework.types import PodInfo
from schedviz.explain.pasted.reader import read_text
from schedviz.ingest.pasted.contents import contents_of
from schedviz.ingest.pasted.copied_text import CopiedText
from schedviz.ingest.pasted.fact_reader import facts_in
from schedviz.ingest.pasted.message_times import seconds_of_age
from schedviz.ingest.pasted.pasted_text import messages_in

NODE = """
Allocatable:
  cpu:                3500m
  memory:             8006620Ki
Allocated resources:
  (Total limits may be over 100 percent, i.e., overcommitted.)
  Resource           Requests      Limits
  --------           --------      ------
  cpu                2066m (59%)   0 (0%)
  memory             7546Mi (96%)  512Mi (6%)
"""


@pytest.mark.parametrize(
    ("reasons", "note"),
    [
        ("1 Insufficient memory", "A described node has ≈273Mi of memory free: its pods request 7546Mi of ≈7.6Gi."),
        ("1 Insufficient cpu", "A described node has 1.434 CPU free: its pods request 2.066 of 3.5 CPU."),
        ("1 Too many pods", ""),
    ],
)
def test_what_a_described_node_has_free_is_said(reasons: str, note: str) -> None:
    text = f"0/1 nodes are available: {reasons}.\n{NODE}"
    [answer] = read_text(messages_in(CopiedText(text)), facts_in(CopiedText(text)), {}, seconds_of_age).answers
    assert answer.note == note


def test_nothing_is_said_without_the_total_or_of_more_nodes_than_the_message_counts() -> None:
    for node in (NODE[: NODE.index("Allocated")], NODE * 2):
        text = f"0/1 nodes are available: 1 Insufficient cpu.\n{node}"
        assert all(
            not answer.note for answer in read_text(messages_in(CopiedText(text)), facts_in(CopiedText(text)), {}, seconds_of_age).answers
        )


NODE_OBJECT = """
apiVersion: v1
kind: Node
metadata:
  creationTimestamp: 2018-08-23T08:41:52Z
  name: node-a
spec:
  taints:
  - {key: dedicated, value: gpu, effect: NoSchedule}
status:
  allocatable: {cpu: "1", memory: 1939176Ki, pods: "8"}
"""
NODE_JSON = (
    '{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "node-a"}, "status": {"allocatable": {"memory": "1939176Ki", "pods": "8"}}}'
)
EVENT = "Events:\n  Warning  FailedScheduling  1m (x330 over 1h)  default-scheduler  0/2 nodes are available: 1 Insufficient memory, 2 Insufficient pods."
BARE = "0/2 nodes are available: 1 Insufficient memory, 2 Too many pods."


@pytest.mark.parametrize("message", [EVENT, BARE])
@pytest.mark.parametrize("node", [NODE_OBJECT, NODE_JSON])
@pytest.mark.parametrize("between", ["\n---\n", "\n"])
@pytest.mark.parametrize("is_first", [True, False])
def test_what_a_node_object_beside_a_message_offers_is_said_in_any_order(message: str, node: str, between: str, *, is_first: bool) -> None:
    text = between.join((node, message) if is_first else (message, node))
    reading = read_text(messages_in(CopiedText(text)), facts_in(CopiedText(text)), {}, seconds_of_age)
    [said], [answer] = reading.messages, reading.answers
    assert said.message.conclusion.startswith("Neither node can run the pod: both have reached their maximum number of pods")
    assert answer.note == "The node `node-a` takes at most 8 pods. The node `node-a` has ≈1.8Gi of memory allocatable for all its pods."


@pytest.mark.parametrize("namespace", ["", "  namespace: shop\n"])
@pytest.mark.parametrize("is_first", [True, False])
def test_a_message_that_names_no_pod_is_about_the_only_pod_object_of_the_text(namespace: str, *, is_first: bool) -> None:
    pod = (
        f"apiVersion: v1\nkind: Pod\nmetadata:\n  name: web-0\n{namespace}spec:\n  containers:\n  - name: main\n    resources:\n"
        '      requests: {cpu: "4"}\n'
    )
    event = "Events:\n  Warning  FailedScheduling  1m  default-scheduler  0/2 nodes are available: 2 Insufficient cpu.\n"
    contents = contents_of(f"{pod}---\n{event}" if is_first else f"{event}{pod}")
    described = {key: PodInfo(pod) for key, pod in contents.pods.items()}
    [said] = read_text(contents.messages, contents.facts, described, seconds_of_age, contents.storage).messages
    assert said.pod == ("shop/web-0" if namespace else "default/web-0")
    assert said.message.clauses[0].headline == "neither node has enough free CPU; the pod requests 4 CPU"
    assert said.message.clauses[0].advice.startswith("add a node with at least 4 CPU free, or lower the requests of this pod")


def test_a_node_object_that_cannot_be_read_changes_nothing() -> None:
    for node in ("kind: Node\nmetadata: {}\n", '{"kind": "Node", "metadata": {', "kind: Node\nmetadata:\n  name: [\n"):
        text = f"{BARE}\n---\n{node}"
        [answer] = read_text(messages_in(CopiedText(text)), facts_in(CopiedText(text)), {}, seconds_of_age).answers
        assert not answer.note
