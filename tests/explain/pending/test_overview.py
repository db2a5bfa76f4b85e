"""All pending pods by reason, and which of the reasons of a FitError is the one to act on."""

from __future__ import annotations

from typing import Any

from schedviz.engine import Simulation
from schedviz.explain.pending.overview import Unread, overview
from schedviz.explain.why import why_pending
from tests.explain.small_clusters import cluster, node, pod


def main(simulation: Simulation) -> str:
    clause = why_pending(simulation, "default/p").main
    assert clause is not None
    return clause.reason


def test_pods_are_grouped_by_reason_with_those_that_no_node_takes_first() -> None:
    found = overview(
        cluster(
            node("n1"),
            node("n2", taints=("gpu=true:NoSchedule",), pool="gpu"),
            pod("big-1", cpu="64"),
            pod("big-2", cpu="64"),
            pod("bigger", cpu="128"),
            pod("gpu", nodeSelector={"pool": "gpu"}),
            pod("small"),
        )
    )
    assert found.sentence == "5 pods are pending, for 3 reasons"
    assert [(reason.reason, reason.count) for reason in found.reasons] == [
        ("Insufficient cpu", 3),
        ("node(s) had untolerated taint {gpu: true}", 1),
        ("not tried yet: they fit on nodes now", 1),
    ]
    assert [group.headline for group in found.reasons[0].groups] == [
        "the pod requests 64 CPU, but the largest node has only 4 CPU",
        "the pod requests 128 CPU, but the largest node has only 4 CPU",
    ]
    assert [len(group.pods) for group in found.groups] == [2, 1, 1, 1]


