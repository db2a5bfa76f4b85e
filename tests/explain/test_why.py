"""Why a pod is Pending: the clauses with their nodes, the outlook, the queue."""

from __future__ import annotations

from collections import Counter

import pytest

from schedviz.engine import Simulation
from schedviz.explain.pending.overview import overview
from schedviz.explain.why import PodUnknownError, why_pending
from tests.explain.small_clusters import cluster, do, node, pod

SPREAD = {"maxSkew": 1, "topologyKey": "topology.kubernetes.io/zone", "whenUnsatisfiable": "DoNotSchedule"}


def three_reasons() -> Simulation:
    return cluster(
        node("n1", cordoned=True),
        node("n2", taints=("gpu=true:NoSchedule",)),
        node("n3"),
        node("n4"),
        pod("a", cpu="3", on="n3"),
        pod("b", cpu="3500m", on="n4"),
        pod("web-1", cpu="2"),
        pod("web-2", cpu="2"),
    )


def test_the_time_of_a_condition_is_that_of_the_cluster_and_never_that_of_the_virtual_clock() -> None:
    refused = pod("p", cpu="9")
    condition = {
        "type": "PodScheduled",
        "status": "False",
        "reason": "Unschedulable",
        "message": "0/1 nodes are available: 1 Insufficient cpu.",
    }
    refused["status"]["conditions"] = [{**condition, "lastTransitionTime": "2026-11-22T22:16:57Z"}]
    assert why_pending(cluster(node("n1"), refused), "default/p").said_since == "2026-11-22T22:16:57Z"

    simulation = cluster(node("n1"), pod("p", cpu="9"))
    do(simulation, "run")
    explanation = why_pending(simulation, "default/p")
    assert explanation.said.startswith("0/1 nodes are available")
    assert explanation.said_since == ""


def test_every_clause_has_its_nodes_and_the_counts_sum_to_all_nodes() -> None:
    explanation = why_pending(three_reasons(), "default/web-1")
    assert [(clause.count, clause.reason, clause.nodes) for clause in explanation.clauses] == [
        (1, "node(s) had untolerated taint {gpu: true}", ("n2",)),
        (1, "node(s) were unschedulable", ("n1",)),
        (2, "Insufficient cpu", ("n3", "n4")),
    ]
    assert explanation.message == (
        "0/4 nodes are available: 1 node(s) had untolerated taint {gpu: true}, 1 node(s) were unschedulable, 2 Insufficient cpu. preemption: "
        "0/4 nodes are available: 2 No preemption victims found for incoming pod, 2 Preemption is not helpful for scheduling.."
    )
    assert sum(explanation.outlooks.values()) == len(explanation.matrix) == explanation.nodes == 4


def test_the_message_is_that_of_the_scheduler() -> None:
    simulation = three_reasons()
    explanation = why_pending(three_reasons(), "default/web-1")
    do(simulation, "run")
    written = why_pending(simulation, "default/web-1").said
    assert written == explanation.message


def test_plugins_after_the_deciding_one_are_evaluated_too() -> None:
    simulation = cluster(node("n1", cordoned=True, taints=("gpu=true:NoSchedule",), cpu="1"), pod("p", cpu="2"))
    [verdict] = why_pending(simulation, "default/p").matrix
    assert verdict.plugin == "NodeUnschedulable"
    assert [objection.plugin for objection in verdict.objections] == ["NodeUnschedulable", "TaintToleration", "NodeResourcesFit"]


def test_never_is_where_even_an_empty_node_is_too_small() -> None:
    simulation = cluster(node("n1"), node("n2"), pod("a", on="n1"), pod("p", cpu="5"))
    explanation = why_pending(simulation, "default/p")
    assert explanation.outlook == "never"
    assert explanation.outlooks == {"never": 2}
    assert explanation.room == ()


def test_not_now_names_exactly_the_pods_that_would_have_to_leave() -> None:
    simulation = cluster(
        node("n1"), pod("small", cpu="500m", on="n1", priority=5), pod("large", cpu="3", on="n1"), pod("p", cpu="2", priority=1)
    )
    explanation = why_pending(simulation, "default/p")
    assert explanation.outlook == "pods leave"
    [room] = explanation.room
    assert (room.node, room.pods, room.by_preemption) == ("n1", ("default/large",), True)
    assert "fit on n1 if preemption evicted default/large" in explanation.sentence


