"""Messages of job queues and group schedulers say what the pods wait for."""

from __future__ import annotations

import pytest

from schedviz.explain.messages.message import parse_message
from schedviz.explain.reason_tables.queues import reasons_of_kueue
from schedviz.ingest.pasted.copied_text import CopiedText
from schedviz.ingest.pasted.pasted_text import messages_in

POD_SET = "couldn't assign flavors to pod set main: "


@pytest.mark.parametrize(
    ("reason", "headline"),
    [
        (
            "insufficient unused quota for example.com/gpu in flavor a100, 2 more needed",
            "the flavor `a100` has too little unused quota for example.com/gpu (2 more needed)",
        ),
        ("insufficient unused quota in cohort for cpu in flavor spot", "the flavor `spot` has too little unused quota for CPU"),
        (
            "insufficient quota for cpu in flavor spot, request > maximum capacity (40 > 32)",
            "the workload requests 40 CPU, but the flavor `spot` has at most 32, including what it may borrow",
        ),
        (
            (
                "insufficient quota for cpu in flavor spot, previously considered podsets requests (0) + current podset request (40) > "
                "maximum capacity (32)"
            ),
            "the workload requests 40 CPU, but the flavor `spot` has at most 32, including what it may borrow",
        ),
        (
            (
                "insufficient quota for cpu in flavor spot, previously considered podsets requests (8) + current podset request (32) > "
                "maximum capacity (32)"
            ),
            "the workload's pod sets request 8 and 32 CPU, but the flavor `spot` has at most 32, including what it may borrow",
        ),
        (
            "insufficient quota for cpu in flavor spot in ClusterQueue",
            "the workload requests more CPU than the flavor `spot` has, including what it may borrow",
        ),
        (
            "borrowing limit for example.com/gpu in flavor ml.g5.8xlarge exceeded",
            "the workload would exceed the borrowing limit of the flavor `ml.g5.8xlarge` for example.com/gpu",
        ),
        ("resource memory unavailable in ClusterQueue", "the ClusterQueue has no quota for memory"),
        (
            "untolerated taint {spot=true:NoSchedule} in flavor spot",
            "the flavor `spot` has the taint `spot=true:NoSchedule`, which the workload does not tolerate",
        ),
        (
            "flavor spot doesn't match node affinity",
            "the flavor `spot` does not match the workload's node selector or affinity",
        ),
        (
            'Flavor "rtx" supports only TopologyAwareScheduling',
            "the flavor `rtx` admits only workloads that request a topology",
        ),
        (
            'topology "racks" doesn\'t allow to fit any of 8 pod(s). Total nodes: 4',
            "no domain of the topology `racks` has room for any of the 8 pods",
        ),
        (
            'topology "racks" allows to fit only 3 out of 8 pod(s)',
            "within one domain, the topology `racks` has room for only 3 of the 8 pods",
        ),
    ],
)
def test_a_reason_of_kueue_says_what_the_flavor_lacks(reason: str, headline: str) -> None:
    message = parse_message(POD_SET + reason)
    assert message.conclusion == "Kueue has not admitted the workload."
    [clause] = message.clauses
    assert (clause.reason, clause.plugin, clause.headline) == (reason, "kueue", headline)
    assert clause.advice


def test_each_flavor_of_each_pod_set_has_its_reason_once() -> None:
    assert reasons_of_kueue(
        f"{POD_SET}flavor spot doesn't match node affinity, insufficient unused quota for cpu in flavor base, 3 more needed; "
        "couldn't assign flavors to pod set workers: flavor spot doesn't match node affinity, resource memory unavailable in ClusterQueue"
    ) == [
        "flavor spot doesn't match node affinity",
        "insufficient unused quota for cpu in flavor base, 3 more needed",
        "resource memory unavailable in ClusterQueue",
    ]


def test_a_preemption_that_is_under_way_comes_before_what_lacks() -> None:
    message = parse_message(
        f"{POD_SET}insufficient unused quota for cpu in flavor base, 3 more needed. Pending the preemption of 2 workload(s)"
    )
    assert [clause.headline for clause in message.clauses] == [
        "Kueue preempts other workloads for it (2)",
        "the flavor `base` has too little unused quota for CPU (3 more needed)",
    ]


def test_an_unknown_reason_of_kueue_is_kept() -> None:
    [clause] = parse_message(f"{POD_SET}a reason of a later release").clauses
    assert clause.reason == "a reason of a later release"


def test_volcano_counts_nodes_that_are_unavailable() -> None:
    message = parse_message("0/4 nodes are unavailable: 3 Insufficient example.com/gpu, 1 node(s) had untolerated taint {a: b}.")
    assert message.nodes == 4
    assert [clause.count for clause in message.clauses] == [3, 1]


def test_a_pod_that_volcano_could_place_is_named_by_its_message() -> None:
    row = "Warning  FailedScheduling  1s  volcano  Pod ml/train-0 can possibly be assigned to node-a"
    [said] = messages_in(CopiedText(row))
    assert said.pod == "ml/train-0"
    [clause] = parse_message(said.message).clauses
    assert clause.headline == "Volcano could place this pod on node-a, but starts the group only when enough of its pods fit"


def test_kai_scheduler_is_named() -> None:
    [said] = messages_in(
        CopiedText("Warning  Unschedulable  kai-scheduler  No nodes with enough resources were found: 3 node(s) didn't have enough: GPUs.")
    )
    [clause] = parse_message(said.message).clauses
    assert (clause.plugin, clause.headline) == ("kai-scheduler", "KAI Scheduler found no node with enough free resources for the pod")


def test_a_group_of_volcano_that_has_its_one_pod_lacks_room_for_the_others() -> None:
    [clause] = parse_message("pod group is not ready, 1 minAvailable, 39 Pending, 7 Running; Pending: 39 Unschedulable").clauses
    assert clause.headline == (
        "the group has the one pod that it needs to start (running: 7), but Volcano finds no room for its other pods (pending: 39)"
    )
    [clause] = parse_message("pod group is not ready, 4 minAvailable, 3 Pending, 1 Running; Pending: 3 Unschedulable").clauses
    assert clause.headline == ("Volcano waits until as many pods of the group as must run together have room (minAvailable: 4, pending: 3)")
    [clause] = parse_message("pod group is not ready, 2 Pending").clauses
    assert clause.headline == "Volcano waits until as many pods of the group as must run together (minAvailable) have room"
