"""The nodes of a text that take no new pods, and pods that are pending beside them without a message."""

from __future__ import annotations

import pytest

from schedviz.explain.messages.message import parse_message
from schedviz.ingest.pasted.unavailable_nodes import unavailable_nodes
from tests.ingest.pasted.found_messages import found_messages

NODES = "NAME   STATUS                     ROLES    AGE   VERSION\nn-1    Ready                      <none>   1d    v1.30.0\n"
PODS = "NAME    READY   STATUS    RESTARTS   AGE\nweb-0   0/1     Pending   0          5m\n\n"


@pytest.mark.parametrize(
    ("text", "nodes"),
    [
        (f"{NODES}n-2    NotReady                   <none>   1d    v1.30.0\n", ["n-2 NotReady"]),
        (f"{NODES}n-2    Ready,SchedulingDisabled   <none>   1d    v1.30.0\n", ["n-2 Ready,SchedulingDisabled"]),
        (NODES, []),
        ("Name: n-1\nRoles: a\nTaints: node.kubernetes.io/disk-pressure:NoSchedule\n", ["n-1 node.kubernetes.io/disk-pressure"]),
        ("Name: n-1\nRoles: a\nTaints: gpu=true:NoSchedule\n", []),
        (
            "Taints:             node.kubernetes.io/disk-pressure:NoSchedule\nLease:\n  HolderIdentity:  n-1\n",
            ["n-1 node.kubernetes.io/disk-pressure"],
        ),
    ],
)
def test_tables_and_descriptions_show_them(text: str, nodes: list[str]) -> None:
    assert unavailable_nodes(text) == nodes


def test_a_pending_pod_without_a_message_is_read_with_them() -> None:
    [said] = found_messages(f"{PODS}{NODES}n-2    NotReady   <none>   1d    v1.30.0\n")
    assert said.pod == "default/web-0"
    [clause] = parse_message(said.message).clauses
    assert (
        clause.headline == "the text has no message of the scheduler about the pod, but it shows nodes that take no new pods: n-2 NotReady"
    )
    assert found_messages(f"{PODS}{NODES}") == []