def test_missing_claims_of_different_names_are_one_reason() -> None:
    wanted = [
        pod(name, volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": claim}}]) for name, claim in (("a", "one"), ("b", "two"))
    ]
    [reason] = overview(cluster(node("n1"), *wanted)).reasons
    assert (reason.reason, reason.count) == ('persistentvolumeclaim "…" not found', 2)
    assert [group.detail for group in reason.groups] == ['persistentvolumeclaim "one" not found', 'persistentvolumeclaim "two" not found']


def test_gated_pods_and_pods_of_other_schedulers_are_reasons_of_their_own() -> None:
    found = overview(cluster(node("n1"), pod("a", schedulingGates=[{"name": "quota"}]), pod("b", schedulerName="other")))
    details = {reason.reason: reason.groups[0].detail for reason in found.reasons}
    assert details["held back by scheduling gates"] == "gates: quota"
    assert details.keys() == {"held back by scheduling gates", "pending for another scheduler, other"}


def test_each_reason_says_what_to_do() -> None:
    found = overview(cluster(node("n1"), pod("a", schedulingGates=[{"name": "quota"}]), pod("b", cpu="64"), pod("c")))
    advice = {reason.reason: reason.advice for reason in found.reasons}
    assert advice["held back by scheduling gates"].startswith("find the controller that set the gates")
    assert advice["Insufficient cpu"].startswith("lower the pod's request, or add a larger node")
    assert advice["not tried yet: they fit on nodes now"] == ""


def test_a_group_that_could_not_be_evaluated_is_not_first() -> None:
    claims = [pod(f"v{number}", volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}]) for number in range(3)]
    for each in claims:
        message = "0/1 nodes are available: 1 node(s) had volume node affinity conflict."
        each["status"]["conditions"] = [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": message}]
    found = overview(cluster(node("n1"), *claims, pod("big", cpu="64")))
    assert [reason.reason for reason in found.reasons] == [
        "Insufficient cpu",
        "not evaluated: the files contain no PersistentVolumeClaim objects",
    ]


def test_without_pending_pods_there_is_no_reason() -> None:
    found = overview(cluster(node("n1"), pod("a", on="n1")))
    assert (found.sentence, found.count, found.reasons) == ("No pod is pending.", 0, ())


def test_the_main_reason_is_that_of_the_nodes_that_the_pod_selects() -> None:
    simulation = cluster(
        *(node(f"n{number}") for number in range(5)),
        node("gpu-1", taints=("gpu=true:NoSchedule",), pool="gpu"),
        pod("p", nodeSelector={"pool": "gpu"}),
    )
    assert main(simulation) == "node(s) had untolerated taint {gpu: true}"


def test_a_control_plane_node_is_not_the_main_reason() -> None:
    simulation = cluster(
        *(node(f"cp-{number}", cpu="64", taints=("node-role.kubernetes.io/control-plane=:NoSchedule",)) for number in range(3)),
        node("n1"),
        pod("p", cpu="16"),
    )
    assert main(simulation) == "Insufficient cpu"


def test_a_full_node_is_nearer_than_a_reserved_one() -> None:
    simulation = cluster(
        node("n1"), node("n2", taints=("gpu=true:NoSchedule",)), node("n3", cordoned=True), pod("a", cpu="4", on="n1"), pod("p")
    )
    assert main(simulation) == "Insufficient cpu"


def test_a_tainted_node_that_is_too_small_as_well_is_not_the_main_reason() -> None:
    simulation = cluster(node("n1"), node("n2"), node("n3", taints=("gpu=true:NoSchedule",)), pod("p", cpu="64"))
    assert main(simulation) == "Insufficient cpu"


def test_the_brief_form_names_the_nearest_nodes_of_each_clause() -> None:
    found = overview(cluster(*(node(f"n{number}") for number in range(9)), pod("p", cpu="64")))
    [clause] = found.brief().groups[0].clauses
    assert (clause.count, clause.nodes) == (9, ("n0", "n1", "n2", "n3", "n4"))
    [whole] = found.groups[0].clauses
    assert len(whole.nodes) == 9


def test_without_nodes_the_most_likely_cause_in_the_message_leads_and_the_others_follow() -> None:
    message = (
        "0/6 nodes are available: 1 node(s) were unschedulable, 2 node(s) had untolerated taint {nvidia.com/gpu: present}, "
        "3 Insufficient nvidia.com/gpu, 3 Insufficient cpu."
    )
    waiting = pod("train")
    waiting["status"] = {"conditions": [{"type": "PodScheduled", "status": "False", "message": message}]}

    found = overview(cluster(waiting))
    [reason] = found.reasons

    assert reason.reason == "node(s) had untolerated taint {nvidia.com/gpu: present}"
    # The headline is the one that the message has as pasted text, and each reason has its own advice.
    assert reason.headline.startswith("None of the 6 nodes can run the pod: ")
    assert reason.groups[0].detail == f"kube-scheduler reported: {message}"
    assert reason.advice == ""
    assert [clause.reason for clause in found.other_reasons(reason)] == [
        "node(s) had untolerated taint {nvidia.com/gpu: present}",
        "Insufficient cpu",
        "node(s) were unschedulable",
        "Insufficient nvidia.com/gpu",
    ]
    assert all(clause.advice for clause in found.other_reasons(reason))


def reasons_without_nodes(message: str, **members: Any) -> list[str]:
    """The headlines of a pod in a dump without nodes, the leading one first."""
    waiting = pod("train", **members)
    waiting["status"] = {"conditions": [{"type": "PodScheduled", "status": "False", "message": f"0/9 nodes are available: {message}."}]}
    found = overview(cluster(waiting))
    [reason] = found.reasons
    return [reason.headline, *(clause.headline for clause in found.other_reasons(reason))]


def test_without_nodes_the_reason_of_most_nodes_leads_with_what_the_pod_asks_for() -> None:
    message = "1 node(s) were unschedulable, 4 node(s) didn't match Pod's node affinity/selector"
    assert reasons_without_nodes(message, nodeSelector={"accelerator": "a100"}) == [
        "None of the 9 nodes can run the pod: 4 do not match the pod's node selector or affinity and 1 is cordoned.",
        "4 nodes do not match the pod's node selector or affinity (`accelerator=a100`)",
        "1 node is cordoned",
    ]


def test_without_nodes_a_filter_after_the_selector_leads_over_it_with_the_request() -> None:
    message = "96 node(s) didn't match Pod's node affinity/selector, 3 Insufficient cpu"
    found = reasons_without_nodes(message, cpu="1500m", nodeSelector={"disk": "nvme"})
    assert found[1] == "3 nodes do not have enough free CPU; the pod requests 1.5 CPU"


def test_without_nodes_the_control_plane_comes_last_and_cordoned_nodes_after_as_many_others() -> None:
    taint = "3 node(s) had untolerated taint {node-role.kubernetes.io/control-plane: }"
    found = reasons_without_nodes(f"{taint}, 2 node(s) were unschedulable, 2 Insufficient cpu", cpu="4")
    assert found[1:] == [
        "2 nodes do not have enough free CPU; the pod requests 4 CPU",
        "2 nodes are cordoned",
        "3 nodes are reserved for the control plane",
    ]


def test_objects_without_a_pending_pod_are_no_all_clear_if_a_part_of_their_file_is_missing() -> None:
    unread = Unread("dump.json, line 802: the JSON ends too early", 1)
    assert overview(cluster(node("n1")), unread=unread).sentence == (
        "Only 1 object could be read, and no pending pod is among them: dump.json, line 802: the JSON ends too early"
    )
    assert overview(cluster(node("n1"), pod("p")), unread=unread).sentence == "1 pod is pending"


def of_zone_c() -> tuple[dict[str, Any], ...]:
    """A claim of a class with WaitForFirstConsumer, bound to a volume in zone c."""
    terms = [{"matchExpressions": [{"key": "topology.kubernetes.io/zone", "operator": "In", "values": ["c"]}]}]
    return (
        {
            "apiVersion": "storage.k8s.io/v1",
            "kind": "StorageClass",
            "metadata": {"name": "gp3"},
            "provisioner": "ebs.csi.aws.com",
            "volumeBindingMode": "WaitForFirstConsumer",
        },
        {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": {"name": "data", "namespace": "default", "annotations": {"pv.kubernetes.io/bind-completed": "yes"}},
            "spec": {"volumeName": "pv-c", "storageClassName": "gp3", "accessModes": ["ReadWriteOnce"]},
            "status": {"phase": "Bound"},
        },
        {
            "apiVersion": "v1",
            "kind": "PersistentVolume",
            "metadata": {"name": "pv-c"},
            "spec": {
                "capacity": {"storage": "1Gi"},
                "storageClassName": "gp3",
                "accessModes": ["ReadWriteOnce"],
                "claimRef": {"namespace": "default", "name": "data"},
                "nodeAffinity": {"required": {"nodeSelectorTerms": terms}},
            },
        },
    )


def a_cordoned_zone() -> Simulation:
    """Two pods of different reasons need zone c, whose only node is cordoned."""
    web = {"app": "web"}
    constraint = {
        "maxSkew": 1,
        "topologyKey": "topology.kubernetes.io/zone",
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": web},
    }
    return cluster(
        node("a1", zone="a"),
        node("b1", zone="b"),
        node("c1", zone="c", cordoned=True),
        *of_zone_c(),
        pod("web-1", labels=web, on="a1"),
        pod("web-2", labels=web, on="b1"),
        pod("web-3", labels=web, topologySpreadConstraints=[constraint]),
        pod("db", volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}]),
    )


