"""The message of the pod's own scheduler and the computed one, with explanations of a difference."""

from __future__ import annotations

from typing import Any

import pytest

from schedviz.engine.cache.debugger.dumper import NAME_ONLY_GATE
from schedviz.explain.pending.overview import overview
from schedviz.explain.why import why_pending
from tests.explain.small_clusters import cluster, do, node, pod


def waiting(message: str, **members: Any) -> dict[str, Any]:
    """A pod as an API server has it, with the last message of its scheduler."""
    made = pod("p", **members)
    made["status"]["conditions"] = [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": message}]
    return made


def disagreement(*objects: dict[str, Any]) -> str:
    return why_pending(cluster(*objects), "default/p").disagreement


@pytest.mark.parametrize("rest", ["", " preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod."])
def test_equal_messages_do_not_disagree_whatever_preemption_adds(rest: str) -> None:
    assert disagreement(node("n1"), waiting(f"0/1 nodes are available: 1 Insufficient cpu.{rest}", cpu="64")) == ""


def test_the_order_of_the_reasons_makes_no_difference() -> None:
    objects = node("n1", taints=("dedicated=gpu:NoSchedule",)), node("n2", cordoned=True)
    said = "0/2 nodes are available: 1 node(s) were unschedulable, 1 node(s) had untolerated taint {dedicated: gpu}."
    assert disagreement(*objects, waiting(said)) == ""


def test_the_same_reasons_in_the_wording_of_another_release_do_not_disagree() -> None:
    objects = node("n1", taints=("dedicated=gpu:NoSchedule",)), node("n2", cordoned=True)
    said = "0/2 nodes are available: {}, 1 node(s) were unschedulable."
    for taint, agrees in (
        ("1 node(s) had untolerated taint {dedicated: gpu}", True),
        ("2 node(s) had untolerated taint {dedicated: gpu}", False),
    ):
        simulation = cluster(*objects, waiting(said.format(taint)), release="v1.36")
        assert (why_pending(simulation, "default/p").disagreement == "") is agrees
    of_this_release = cluster(*objects, waiting(said.format("1 node(s) had untolerated taint {other: taint}")))
    assert "dedicated" in why_pending(of_this_release, "default/p").disagreement


def test_a_pod_whose_claims_the_files_lack_is_not_tried_and_its_schedulers_message_is_explained() -> None:
    message = (
        "0/3 nodes are available: 1 node(s) had untolerated taint {dedicated: search}, 2 node(s) had volume node affinity conflict. "
        "preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling."
    )
    volumes = [{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}]
    simulation = cluster(node("n1"), node("n2"), node("n3"), waiting(message, volumes=volumes))
    explanation = why_pending(simulation, "default/p")
    assert explanation.sentence == (
        "default/p is pending: 2 nodes cannot access the pod's volume. The files contain no PersistentVolumeClaim "
        "objects, so scheduling was not simulated. Add the output of `kubectl get pvc,pv,storageclasses,csinodes -A -o "
        "json`."
    )
    assert (explanation.message, explanation.disagreement, explanation.matrix, explanation.room) == ("", "", (), ())
    assert not any("does not exist" in clause.headline for clause in explanation.clauses)
    [reason] = overview(simulation).reasons
    assert reason.reason == "not evaluated: the files contain no PersistentVolumeClaim objects"
    assert reason.groups[0].detail == "kube-scheduler reported: 2 nodes cannot access the pod's volume"
    assert overview(simulation).other_reasons(reason) == ()


def test_a_node_that_the_files_lack_may_be_the_one_that_the_pod_selects() -> None:
    rest = "2 node(s) didn't match Pod's node affinity/selector."
    chosen = {"nodeSelector": {"kubernetes.io/hostname": "n3"}}
    pending = waiting(f"0/3 nodes are available: 1 node(s) had untolerated taint {{team: a}}, {rest}")
    pending["spec"] |= chosen
    simulation = cluster(node("n1"), node("n2"), pending)
    explanation = why_pending(simulation, "default/p")
    said = (
        "The pod can run only on `n3` (`kubernetes.io/hostname`). If that node exists, it has the taint `team=a`, which the pod does not "
        "tolerate."
    )
    assert explanation.sentence == (
        f"default/p is pending. {said} This is from the scheduler's message: the files do not contain all nodes, so scheduling was not "
        "simulated."
    )
    advice = "add a toleration for `team=a` to the pod, or remove the taint from `n3`"
    assert explanation.clauses[0].advice == advice
    assert not explanation.lacks_change
    [reason] = overview(simulation).reasons
    assert (reason.headline, reason.advice, reason.changes) == (said, advice, ())

    # The nodes of the control plane are tainted in every cluster: no node matches.
    of_control_plane = waiting(
        f"0/3 nodes are available: 1 node(s) had untolerated taint {{node-role.kubernetes.io/control-plane: }}, {rest}"
    )
    of_control_plane["spec"] |= chosen
    found = why_pending(cluster(node("n1"), node("n2"), of_control_plane), "default/p")
    assert "`kubernetes.io/hostname=n3`, but there is none" in found.sentence


def test_a_message_that_counts_other_nodes_points_at_the_cache() -> None:
    found = disagreement(node("n1"), waiting("0/6 nodes are available: 6 Insufficient cpu.", cpu="64"))
    assert found.startswith(
        "that message counts 6 nodes, but the files have 1: the files are incomplete, nodes have been added or removed since, or "
    )


def test_a_pod_that_fits_now_although_its_scheduler_refused_it_disagrees() -> None:
    found = disagreement(node("n1"), waiting("0/1 nodes are available: 1 Insufficient cpu."))
    assert found.startswith(
        "the pod fits on a node in the simulation: the cluster has changed since that message, or the release or configuration"
    )


def test_the_messages_of_this_sessions_own_scheduler_are_not_compared() -> None:
    simulation = cluster(node("n1"), pod("p", cpu="64"))
    do(simulation, "run")
    do(simulation, "create", object=node("n2"))
    explanation = why_pending(simulation, "default/p")
    assert explanation.said.startswith("0/1 nodes are available")
    assert explanation.disagreement == ""


def test_a_pod_of_which_a_dump_has_only_the_name_is_explained_from_its_schedulers_message() -> None:
    message = (
        "0/2 nodes are available: 2 Insufficient cpu. preemption: 0/2 nodes are available: 2 No preemption victims found for incoming pod."
    )
    simulation = cluster(node("n1"), node("n2"), waiting(message, schedulingGates=[{"name": NAME_ONLY_GATE}]))

    explanation = why_pending(simulation, "default/p")
    assert explanation.sentence == (
        "default/p is pending: neither node has enough free CPU. The files contain no Pod objects, so scheduling was not simulated. "
        "Add the output of `kubectl get nodes,pods,pv,pvc,sc,events -A -o json`."
    )
    assert (explanation.fits, explanation.alike) == ((), ())
    [reason] = overview(simulation).reasons
    assert (reason.reason, reason.headline) == ("Insufficient cpu", "neither node has enough free CPU")
    assert (reason.advice or "").startswith("add a node, or lower the requests")


def test_a_pod_of_which_a_dump_has_only_the_name_and_a_log_no_message_needs_its_object() -> None:
    simulation = cluster(node("n1"), pod("p", schedulingGates=[{"name": NAME_ONLY_GATE}]))
    [reason] = overview(simulation).reasons
    assert reason.reason == "only their names are known, from a SIGUSR2 dump"
