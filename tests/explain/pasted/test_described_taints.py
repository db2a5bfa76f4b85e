"""A message that names no taint is read with the taints of the nodes that its text describes."""

from __future__ import annotations

import pytest

from schedviz.engine.framework.types import PodInfo
from schedviz.explain.messages.parsed_message import Message
from schedviz.explain.pasted.reader import read_text
from schedviz.ingest.pasted.copied_text import CopiedText
from schedviz.ingest.pasted.described_pods import described_pods
from schedviz.ingest.pasted.fact_reader import facts_in
from schedviz.ingest.pasted.message_times import seconds_of_age
from schedviz.ingest.pasted.pasted_text import messages_in

POD = """Name:             web-2
Namespace:        shop
Node:             <none>
Status:           Pending
Containers:
  main:
    Image:      registry.example/web
Node-Selectors:  <none>
Tolerations:     {tolerations}
                 node.kubernetes.io/not-ready:NoExecute op=Exists for 300s
Events:
  Type     Reason            Age  From               Message
  ----     ------            ---  ----               -------
  Warning  FailedScheduling  5m   default-scheduler  0/2 nodes are available: 2 node(s) had {reason}.
"""
NODE = """Name:               n-1
Roles:              master
Labels:             a=b
Taints:             {taints}
Unschedulable:      false
Conditions:
  Type             Status  LastHeartbeatTime                 LastTransitionTime                Reason            Message
  ----             ------  -----------------                 ------------------                ------            -------
  Ready            {ready}   Fri, 25 Oct 2019 17:19:21 +0700   Fri, 25 Oct 2019 17:05:17 +0700   KubeletNotReady   {why}
"""
NAMELESS = "taints that the pod didn't tolerate"
NOT_READY = "node-role.kubernetes.io/master:NoSchedule\n                    node.kubernetes.io/not-ready:NoSchedule"


def read(
    taints: str, *, tolerations: str = "", reason: str = NAMELESS, ready: str = "False", why: str = "container runtime is down"
) -> Message:
    text = POD.format(tolerations=tolerations, reason=reason) + NODE.format(taints=taints, ready=ready, why=why)
    described = {key: PodInfo(pod) for key, pod in described_pods(CopiedText(text)).items()}
    return read_text(messages_in(CopiedText(text)), facts_in(CopiedText(text)), described, seconds_of_age).messages[0].message


def test_the_taint_that_the_pod_does_not_tolerate_is_named_and_why_the_node_is_not_ready() -> None:
    message = read(NOT_READY, tolerations="node-role.kubernetes.io/master:NoSchedule")
    assert message.conclusion == (
        "The node `n-1` has the taint `node.kubernetes.io/not-ready:NoSchedule`, which the pod does not tolerate. `n-1` is not ready: "
        "container runtime is down."
    )
    assert message.first == "bring the node back: `kubectl describe node n-1` shows its conditions"
    assert not message.clauses[0].advice


def test_a_node_without_a_network_needs_its_plugin() -> None:
    message = read(NOT_READY, why="network plugin is not ready: cni config uninitialized")
    assert message.first.startswith("install the network plugin, or check its pods on that node")


def test_a_taint_of_a_node_pool_keeps_the_advice_about_taints() -> None:
    message = read("gpu=true:NoSchedule", ready="True ", reason="untolerated taint(s)")
    assert message.conclusion == "The node `n-1` has the taint `gpu=true:NoSchedule`, which the pod does not tolerate."
    assert "tolerations" in message.first


@pytest.mark.parametrize(
    ("taints", "reason"),
    [("gpu=true:NoSchedule", "untolerated taint {a: b}"), ("gpu=true:PreferNoSchedule", NAMELESS), ("<none>", NAMELESS)],
)
def test_nothing_is_concluded_from_a_named_taint_or_without_taints_that_keep_pods_off(taints: str, reason: str) -> None:
    assert read(taints, reason=reason).conclusion == ""
