"""A message names the nodes that the text describes, if its counts leave no doubt."""

from __future__ import annotations

from schedviz.engine.framework.types import PodInfo
from schedviz.explain.pasted.reader import read_text
from schedviz.explain.pasted.text_reading import TextReading
from schedviz.ingest.pasted.contents import contents_of
from schedviz.ingest.pasted.message_times import seconds_of_age

#: The beginning of `kubectl describe node`; its end, with the amounts, was not copied.
NODE = """Name:               {name}
Roles:              worker
Labels:             kubernetes.io/hostname={name}
                    disk=fast
CreationTimestamp:  Mon, 02 Mar 2026 08:00:00 +0100
Taints:             {taints}
Unschedulable:      {cordoned}
Lease:
  HolderIdentity:  {name}
"""
POD = """Name:         trainer
Namespace:    ml
Status:       Pending
Node-Selectors:  <none>
Tolerations:  node.kubernetes.io/not-ready:NoExecute op=Exists for 300s
Events:
  Type     Reason            Age   From               Message
  ----     ------            ----  ----               -------
  Warning  FailedScheduling  30s   default-scheduler  {message}
"""


def node(name: str, *taints: str, cordoned: bool = False) -> str:
    return NODE.format(name=name, taints=("\n" + " " * 20).join(taints) or "<none>", cordoned=str(cordoned).lower())


def read(*nodes: str, message: str) -> TextReading:
    contents = contents_of("\n".join((*nodes, POD.format(message=message))))
    described = {key: PodInfo(pod) for key, pod in contents.pods.items()}
    return read_text(contents.messages, contents.facts, described, seconds_of_age, contents.storage)


def test_the_described_node_with_the_taint_is_named_with_the_command_that_removes_the_taint() -> None:
    found = read(node("gpu-1", "pool=gpu:NoSchedule"), message="0/1 nodes are available: 1 node(s) had untolerated taint {pool: gpu}.")
    [clause] = found.messages[0].message.clauses
    assert clause.headline.startswith("`gpu-1` has the taint `pool=gpu`, which the pod does not tolerate")
    assert "remove the taint with `kubectl taint nodes gpu-1 pool-`" in clause.advice


def test_two_described_nodes_are_named_and_other_reasons_stay_as_they_are() -> None:
    found = read(
        node("a", "pool=gpu:NoExecute", "other:PreferNoSchedule"),
        node("b", "first:NoSchedule", "pool=gpu:NoSchedule"),
        node("c", cordoned=True),
        message=("0/5 nodes are available: 2 node(s) had untolerated taint {pool: gpu}, 1 node(s) were unschedulable, 2 Insufficient cpu."),
    )
    headlines = {clause.headline for clause in found.messages[0].message.clauses}
    assert headlines == {
        "`a` and `b` have the taint `pool=gpu`, which the pod does not tolerate",
        "`c` is cordoned",
        "2 nodes do not have enough free CPU",
    }
    assert found.messages[0].message.conclusion == (
        "None of the 5 nodes can run the pod: 2 have the untolerated taint `pool=gpu`, 2 do not have enough free CPU, and 1 is cordoned."
    )


def test_a_node_is_not_named_if_more_nodes_have_the_taint_or_none_that_is_described() -> None:
    for nodes in ([node("a", "pool=gpu:NoSchedule")], [node("a", "pool=cpu:NoSchedule")], [node("a"), node("b")]):
        found = read(*nodes, message="0/2 nodes are available: 2 node(s) had untolerated taint {pool: gpu}.")
        assert found.messages[0].message.clauses[0].headline.startswith("both nodes have the taint"), nodes


def test_a_prefernoschedule_taint_names_no_node() -> None:
    found = read(node("a", "pool=gpu:PreferNoSchedule"), message="0/1 nodes are available: 1 node(s) had untolerated taint {pool: gpu}.")
    assert found.messages[0].message.clauses[0].headline.startswith("the only node has the taint")