def test_rejections_that_depend_on_other_nodes_have_the_outlook_elsewhere() -> None:
    affinity = {"topologyKey": "topology.kubernetes.io/zone", "labelSelector": {"matchLabels": {"app": "db"}}}
    required = {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [affinity]}}
    simulation = cluster(node("n1"), node("n2", zone="b", cordoned=True), pod("p", affinity=required))
    explanation = why_pending(simulation, "default/p")
    assert explanation.outlook == "elsewhere"
    assert {verdict.node: verdict.outlook for verdict in explanation.matrix} == {"n1": "elsewhere", "n2": "never"}


def test_without_nodes_one_sentence_says_so() -> None:
    simulation = cluster(pod("p"))
    do(simulation, "cycle")
    sentence = "default/p is pending: there are no nodes to schedule it on."
    assert why_pending(simulation, "default/p").sentence == sentence


def test_a_pod_that_fits_says_where_and_how_many_come_before_it() -> None:
    simulation = cluster(node("n1"), node("n2"), pod("first", priority=9), pod("p"))
    explanation = why_pending(simulation, "default/p")
    assert explanation.fits == ("n1", "n2")
    assert explanation.queue is not None
    assert (explanation.queue.queue, explanation.queue.ahead) == ("activeQ", 1)
    assert explanation.sentence == "default/p is pending, but fits on 2 nodes now; it is in the scheduling queue behind 1 pod."


def test_a_pod_that_was_tried_says_what_would_wake_it() -> None:
    simulation = three_reasons()
    do(simulation, "run")
    place = why_pending(simulation, "default/web-1").queue
    assert place is not None
    assert place.queue == "unschedulablePods"
    assert place.plugins == ("NodeResourcesFit", "NodeUnschedulable", "TaintToleration")
    assert {"Node/Add", "Pod/Delete"} <= {wake.event for wake in place.wakes}
    assert place.flushed_after_seconds is not None
    assert place.flushed_after_seconds == pytest.approx(place.since_seconds + 300)


def test_pods_with_equal_requirements_form_one_group() -> None:
    assert why_pending(three_reasons(), "default/web-1").alike == ("default/web-2",)


def test_explaining_a_pod_changes_no_decision_of_the_scheduler() -> None:
    asked, not_asked = three_reasons(), three_reasons()
    for _ in range(3):
        why_pending(asked, "default/web-1")
    for simulation in (asked, not_asked):
        do(simulation, "run")
    assert asked.observed_state()["queue"] == not_asked.observed_state()["queue"]


def test_rejections_by_topology_spread_have_the_outlook_elsewhere() -> None:
    constraint = {**SPREAD, "labelSelector": {"matchLabels": {"app": "web"}}}
    simulation = cluster(
        node("n1"),
        node("n2", zone="b", cpu="1"),
        pod("w1", on="n1", labels={"app": "web"}),
        pod("full", on="n2"),
        pod("p", labels={"app": "web"}, topologySpreadConstraints=[constraint]),
    )
    outlooks = Counter(verdict.outlook for verdict in why_pending(simulation, "default/p").matrix)
    assert outlooks == {"elsewhere": 1, "pods leave": 1}


@pytest.mark.parametrize(
    ("made", "standing", "message"),
    [
        (pod("p", on="n1"), "scheduled", "bound to n1"),
        (pod("p", schedulerName="mine"), "ignored", "the scheduler mine, so default-scheduler does not try it."),
        (pod("p", schedulingGates=[{"name": "quota"}]), "gated", "scheduling gates (quota)"),
    ],
)
def test_pods_in_special_states_are_explained(made: dict[str, object], standing: str, message: str) -> None:
    explanation = why_pending(cluster(node("n1"), made), "default/p")
    assert explanation.standing == standing
    assert message in explanation.sentence


def test_an_unknown_pod_is_an_error_that_names_its_namesakes() -> None:
    simulation = cluster(node("n1"), pod("p"))
    with pytest.raises(PodUnknownError, match=r'There is no pod "other/p" here; there is default/p\.'):
        why_pending(simulation, "other/p")


