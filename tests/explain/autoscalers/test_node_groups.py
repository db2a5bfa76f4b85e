"""Events, log lines and the status of the cluster autoscaler, from public issues."""

from __future__ import annotations

import pytest

from schedviz.explain.autoscalers.node_groups import clauses_of_groups, refusal_of_groups
from tests.ingest.pasted.found_messages import found_messages


@pytest.mark.parametrize(
    ("reasons", "sentence", "advice"),
    [
        (
            # https://github.com/kubernetes/autoscaler/issues/5692
            "12 node(s) didn't match Pod's node affinity/selector, 3 max node group size reached.",
            "3 node groups are at their maximum size and 12 do not match the pod's node selector or affinity",
            "Raise the maximum size of a node group that can run the pod",
        ),
        (
            # https://github.com/aerospike/aerospike-kubernetes-operator/issues/80
            "1 node(s) had volume node affinity conflict, 2 node(s) didn't match node selector",
            "1 node group has machines that cannot access the pod's volume and 2 do not match the pod's node selector or affinity",
            "Add a node group in the volume's zone, or ",
        ),
        (
            # https://github.com/kubeflow/kubeflow/issues/4770
            "3 node(s) had volume node affinity conflict, 1 Insufficient nvidia.com/gpu",
            "1 node group does not offer enough `nvidia.com/gpu` and 3 have machines that cannot access the pod's volume",
            "Add a node group in the volume's zone whose machines have `nvidia.com/gpu`, or free `nvidia.com/gpu` in that zone",
        ),
        (
            "2 node(s) had volume node affinity conflict, 1 Insufficient memory",
            "1 node group has machines with too little memory for the pod and 2 have machines that cannot access the pod's volume",
            "Lower the pod's requests, or add a node group with larger machines in the volume's zone. A bound volume",
        ),
        (
            # A limit that comes first keeps its advice.
            "2 node(s) had volume node affinity conflict, 1 Insufficient memory, 1 max node group size reached",
            (
                "1 node group is at its maximum size, 1 has machines with too little memory for the pod, and 2 have machines that cannot "
                "access the pod's volume"
            ),
            "Raise the maximum size",
        ),
        (
            # https://github.com/gardener/autoscaler/issues/67
            "2 node(s) didn't match node selector, 1 not ready for scale-up",
            (
                "too many nodes in 1 node group are not ready for a scale-up, and 2 node groups do not match the pod's node selector or affinity"
            ),
            "Find out why nodes of the group are not ready",
        ),
        # https://github.com/kubernetes/autoscaler/issues/3268
        ("1 max limit reached", "1 node group is at its maximum size", "Raise the maximum size"),
        (
            "1 Insufficient cpu, 1 Insufficient memory",
            "1 node group has machines with too little CPU and memory for the pod",
            "Lower the pod's requests, or add a node group with larger machines",
        ),
        ("max total nodes in cluster reached", "the cluster has as many nodes as the autoscaler allows", "Raise `--max-nodes-total`"),
        (
            "1 max cluster cpu, memory limit reached",
            "another node would exceed the autoscaler's limit for the whole cluster (cpu, memory)",
            "Raise the cluster-wide limit",
        ),
        (
            "1 not all pods would fit and scale-up is using all-or-nothing strategy",
            "1 node group cannot take all pods of the request, and the autoscaler scales up for all of them or for none",
            "Raise the maximum size",
        ),
        (
            "2 node(s) had taint {workload: gpu}, that the pod didn't tolerate",
            "2 node groups have the untolerated taint `workload=gpu`",
            "If the pod belongs on these nodes, add a toleration for `workload=gpu`; otherwise, add a node group without this taint",
        ),
    ],
)
def test_each_reason_for_node_groups_is_a_sentence_with_an_advice(reasons: str, sentence: str, advice: str) -> None:
    for before in ("pod didn't trigger scale-up: ", "pod didn't trigger scale-up (it wouldn't fit if a new node is added): "):
        found = refusal_of_groups(f"{before}{reasons}")
        assert found is not None
        assert found.sentence.text == f"The cluster autoscaler did not add a node: {sentence}."
        assert found.advice is not None
        assert found.advice.text.startswith(advice)


def test_several_reasons_are_a_list_that_names_the_node_groups_once() -> None:
    found = refusal_of_groups(
        "pod didn't trigger scale-up: 7 node(s) didn't match Pod's node affinity/selector, 2 Insufficient cpu, 4 node(s) had untolerated taint(s), "
        "1 in backoff after failed scale-up, 1 Too many pods"
    )
    assert found is not None
    assert found.note is not None
    assert (found.sentence.text, found.note.text) == (
        (
            "The cluster autoscaler did not add a node: 1 node group is in backoff after a failed scale-up, 2 have machines with too little CPU for the pod, "
            "1 has machines whose pod limit is too low, and 7 do not match the pod's node selector or affinity."
        ),
        "In addition: 4 node groups have taints that the pod does not tolerate.",
    )


def test_an_event_without_a_reason_leads_to_the_log_with_the_whole_command() -> None:
    for said in ("pod didn't trigger scale-up:", "pod didn't trigger scale-up (it wouldn't fit if a new node is added)"):
        assert refusal_of_groups(said) is None
        [clause] = clauses_of_groups(said)
        assert clause.headline == "the cluster autoscaler did not add a node, and its event gives no reason"
        assert "`kubectl -n kube-system logs deploy/cluster-autoscaler`" in clause.advice


