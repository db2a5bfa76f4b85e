"""What Karpenter says about NodeClaims, NodePools and node classes explains why no node comes, with or without a message about a pod."""

from __future__ import annotations

import pytest

from schedviz.explain.pasted.reader import read_text
from schedviz.explain.pasted.text_reading import TextReading
from schedviz.ingest.pasted.copied_text import CopiedText
from schedviz.ingest.pasted.fact_reader import facts_in
from schedviz.ingest.pasted.message_times import seconds_of_age
from schedviz.ingest.pasted.pasted_text import messages_in

#: The end of `kubectl describe nodeclaim`.
DESCRIBED = """\
Name:         {name}
Status:
  Conditions:
    Last Transition Time:  2026-03-10T10:00:00Z
    Message:               {message}
    Reason:                AwaitingReconciliation
    Status:                Unknown
    Type:                  Initialized
    Last Transition Time:  2026-03-10T10:00:00Z
    Message:               {message}
    Reason:                {reason}
    Status:                {registered}
    Type:                  Registered
    Last Transition Time:  2026-03-10T10:00:00Z
    Message:
    Reason:                Launched
    Status:                True
    Type:                  Launched
  Provider ID:             aws:///eu-1a/i-0
"""
POOL = """\
apiVersion: karpenter.sh/v1
kind: NodePool
metadata:
  name: batch
status:
  conditions:
  - lastTransitionTime: "2026-03-10T10:00:00Z"
    message: {message}
    reason: NotReady
    status: "False"
    type: NodeClassReady
  - message: NodeClassReady=False
    reason: UnhealthyDependents
    status: "False"
    type: Ready
"""
NOT_LAUNCHED = (
    '{"level":"ERROR","time":"2026-03-10T10:00:00Z","logger":"controller","message":"failed launching nodeclaim",'
    '"controller":"nodeclaim.lifecycle","NodeClaim":{"name":"batch-x7k2p"},"error":"insufficient capacity, no capacity for m9.large"}\n'
)
NO_POOLS = (
    '{"level":"INFO","time":"2026-03-10T10:00:00Z","logger":"controller","message":"no nodepools found","controller":"provisioner"}\n'
)
NOT_READY = '{"level":"ERROR","message":"ignoring nodepool, not ready","controller":"provisioner","NodePool":{"name":"batch"}}\n'
NOMINATED = "  Normal  Nominated  6m  karpenter  Pod should schedule on: nodeclaim/batch-x7k2p\n"


def read(text: str) -> TextReading:
    return read_text(messages_in(CopiedText(text)), facts_in(CopiedText(text)), {}, seconds_of_age)


@pytest.mark.parametrize(
    ("text", "subject", "sentence", "advice"),
    [
        (
            DESCRIBED.format(name="batch-x7k2p", message="Node not registered with cluster", reason="NodeNotFound", registered="Unknown"),
            "nodeclaim/batch-x7k2p",
            "The machine of NodeClaim `batch-x7k2p` was launched, but has not joined the cluster as a node.",
            "journalctl -u kubelet",
        ),
        (
            DESCRIBED.format(name="batch-x7k2p", message="object is awaiting reconciliation", reason="Registered", registered="True"),
            "nodeclaim/batch-x7k2p",
            "The node of NodeClaim `batch-x7k2p` has joined, but is not initialized.",
            "kubectl describe nodeclaim batch-x7k2p",
        ),
        (
            POOL.format(message="no subnets match"),
            "nodepool/batch",
            "NodePool `batch` is not ready because its node class is not, so Karpenter ignores it: no subnets match.",
            "kubectl describe ec2nodeclasses",
        ),
        (
            NOT_LAUNCHED,
            "nodeclaim/batch-x7k2p",
            "Karpenter could not launch a machine for NodeClaim `batch-x7k2p`: insufficient capacity, no capacity for m9.large.",
            "Allow more instance types",
        ),
        (NO_POOLS, "", "Karpenter adds no nodes: it finds no NodePool that is ready.", "kubectl describe nodepools"),
        (NOT_READY + NO_POOLS, "nodepool/batch", "NodePool `batch` is not ready, so Karpenter ignores it.", "describe nodepool batch"),
    ],
)
def test_an_object_that_gives_no_node_is_explained(text: str, subject: str, sentence: str, advice: str) -> None:
    [found] = read(text).answers
    assert (found.pod, found.sentence) == (subject, sentence)
    assert advice in found.advice


def test_an_object_without_a_failing_condition_is_not_explained() -> None:
    healthy = DESCRIBED.format(name="a", message="", reason="Registered", registered="True").replace("Unknown", "True")
    assert read(healthy).messages == ()


def test_the_log_of_a_nodeclaim_says_why_the_pod_still_waits() -> None:
    reading = read(NOMINATED + NOT_LAUNCHED)
    [found] = reading.answers
    assert (found.pod, found.standing) == ("", "pending")
    assert found.sentence.startswith("Karpenter could not launch a machine for NodeClaim `batch-x7k2p`: insufficient capacity")


def test_the_pod_of_a_daemon_set_gets_no_node_from_the_cluster_autoscaler() -> None:
    log = (
        "I0310 10:00:00.1 1 klogx.go:87] failed to find place for mon/agent-x7k2p: cannot put pod agent-x7k2p on any node\n"
        "I0310 10:00:00.2 1 filter_out_daemon_sets.go:49] Filtered out 1 daemon set pods, 0 unschedulable pods left\n"
    )
    [found] = read(log).answers
    assert (found.pod, found.standing) == ("mon/agent-x7k2p", "pending")
    assert "belongs to a DaemonSet" in found.sentence
    # Pods of others are left: nothing is known about this one.
    assert read(log.replace("0 unschedulable", "3 unschedulable")).messages == ()


def test_machines_that_do_not_register_are_in_the_status_of_the_cluster_autoscaler() -> None:
    status = (
        "Cluster-autoscaler status at 2026-03-10 10:00:00 +0000 UTC:\nNodeGroups:\n  Name:        workers-a\n"
        "  Health:      Healthy (ready=1 unready=0 registered=1 longUnregistered=2 cloudProviderTarget=5 (minSize=3, maxSize=12))\n"
        "  ScaleUp:     InProgress (ready=1 cloudProviderTarget=5)\n"
    )
    [found] = read(status).answers
    assert "2 machines in the node group `workers-a` have not registered as nodes for a long time" in found.sentence
    assert read(status.replace("longUnregistered=2", "longUnregistered=0")).messages == ()
