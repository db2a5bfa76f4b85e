"""The plain sentence of each reason: what the pod needs, and why the nodes that have it do not take the pod."""

from __future__ import annotations

from typing import Any

from schedviz.engine import Simulation
from schedviz.explain.messages.message import parse_message
from schedviz.explain.pending.overview import overview
from schedviz.explain.why import why_pending
from schedviz.trace.phrase import as_sentence
from tests.explain.small_clusters import cluster, node, pod

ZONE = "topology.kubernetes.io/zone"
IN_C = {"key": ZONE, "operator": "In", "values": ["c"]}
VOLUMES = [{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}]


def headline(simulation: Simulation, reason: str = "") -> str:
    """Of the pod `p`: of its main reason, or of another one."""
    explanation = why_pending(simulation, "default/p")
    if reason:
        return next(clause.headline for clause in explanation.clauses if clause.reason == reason)
    assert explanation.main is not None
    return explanation.main.headline


def bound_claim(requirement: dict[str, Any]) -> list[dict[str, Any]]:
    reference = {"namespace": "default", "name": "data", "uid": "data"}
    affinity = {"required": {"nodeSelectorTerms": [{"matchExpressions": [requirement]}]}}
    bound = {"pv.kubernetes.io/bind-completed": "yes"}
    return [
        {
            "apiVersion": "v1",
            "kind": "PersistentVolume",
            "metadata": {"name": "pv-1"},
            "spec": {"capacity": {"storage": "1Gi"}, "claimRef": reference, "nodeAffinity": affinity},
            "status": {"phase": "Bound"},
        },
        {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": {"name": "data", "namespace": "default", "uid": "data", "annotations": bound},
            "spec": {"volumeName": "pv-1"},
            "status": {"phase": "Bound"},
        },
    ]