def test_pods_that_the_same_change_would_place_are_joined_under_it() -> None:
    found = overview(a_cordoned_zone(), with_changes=True)
    [reason] = found.reasons
    assert found.sentence == "2 pods are pending, for 1 reason"
    assert [change.what for change in reason.changes] == ["uncordon c1"]
    assert sorted(name for group in reason.groups for name in group.pods) == ["default/db", "default/web-3"]
    assert reason.advice == ""


def test_a_bound_volume_is_not_answered_with_another_binding_mode() -> None:
    advice = [reason.advice for reason in overview(a_cordoned_zone()).reasons]
    assert any("a bound volume does not move" in each for each in advice)
    assert not any("WaitForFirstConsumer" in each for each in advice)


def test_a_pod_without_gpus_that_is_too_large_does_not_wait_for_a_gpu_node() -> None:
    gpu_node = node("gpu-1", cpu="8", taints=("nvidia.com/gpu=present:NoSchedule",))
    gpu_node["status"]["allocatable"]["nvidia.com/gpu"] = "1"
    [reason] = overview(cluster(node("n1"), gpu_node, pod("p", cpu="6")), with_changes=True).reasons
    assert reason.reason == "Insufficient cpu"
    assert [change.kind for change in reason.changes] == ["request"]


def test_groups_of_a_reason_with_different_changes_have_their_own() -> None:
    [reason] = overview(cluster(node("n1"), pod("p", cpu="6"), pod("q", cpu="7")), with_changes=True).reasons
    assert (reason.changes, reason.advice) == ((), "")
    assert [[change.what for change in group.changes] for group in reason.groups] == [
        ["lower the CPU request of container `c` from 6 to 4"],
        ["lower the CPU request of container `c` from 7 to 4"],
    ]


def untried(name: str, message: str, **members: Any) -> dict[str, Any]:
    made = pod(name, **members)
    made["status"] = {"conditions": [{"type": "PodScheduled", "status": "False", "message": f"0/5 nodes are available: {message}."}]}
    return made


