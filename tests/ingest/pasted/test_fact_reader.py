"""A text says which pods have a node, which nodes are broken, and which warnings are not about scheduling."""

from __future__ import annotations

import json

from schedviz.ingest.pasted.copied_text import CopiedText
from schedviz.ingest.pasted.fact_reader import facts_in
from schedviz.kube.text_facts import BrokenNode, PlacedPod, PodWarning


def test_the_events_of_a_described_pod_are_about_it() -> None:
    text = (
        "Name:       big-0\nNamespace:  ml\nNode:       node-a/10.0.0.1\nEvents:\n"
        "  Warning  FailedScheduling  2m10s  default-scheduler  0/12 nodes are available: 12 Insufficient cpu.\n"
        "  Normal   Scheduled         60s    default-scheduler  Successfully assigned ml/big-0 to node-a\n"
        '  Warning  FailedMount       10s (x3 over 1m)  kubelet  MountVolume.SetUp failed for volume "cfg"\n'
    )
    assert facts_in(CopiedText(text)) == [
        PlacedPod("ml/big-0", "", "node-a"),
        PlacedPod("ml/big-0", "60s ago", "node-a"),
        PodWarning("ml/big-0", "10s ago", "FailedMount", 'MountVolume.SetUp failed for volume "cfg"'),
    ]


def test_a_pod_without_a_node_is_not_placed() -> None:
    assert facts_in(CopiedText("Name: web\nNamespace: shop\nNode:  <none>\n")) == []


def test_rows_of_a_table_name_their_pods() -> None:
    text = (
        "NAMESPACE   LAST SEEN   TYPE      REASON        OBJECT           MESSAGE\n"
        "prod        14m         Normal    Scheduled     pod/api-1        Successfully assigned prod/api-1 to node-b\n"
        "ml          71s         Warning   BackOff       pod/notebook-0   Back-off restarting failed container\n"
        "ml          7m12s (x4 over 22m)   Warning   Unhealthy   Pod/web   Readiness probe failed\n"
        "prod        1m          Warning   NodeNotReady  node/node-b      Node is not ready\n"
    )
    assert facts_in(CopiedText(text)) == [
        PlacedPod("prod/api-1", "14m ago", "node-b"),
        PodWarning("ml/notebook-0", "71s ago", "BackOff", "Back-off restarting failed container"),
        PodWarning("ml/web", "7m12s ago", "Unhealthy", "Readiness probe failed"),
        BrokenNode("node-b"),
    ]


def test_event_objects_are_read() -> None:
    event = {
        "kind": "Event",
        "apiVersion": "v1",
        "type": "Warning",
        "reason": "BackOff",
        "message": "Back-off pulling image",
        "lastTimestamp": "2026-05-01T10:00:00Z",
        "involvedObject": {"kind": "Pod", "namespace": "shop", "name": "web"},
    }
    text = json.dumps({"kind": "List", "apiVersion": "v1", "items": [event]})
    assert facts_in(CopiedText(text)) == [PodWarning("shop/web", "2026-05-01T10:00:00Z", "BackOff", "Back-off pulling image")]


def test_prose_has_no_events() -> None:
    assert facts_in(CopiedText("Normal people sleep at 3 a.m.\nWarning: kubectl prints this\n")) == []


def test_the_log_of_the_scheduler_says_where_a_pod_was_bound() -> None:
    text = (
        "2024-12-20T04:51:57.976612319Z stderr F I1220 04:51:57.976422       1 schedule_one.go:314] "
        '"Successfully bound pod to node" pod="tas/sts-0" node="kind-worker" evaluatedNodes=9 feasibleNodes=1\n'
        'I0301 10:00:00.000001       1 scheduler.go:731] pod shop/web is bound successfully on node "node-a", 9 nodes evaluated, 1 feasible.\n'
        '{"ts":1734670320251.5,"msg":"Successfully bound pod to node","v":2,"pod":{"name":"sts-1","namespace":"tas"},"node":"kind-worker2"}\n'
    )
    assert facts_in(CopiedText(text)) == [
        PlacedPod("tas/sts-0", "12-20 04:51:57", "kind-worker"),
        PlacedPod("shop/web", "03-01 10:00:00", "node-a"),
        PlacedPod("tas/sts-1", "12-20 04:52:00", "kind-worker2"),
    ]


def test_the_nodes_that_a_table_lists_as_not_ready_are_broken() -> None:
    text = (
        "NAME       STATUS                        ROLES           AGE    VERSION\n"
        "master-1   Ready                         control-plane   4d4h   v1.33.2\n"
        "node-1     NotReady                      <none>          4d4h   v1.33.2\n"
        "node-2     NotReady,SchedulingDisabled   <none>          4d4h   v1.33.2\n"
        "node-3     Ready,SchedulingDisabled      <none>          4d4h   v1.33.2\n"
    )
    assert facts_in(CopiedText(text)) == [BrokenNode("node-1"), BrokenNode("node-2")]