def test_a_name_without_its_hash_is_an_error_that_names_the_pods_of_that_name() -> None:
    simulation = cluster(node("n1"), pod("checkout-7d9f-x2"), pod("checkouts-1"))
    with pytest.raises(PodUnknownError, match=r'There is no pod "default/checkout" here; there is default/checkout-7d9f-x2\.$'):
        why_pending(simulation, "default/checkout")


def test_an_unbound_claim_rejects_all_nodes() -> None:
    claim = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "data", "namespace": "default"},
        "spec": {"storageClassName": "slow", "accessModes": ["ReadWriteOnce"]},
    }
    slow = {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": "slow"}, "volumeBindingMode": "Immediate"}
    volumes = [{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}]
    explanation = why_pending(cluster(node("n1"), node("n2"), slow, claim, pod("p", volumes=volumes)), "default/p")
    assert explanation.message == (
        "0/2 nodes are available: pod has unbound immediate PersistentVolumeClaims. preemption: 0/2 nodes are available: 2 No preemption "
        "victims found for incoming pod.."
    )
    assert [clause.count for clause in explanation.clauses] == [2]
    assert explanation.outlook == "elsewhere"


def test_nodes_that_pre_filter_leaves_out_are_in_the_matrix() -> None:
    match = [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n2"]}]}]
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": match}}}
    explanation = why_pending(cluster(node("n1"), node("n2"), pod("full", cpu="4", on="n2"), pod("p", affinity=affinity)), "default/p")
    assert explanation.message == (
        "0/2 nodes are available: 1 Insufficient cpu. preemption: 0/2 nodes are available: 2 No preemption victims found for incoming pod.."
    )
    assert {verdict.node: verdict.plugin for verdict in explanation.matrix} == {"n1": "NodeAffinity", "n2": "NodeResourcesFit"}


def test_groups_that_no_node_takes_come_before_those_that_only_have_to_be_tried() -> None:
    simulation = cluster(node("n1"), pod("fits-1"), pod("fits-2"), pod("giant", cpu="64"))
    assert [group.outlook for group in overview(simulation).groups] == ["never", "now"]


def test_reasons_of_nodes_other_than_the_decisive_ones_are_secondary() -> None:
    explanation = why_pending(
        cluster(
            node("n1"),
            node("n2", cordoned=True),
            node("cp", taints=("node-role.kubernetes.io/control-plane=:NoSchedule",)),
            pod("p", cpu="8"),
        ),
        "default/p",
    )
    assert {clause.plugin: clause.is_aside for clause in explanation.clauses} == {
        "NodeResourcesFit": False,
        "NodeUnschedulable": True,
        "TaintToleration": True,
    }


def test_a_pod_of_another_scheduler_says_what_to_check() -> None:
    explanation = why_pending(cluster(node("n1"), pod("p", schedulerName="yunikorn")), "default/p")
    assert explanation.advice.startswith("check that yunikorn is running: `kubectl get pods -A | grep yunikorn`")


def test_the_gates_of_kueue_lead_to_its_workloads() -> None:
    explanation = why_pending(cluster(node("n1"), pod("p", schedulingGates=[{"name": "kueue.x-k8s.io/admission"}])), "default/p")
    assert explanation.advice.endswith("`kubectl describe workloads.kueue.x-k8s.io -n default`")


def test_a_pod_of_the_files_with_a_node_whose_containers_have_not_started_says_where_to_look() -> None:
    creating = pod("p", on="n1")
    creating["status"] = {
        "phase": "Pending",
        "conditions": [{"type": "PodScheduled", "status": "True", "lastTransitionTime": "2026-11-26T02:20:00Z"}],
    }
    assert why_pending(cluster(node("n1"), creating), "default/p").sentence == (
        "default/p is scheduled to n1, but its containers have not started: `kubectl describe pod p` shows the kubelet's events."
    )


def test_a_pod_that_the_simulation_placed_is_just_scheduled() -> None:
    simulation = cluster(node("n1"), pod("p"))
    do(simulation, "cycle")
    assert why_pending(simulation, "default/p").sentence == "default/p is scheduled: it is bound to n1."