def test_without_nodes_the_overview_says_that_nothing_was_tried_and_what_to_add() -> None:
    found = overview(cluster(untried("p", "5 Insufficient cpu")))
    assert found.note.startswith("The files contain no nodes, so scheduling was not simulated")
    assert (found.command, found.release) == ("kubectl get nodes,pods,pv,pvc,sc,events -A -o json", "")
    with_nodes = overview(cluster(node("n1"), pod("p", cpu="64")))
    assert (with_nodes.note, with_nodes.command, with_nodes.release) == ("", "", "v1.27.1")


def test_without_nodes_what_all_pods_have_in_common_is_said_once() -> None:
    found = overview(
        cluster(
            untried("p", "3 Insufficient cpu, 1 node(s) were unschedulable, 1 node(s) had untolerated taint {gpu: a}", cpu="4"),
            untried("q", "3 Insufficient memory, 1 node(s) were unschedulable, 1 node(s) had untolerated taint {gpu: b}", memory="4Gi"),
        )
    )
    assert [clause.headline for clause in found.common] == ["1 node is cordoned"]
    assert [[clause.headline for clause in found.other_reasons(reason)] for reason in found.reasons] == [
        ["3 nodes do not have enough free CPU; the pod requests 4 CPU", "1 node has the taint `gpu=a`, which the pod does not tolerate"],
        [
            "3 nodes do not have enough free memory; the pod requests 4Gi of memory",
            "1 node has the taint `gpu=b`, which the pod does not tolerate",
        ],
    ]


def test_without_nodes_a_pod_that_is_pinned_to_a_node_says_what_that_node_lacks_and_nothing_else() -> None:
    waiting = pod("train", nodeSelector={"kubernetes.io/hostname": "n-7"})
    message = "0/9 nodes are available: 1 Insufficient cpu, 8 node(s) didn't match Pod's node affinity/selector."
    waiting["status"] = {"conditions": [{"type": "PodScheduled", "status": "False", "message": message}]}

    found = overview(cluster(waiting))
    [reason] = found.reasons

    assert reason.headline == "The pod can run only on `n-7` (`kubernetes.io/hostname`), and `n-7` does not have enough free CPU."
    assert reason.advice.startswith("free up CPU on `n-7`")
    assert found.other_reasons(reason) == ()


def test_pods_of_another_scheduler_are_counted_apart() -> None:
    other = pod("b", schedulerName="other")
    assert overview(cluster(node("n1"), pod("a", cpu="8"), other)).sentence == "1 pod is pending; 1 pod is pending for another scheduler"
    assert overview(cluster(node("n1"), other)).sentence == "1 pod is pending for another scheduler."


def test_a_pod_that_is_too_large_for_every_node_is_not_advised_to_request_a_fraction() -> None:
    [reason] = overview(cluster(node("n1"), pod("huge", cpu="40")), with_changes=True).reasons
    assert reason.groups[0].changes == ()
    assert reason.advice.startswith("lower the pod's request, or add a larger node")


def test_a_pod_that_is_too_large_for_every_node_has_a_step_of_its_own_beside_others_with_changes() -> None:
    [reason] = overview(cluster(node("n1"), pod("p", cpu="6"), pod("q", cpu="40")), with_changes=True).reasons
    steps = {group.pods[0]: (len(group.changes), group.effect) for group in reason.groups}
    assert steps["default/p"][0] == 1
    assert steps["default/q"] == (0, "lower the request, or add a larger node")


def test_a_pod_that_is_too_large_for_every_node_is_told_how_much_to_lower_its_request() -> None:
    [reason] = overview(cluster(node("n1"), pod("large", cpu="10")), with_changes=True).reasons
    assert [change.what for change in reason.changes] == ["lower the CPU request of container `c` from 10 to 4"]


def test_of_equally_many_pods_those_that_wait_for_room_are_last_and_titles_are_short() -> None:
    missing = pod("claim", volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}])
    found = overview(
        cluster(node("n1"), pod("a", cpu="3", on="n1"), pod("full", cpu="2"), missing, pod("gated", schedulingGates=[{"name": "g"}]))
    )
    assert [reason.headline for reason in found.reasons] == [
        "the claim `data` does not exist",
        "held back by scheduling gates",
        "the pod requests 2 CPU, but n1 has only 1 of its 4 CPU free",
    ]
    assert found.reasons[-1].besides(found.reasons[-1].groups[0]) == ""