def spread(key: str = ZONE) -> list[dict[str, Any]]:
    selector = {"matchLabels": {"app": "web"}}
    return [{"maxSkew": 1, "topologyKey": key, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": selector}]


def test_a_volume_names_its_zone_and_why_the_only_node_there_is_unusable() -> None:
    nodes = [node("n1", zone="a"), node("n2", zone="b"), node("n3", zone="c", cordoned=True)]
    simulation = cluster(*nodes, *bound_claim(IN_C), pod("p", volumes=VOLUMES))
    assert headline(simulation) == "the pod's volume is in c; the only node there, n3, is cordoned"
    assert why_pending(simulation, "default/p").sentence == (
        "default/p is pending: the pod's volume is in c; the only node there, n3, is cordoned. None of the 3 nodes can run the pod."
    )


def test_volumes_in_different_zones_are_to_be_brought_together() -> None:
    second = bound_claim(IN_C)
    for obj, name in zip(second, ("pv-2", "log"), strict=True):
        obj["metadata"]["name"] = name
    second[0]["spec"]["claimRef"] = {"namespace": "default", "name": "log", "uid": "log"}
    second[1]["metadata"]["uid"], second[1]["spec"]["volumeName"] = "log", "pv-2"
    second[0]["spec"]["nodeAffinity"]["required"]["nodeSelectorTerms"] = [{"matchExpressions": [{**IN_C, "values": ["a"]}]}]
    volumes = [*VOLUMES, {"name": "w", "persistentVolumeClaim": {"claimName": "log"}}]
    simulation = cluster(node("n1", zone="a"), node("n2", zone="c"), *bound_claim(IN_C), *second, pod("p", volumes=volumes))
    explanation = why_pending(simulation, "default/p")
    assert explanation.sentence == "default/p is pending: the pod's volumes are in c and in a, but no node can access all of them."
    assert explanation.main is not None
    assert explanation.main.advice.startswith("recreate the volumes in one zone")


def test_a_second_resource_that_the_nodes_lack_is_named_with_the_first() -> None:
    simulation = cluster(node("n1", memory="8Gi"), pod("a", cpu="2", on="n1"), pod("p", cpu="3", memory="12Gi"))
    assert headline(simulation) == (
        "the pod requests 12Gi of memory, but the largest node has only 8Gi; there is not enough free CPU either"
    )
    assert overview(simulation).reasons[0].headline == headline(simulation)


def test_nodes_for_other_pods_are_not_the_main_reason_if_another_node_could_be_used() -> None:
    fargate = [node(f"f{number}", taints=("eks.amazonaws.com/compute-type=fargate:NoSchedule",)) for number in range(3)]
    windows = [node(f"w{number}", taints=("os=windows:NoSchedule",)) for number in range(3)]
    simulation = cluster(*fargate, *windows, node("n1", taints=("team=data:NoSchedule",)), pod("p"))
    assert headline(simulation) == "node n1 has the taint `team=data`, which the pod does not tolerate"


def test_the_control_plane_is_not_the_main_reason_in_a_release_that_does_not_name_taints() -> None:
    control_plane = node("cp", cpu="8", taints=("node-role.kubernetes.io/control-plane=:NoSchedule",))
    simulation = cluster(control_plane, node("n1"), pod("p", cpu="6"), release="v1.36")
    assert headline(simulation) == (
        "the pod requests 6 CPU; the only node with that much capacity, cp, has a taint that the pod does not tolerate"
    )


def test_all_labels_that_no_node_has_are_named() -> None:
    simulation = cluster(node("n1", pool="a"), pod("p", nodeSelector={"net": "private", "pool": "big"}))
    assert headline(simulation) == "the pod requires nodes with `net=private` and `pool=big`, but no node has any of these labels"


def test_a_sentence_about_all_nodes_does_not_repeat_that_none_is_left() -> None:
    term = {"labelSelector": {"matchLabels": {"app": "db"}}, "topologyKey": "kubernetes.io/hostname"}
    apart = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    running = [pod(f"db-{number}", labels={"app": "db"}, on=f"n{number}") for number in range(3)]
    simulation = cluster(*(node(f"n{number}") for number in range(3)), *running, pod("p", labels={"app": "db"}, affinity=apart))
    assert why_pending(simulation, "default/p").sentence == (
        "default/p is pending: the pod must not run on the same node as a pod with `app=db` (anti-affinity), which rules out all 3 nodes."
    )


def test_a_taint_that_no_pod_tolerates_is_said_once() -> None:
    explanation = why_pending(cluster(node("n1", taints=("gpu=true:NoSchedule",)), pod("p")), "default/p")
    assert explanation.main is not None
    assert explanation.main.headline == "node n1 has the taint `gpu=true`, which the pod does not tolerate"
    assert [detail.sentence for detail in explanation.main.details] == [explanation.main.headline]


def test_a_volume_without_a_node_in_its_zone_says_so() -> None:
    simulation = cluster(node("n1", zone="a"), *bound_claim(IN_C), pod("p", volumes=VOLUMES))
    assert headline(simulation) == "the pod's volume is in c, but the cluster has no node there"


def test_several_nodes_in_the_zone_of_a_volume_are_counted_by_reason() -> None:
    nodes = [node("n1", zone="a"), node("n2", zone="c"), node("n3", zone="c"), node("n4", zone="c", cordoned=True)]
    nodes.append(node("n5", zone="c", taints=("gpu=true:NoSchedule",)))
    simulation = cluster(
        *nodes, *bound_claim(IN_C), pod("p", cpu="3", volumes=VOLUMES), pod("a", cpu="2", on="n2"), pod("b", cpu="2", on="n3")
    )
    assert headline(simulation, "node(s) had volume node affinity conflict") == (
        "the pod's volume is in c; of the 4 nodes there, 2 do not have enough free CPU, 1 is cordoned, and 1 has the taint `gpu=true`, which the pod does not tolerate"
    )


def test_a_local_volume_names_its_node() -> None:
    local = {"key": "kubernetes.io/hostname", "operator": "In", "values": ["n2"]}
    simulation = cluster(node("n1"), node("n2", cordoned=True), *bound_claim(local), pod("p", volumes=VOLUMES))
    assert headline(simulation) == "the node of the pod's local volume, n2, is cordoned"


def test_a_spread_constraint_names_the_remaining_domain_and_why_it_is_unusable() -> None:
    web = {"app": "web"}
    simulation = cluster(
        node("n1", zone="a"),
        node("n2", zone="b", cpu="1"),
        pod("a", on="n1", labels=web),
        pod("p", cpu="2", labels=web, topologySpreadConstraints=spread()),
    )
    assert headline(simulation, "node(s) didn't match pod topology spread constraints") == (
        "the topology spread constraint allows the pod only in b; the only node there, n2, does not have enough free CPU"
    )


def test_one_or_two_nodes_are_named_and_more_are_counted() -> None:
    tainted = [node(name, taints=("gpu=true:NoSchedule",)) for name in ("n1", "n2", "n3")]
    assert headline(cluster(*tainted[:1], pod("p"))) == "node n1 has the taint `gpu=true`, which the pod does not tolerate"
    assert headline(cluster(*tainted[:2], pod("p"))) == "nodes n1 and n2 have the taint `gpu=true`, which the pod does not tolerate"
    assert headline(cluster(*tainted, pod("p"))) == "3 nodes have the taint `gpu=true`, which the pod does not tolerate"


def test_names_of_nodes_lose_the_domain_that_all_have_in_common() -> None:
    nodes = [node(f"ip-10-0-3-{number}.eu-west-1.compute.internal", cordoned=True) for number in (18, 19)]
    assert headline(cluster(*nodes, pod("p"))) == "nodes ip-10-0-3-18 and ip-10-0-3-19 are cordoned"
    others = [node("a.example", cordoned=True), node("b.other.example", cordoned=True)]
    assert headline(cluster(*others, pod("p"))) == "nodes a.example and b.other.example are cordoned"


def test_a_label_value_that_is_almost_that_of_a_node_is_called_a_typo() -> None:
    assert headline(cluster(node("n1", disk="ssd"), pod("p", nodeSelector={"disk": "sdd"}))) == (
        "the pod requires nodes with `disk=sdd`, but no node matches; it is probably a typo for `disk=ssd`"
    )


def test_labels_that_no_node_has_are_named() -> None:
    assert headline(cluster(node("n1", disk="ssd"), pod("p", nodeSelector={"disk": "nvme"}))) == (
        "the pod requires a node with `disk=nvme`, but there is none"
    )
    apart = cluster(node("n1", disk="ssd"), node("n2", pool="gpu"), pod("p", nodeSelector={"disk": "ssd", "pool": "gpu"}))
    assert headline(apart) == "the pod requires nodes with `disk=ssd` and `pool=gpu`, but no node has all of these labels"


def test_a_request_that_only_unusable_nodes_could_hold_says_why_they_are_unusable() -> None:
    large = node("n2", cpu="16", taints=("gpu=true:NoSchedule",))
    assert headline(cluster(node("n1"), large, pod("p", cpu="6")), "Insufficient cpu") == (
        "the pod requests 6 CPU; the only node with that much capacity, n2, has the taint `gpu=true`, which the pod does not tolerate"
    )
    others = [large, node("n3", cpu="8", cordoned=True)]
    assert headline(cluster(node("n1"), *others, pod("p", cpu="6")), "Insufficient cpu") == (
        "the pod requests 6 CPU; of the 2 nodes with that much capacity, 1 has the taint `gpu=true`, which the pod does not tolerate and 1 is "
        "cordoned"
    )


def with_gpus(obj: dict[str, Any], gpus: str) -> dict[str, Any]:
    """The node that offers them, or the pod that requests them besides its other requests."""
    amounts = {"nvidia.com/gpu": gpus}
    if obj["kind"] == "Node":
        obj["status"]["allocatable"] |= amounts
    else:
        resources = obj["spec"]["containers"][0]["resources"]
        obj["spec"]["containers"][0]["resources"] = {"requests": resources["requests"] | amounts, "limits": amounts}
    return obj


def test_the_nodes_that_could_take_the_pod_if_others_left_answer_before_those_without_its_device() -> None:
    nodes = [node("a1"), node("a2"), with_gpus(node("g1", cpu="16"), "4")]
    simulation = cluster(*nodes, with_gpus(pod("x", on="g1"), "3"), with_gpus(pod("p", cpu="6"), "2"), release="v1.36")
    assert headline(simulation) == "the pod requests 2 nvidia.com/gpu, but g1 has only 1 of its 4 free"
    explanation = why_pending(simulation, "default/p")
    assert [clause.headline for clause in explanation.clauses if clause.is_aside] == [
        "the pod requests 6 CPU, but 2 nodes have at most 4 CPU",
        "the pod requests 2 nvidia.com/gpu, but 2 nodes do not offer this resource",
    ]


def test_affinity_and_anti_affinity_say_near_which_pods() -> None:
    term = {"labelSelector": {"matchLabels": {"app": "db"}}, "topologyKey": "kubernetes.io/hostname"}
    required = {"requiredDuringSchedulingIgnoredDuringExecution": [term]}
    assert headline(cluster(node("n1"), pod("p", affinity={"podAffinity": required}))) == (
        "the pod must run on the same node as a pod with `app=db`, but no such pod is running"
    )
    db = pod("db", on="n1", labels={"app": "db"})
    assert headline(cluster(node("n1"), db, pod("p", affinity={"podAntiAffinity": required}))) == (
        "the pod must not run on the same node as a pod with `app=db` (anti-affinity), which rules out 1 node"
    )


def test_a_message_without_its_cluster_counts_nodes() -> None:
    said = "0/6 nodes are available: 1 node(s) were unschedulable, 2 node(s) had untolerated taint {gpu: true}, 3 Insufficient cpu."
    assert [clause.headline for clause in parse_message(said).clauses] == [
        "3 nodes do not have enough free CPU",
        "2 nodes have the taint `gpu=true`, which the pod does not tolerate",
        "1 node is cordoned",
    ]


def test_pods_that_one_cordoned_node_would_place_have_it_as_their_headline() -> None:
    web = {"app": "web"}
    nodes = [node("n1", zone="a"), node("n2", zone="c", cordoned=True)]
    simulation = cluster(
        *nodes,
        *bound_claim(IN_C),
        pod("a", on="n1", labels=web),
        pod("p", volumes=VOLUMES),
        pod("q", labels=web, topologySpreadConstraints=spread()),
    )
    [reason] = overview(simulation, with_changes=True).reasons
    assert reason.headline == "node n2 is cordoned, and these pods fit on no other node"
    assert {group.headline.partition(";")[2] for group in reason.groups} == {" the only node there, n2, is cordoned"}


def test_groups_with_different_numbers_share_a_headline_without_numbers() -> None:
    [reason] = overview(cluster(node("n1"), pod("a", cpu="64"), pod("b", cpu="9"))).reasons
    assert (reason.headline, reason.reason, reason.is_quoted) == ("the pods request more CPU than any node has", "Insufficient cpu", True)
    assert [group.headline for group in reason.groups] == [
        "the pod requests 64 CPU, but the largest node has only 4 CPU",
        "the pod requests 9 CPU, but the largest node has only 4 CPU",
    ]


def main_of(simulation: Simulation) -> tuple[str, str]:
    """The headline of the pod's main reason, and what to do about it."""
    main = why_pending(simulation, "default/p").main
    assert main is not None
    return main.headline, main.advice


def test_recovering_the_missing_node_of_a_local_volume_is_suggested() -> None:
    local = {"key": "kubernetes.io/hostname", "operator": "In", "values": ["gone"]}
    objects = (node("n1"), node("n2"), *bound_claim(local), pod("p", volumes=VOLUMES))
    said, advice = main_of(cluster(*objects, release="v1.36"))
    assert said == "the pod's volume is on the disk of gone, but the cluster has no such node"
    assert advice.startswith("bring the node back under the same name and with its disk; ")
    # v1.27 fails when it looks for the node.
    said, advice = main_of(cluster(*objects))
    assert said == "the pod can only run on node gone, which is not in the cluster"
    assert advice.startswith("bring the node back under the same name and with its disk; ")


def test_a_zone_without_nodes_needs_one() -> None:
    _, advice = main_of(cluster(node("n1"), *bound_claim(IN_C), pod("p", volumes=VOLUMES)))
    assert advice.startswith("add a node there, ")


def test_the_shortage_that_the_smallest_reduction_ends_leads() -> None:
    full = [node(f"n{number}", memory="32Gi") for number in range(3)]
    taken = [pod(f"a{number}", cpu="3", on=f"n{number}") for number in range(3)]
    simulation = cluster(
        *full, *taken, node("large", cpu="16", memory="8Gi"), pod("b", memory="1Gi", on="large"), pod("p", cpu="6", memory="8Gi")
    )
    assert headline(simulation) == "the pod requests 8Gi of memory, but large has only 7Gi of its 8Gi free"


def test_a_pod_whose_spread_has_no_room_where_its_selector_is_says_so() -> None:
    labels = {"app": "web"}
    simulation = cluster(
        node("n1", zone="a"),
        node("n2", zone="b"),
        pod("web", labels=labels, on="n1"),
        pod("p", labels=labels, nodeSelector={ZONE: "a"}, topologySpreadConstraints=[{**spread()[0], "nodeAffinityPolicy": "Ignore"}]),
    )
    said, advice = main_of(simulation)
    assert said == (
        f"the pod requires nodes with `{ZONE}=a`, but its topology spread constraint (`maxSkew` 1) has no room there; matching pods in each "
        "zone: b 0, a 1"
    )
    assert "remove the node selector" in advice


def test_a_label_over_which_a_pod_is_spread_is_named() -> None:
    said, advice = main_of(cluster(node("n1"), node("n2"), pod("p", labels={"app": "web"}, topologySpreadConstraints=spread("rack"))))
    assert said == "no node has the label `rack`, which the pod's topology spread constraint uses"
    assert advice.startswith("label the nodes with `rack`, ")


def test_the_holder_of_a_port_is_named_in_what_to_do() -> None:
    ports = [{"name": "c", "ports": [{"containerPort": 80, "hostPort": 8080}]}]
    _, advice = main_of(cluster(node("n1"), pod("a", on="n1", containers=ports), pod("p", containers=ports)))
    assert advice.startswith("stop or move default/a, ")


def test_a_node_that_node_affinity_names_and_does_not_exist_is_the_reason() -> None:
    term = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["gone"]}]}
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}}
    said, advice = main_of(cluster(node("n1"), pod("p", affinity=affinity), release="v1.36"))
    assert said == "the pod's node affinity names gone, which does not exist"
    assert advice.startswith("correct the node name")


def test_the_name_of_a_node_keeps_its_small_letter_at_the_beginning_of_a_sentence() -> None:
    simulation = cluster(node("node2", taints=("team=data:NoSchedule",)), pod("p"))
    said = headline(simulation)
    assert said == "`node2` has the taint `team=data`, which the pod does not tolerate"
    assert as_sentence(said) == said

    simulation = cluster(
        *(node(name, taints=("team=data:NoSchedule",)) for name in ("node2", "node3")), node("n", cpu="1"), pod("p", cpu="2")
    )
    assert headline(simulation, "node(s) had untolerated taint {team: data}").startswith("`node2` and `node3` have the taint")
