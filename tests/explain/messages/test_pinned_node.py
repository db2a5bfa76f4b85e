"""A pod that can run on one node only is explained by what that node lacks."""

from __future__ import annotations

import pytest

from schedviz.engine.framework.types import PodInfo
from schedviz.explain.messages.parsed_message import Message
from schedviz.explain.messages.pinned_node import conclusion_of
from schedviz.explain.pasted.reader import read_text
from schedviz.ingest.pasted.copied_text import CopiedText
from schedviz.ingest.pasted.described_pods import described_pods
from schedviz.ingest.pasted.fact_reader import facts_in
from schedviz.ingest.pasted.message_times import seconds_of_age
from schedviz.ingest.pasted.pasted_text import messages_in
from schedviz.kube import codec
from schedviz.kube.core import Pod

SELECTOR = "node(s) didn't match Pod's node affinity/selector"


def message_of(said: str, selector: str = "kubernetes.io/hostname=node-2", events: str = "") -> Message:
    text = (
        f"Node-Selectors:  {selector}\nTolerations:     <none>\nEvents:\n"
        f"  Warning  FailedScheduling  2m  default-scheduler  0/4 nodes are available: {said}.\n{events}"
    )
    described = {key: PodInfo(pod) for key, pod in described_pods(CopiedText(text)).items()}
    return read_text(messages_in(CopiedText(text)), facts_in(CopiedText(text)), described, seconds_of_age).messages[0].message


def test_a_node_that_lacks_cpu_is_the_one_that_the_selector_names() -> None:
    message = message_of(f"1 Insufficient cpu, 1 {SELECTOR}, 2 node(s) were unschedulable")
    assert message.conclusion == "The pod can run only on `node-2` (`kubernetes.io/hostname`), and `node-2` does not have enough free CPU."
    assert message.first == (
        "free up CPU on `node-2`, lower the pod's CPU request, or remove `kubernetes.io/hostname` from its node selector"
    )
    assert [(clause.reason, clause.is_aside, clause.advice) for clause in message.clauses] == [
        ("Insufficient cpu", False, ""),
        ("node(s) were unschedulable", True, ""),
        (SELECTOR, True, ""),
    ]


def test_two_shortages_of_the_node_are_named() -> None:
    message = message_of(f"1 Insufficient cpu, 1 Insufficient nvidia.com/gpu, 3 {SELECTOR}")
    assert "and `node-2` does not have enough free CPU, and `node-2` does not have enough free `nvidia.com/gpu`." in message.conclusion


def test_a_tainted_node_is_the_one_if_it_exists() -> None:
    message = message_of(f"1 node(s) had untolerated taint {{team: a}}, 3 {SELECTOR}")
    assert message.conclusion == (
        "The pod can run only on `node-2` (`kubernetes.io/hostname`). If that node exists, it has the taint `team=a`, which the pod does "
        "not tolerate."
    )
    assert message.first == "add a toleration for `team=a` to the pod, or remove the taint from `node-2`"


@pytest.mark.parametrize(
    ("said", "selector"),
    [
        # Nobody knows which of these nodes is the one.
        (f"1 node(s) had untolerated taint {{team: a}}, 1 node(s) were unschedulable, 2 {SELECTOR}", "kubernetes.io/hostname=node-2"),
        # Several nodes have the hostname, so it is none.
        (f"2 Insufficient cpu, 2 {SELECTOR}", "kubernetes.io/hostname=node-2"),
        (f"1 Insufficient cpu, 1 node(s) didn't match pod anti-affinity rules, 2 {SELECTOR}", "kubernetes.io/hostname=node-2"),
        (f"1 Insufficient cpu, 3 {SELECTOR}", "pool=gpu"),
        (f"4 {SELECTOR}", "kubernetes.io/hostname=node-2"),
    ],
)
def test_other_messages_are_not_about_one_node(said: str, selector: str) -> None:
    message = message_of(said, selector)
    assert "can run only on" not in message.conclusion
    assert message.first or any(clause.advice for clause in message.clauses)


def test_what_an_autoscaler_says_first_is_not_repeated() -> None:
    events = "  Normal  NotTriggerScaleUp  1m  cluster-autoscaler  pod didn't trigger scale-up: 2 max node group size reached\n"
    message = message_of(f"1 Insufficient cpu, 3 {SELECTOR}", events=events)
    assert (message.conclusion, message.first) == ("", "")


def test_a_pod_without_its_cluster_has_the_same_sentence() -> None:
    said = f"0/4 nodes are available: 1 Insufficient cpu, 3 {SELECTOR}."
    pod = codec.from_dict({"kind": "Pod", "metadata": {"name": "a"}, "spec": {"nodeSelector": {"kubernetes.io/hostname": "node-2"}}})
    assert isinstance(pod, Pod)
    found = conclusion_of(said, pod)
    assert found is not None
    assert found.text == message_of(f"1 Insufficient cpu, 3 {SELECTOR}").conclusion
    assert conclusion_of("0/4 nodes are available: 4 Insufficient cpu.", pod) is None
    assert conclusion_of("no message", pod) is None