def test_a_line_of_the_log_names_the_node_group() -> None:
    # https://github.com/kubernetes/autoscaler/issues/4606
    found = refusal_of_groups(
        "Pod reserve-f655d54d-g4crf can't be scheduled on shoot--ash-garden--z1, predicate checking error: Insufficient cpu, Insufficient memory; "
        "predicateName=NodeResourcesFit; reasons: Insufficient cpu, Insufficient memory"
    )
    assert found is not None
    assert found.sentence.text == (
        "The cluster autoscaler did not add a node: the node group `shoot--ash-garden--z1` has machines with too little CPU and memory for the pod."
    )


def test_the_log_since_1_33_and_before_1_13_says_the_same() -> None:
    # https://github.com/kubernetes/autoscaler/issues/8341 and https://github.com/kubernetes/autoscaler/pull/901
    since = refusal_of_groups(
        "Pod win/web can't be scheduled on eks-a, predicate checking error: can't schedule pod win/web: predicate \"NodeAffinity\" didn't pass "
        "(predicateReasons=[node(s) didn't match Pod's node affinity/selector]"
    )
    before = refusal_of_groups(
        "Pod gputest can't be scheduled on https://content.googleapis.com/compute/v1/projects/p/zones/z/instanceGroups/nap-mig, predicate failed: "
        "PodFitsResources predicate mismatch, cannot put default/gputest on template, reason: Insufficient nvidia.com/gpu"
    )
    assert since is not None
    assert before is not None
    assert since.sentence.text.endswith(": the node group `eks-a` does not match the pod's node selector or affinity.")
    assert before.sentence.text.endswith(": the node group `nap-mig` does not offer enough `nvidia.com/gpu`.")


def test_a_backoff_in_the_status_names_the_error_of_the_cloud() -> None:
    found = refusal_of_groups(
        "Node group mig-a: ScaleUp: Backoff, error: QUOTA_EXCEEDED, no quota | Node group b: maximum size reached (2 of 2 nodes)"
    )
    assert found is not None
    assert found.sentence.text == (
        "The cluster autoscaler cannot scale up every node group: the last scale-up of the node group `mig-a` failed: QUOTA_EXCEEDED, no quota, and the node group `b` is at its maximum size."
    )


def test_node_groups_in_the_same_state_are_one_reason_and_have_their_zones_if_their_names_are_equal() -> None:
    address = "https://compute.example/zones/{}/instanceGroups/minions"
    lines = [f"Skipping node group {address.format('z-b')} - max size reached"]
    lines += [f"Node group {address.format(zone)} is not ready for scaleup" for zone in ("z-c", "z-d")]
    refusal = refusal_of_groups(" | ".join(lines))
    assert refusal is not None
    assert refusal.sentence.text == (
        "The cluster autoscaler did not add a node: the node group `z-b/minions` is at its maximum size, and too many nodes in the node "
        "groups z-c/minions and z-d/minions are not ready for a scale-up."
    )


def test_a_log_without_options_gives_no_reason() -> None:
    log = (
        "I0606 05:28:20.421072 1 klogx.go:86] Pod shop/web-0 is unschedulable\nI0606 05:28:20.421292 1 scale_up.go:364] Upcoming 0 nodes\n"
        "I0606 05:28:20.421346 1 scale_up.go:441] No expansion options\n"
    )
    [said] = found_messages(log)
    assert (said.pod, said.message) == ("shop/web-0", "No expansion options")
    refusal = refusal_of_groups(said.message)
    assert refusal is not None
    assert refusal.sentence.text.startswith("The cluster autoscaler found no node group that it could scale up for the pod;")


def test_a_pod_with_a_cached_result_has_the_reason_of_the_pod_before_it() -> None:
    taint = 'taints on node: []v1.Taint{v1.Taint{Key:"prod-only", Value:"true", Effect:"NoSchedule", TimeAdded:(*v1.Time)(nil)}}'
    refused = (
        "I0506 14:23:31.1 1 scale_up.go:271] Pod test/web-7474d8bb57-dxt2n is unschedulable\n"
        "I0506 14:23:31.1 1 scale_up.go:271] Pod test/web-7474d8bb57-6vw5w is unschedulable\n"
        "I0506 14:23:31.1 1 pod_schedulable.go:165] Pod web-7474d8bb57-dxt2n can't be scheduled on group-a, predicate failed: "
        f"PodToleratesNodeTaints predicate mismatch, reason: node(s) had taints that the pod didn't tolerate, {taint}\n"
    )
    cached = "I0506 14:23:31.2 1 pod_schedulable.go:157] Pod web-7474d8bb57-6vw5w can't be scheduled on {group}. Used cached predicate check results\n"
    found = found_messages(refused + cached.format(group="group-a"))
    assert [each.pod for each in found] == ["test/web-7474d8bb57-dxt2n", "test/web-7474d8bb57-6vw5w"]
    for each in found:
        refusal = refusal_of_groups(each.message)
        assert refusal is not None
        assert "has the untolerated taint `prod-only=true:NoSchedule`" in refusal.sentence.text
    # Nothing says why the pod does not fit on another group.
    assert len(found_messages(refused + cached.format(group="group-b"))) == 1
