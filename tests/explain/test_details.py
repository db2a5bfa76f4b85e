"""The numbers behind each clause: the pod's requirements, the nodes' values, and the nearest nodes."""

from __future__ import annotations

from typing import Any

import pytest

from schedviz.engine import Simulation
from schedviz.explain.details.detail import (
    AnyDetail,
    DeviceDetail,
    DomainPods,
    LabelDetail,
    LabelValue,
    NodeAmount,
    PodAffinityDetail,
    PodOnNode,
    PortDetail,
    ResourceDetail,
    SpreadDetail,
    TaintDetail,
)
from schedviz.explain.why import why_pending
from tests.explain.small_clusters import cluster, do, node, pod

ZONE = "topology.kubernetes.io/zone"


def details(simulation: Simulation, reason: str = "") -> list[AnyDetail]:
    """The details of a clause, or of the only one, for the pod `p`."""
    clauses = why_pending(simulation, "default/p").clauses
    [clause] = [clause for clause in clauses if not reason or clause.reason == reason]
    return list(clause.details)


def near(labels: dict[str, str], key: str = ZONE) -> dict[str, Any]:
    term = {"labelSelector": {"matchLabels": labels}, "topologyKey": key}
    return {"requiredDuringSchedulingIgnoredDuringExecution": [term]}


def claims(zone: str) -> list[dict[str, Any]]:
    term = {"matchExpressions": [{"key": ZONE, "operator": "In", "values": [zone]}]}
    reference = {"namespace": "default", "name": "data", "uid": "data"}
    volume = {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": "pv-1"},
        "spec": {"capacity": {"storage": "1Gi"}, "claimRef": reference, "nodeAffinity": {"required": {"nodeSelectorTerms": [term]}}},
        "status": {"phase": "Bound"},
    }
    claim = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "data", "namespace": "default", "uid": "data", "annotations": {"pv.kubernetes.io/bind-completed": "yes"}},
        "spec": {"volumeName": "pv-1"},
        "status": {"phase": "Bound"},
    }
    return [volume, claim]


def test_insufficient_cpu_names_the_nodes_with_the_most_free_and_what_is_missing() -> None:
    result = details(cluster(node("n1"), node("n2"), pod("a", cpu="3", on="n1"), pod("b", cpu="1500m", on="n2"), pod("p", cpu="4")))
    [detail] = result
    assert isinstance(detail, ResourceDetail)
    assert detail.sentence == "the pod requests 4 CPU, but no node has enough free; n2 has the most, with 2.5 of 4 CPU free"
    assert (detail.requested, detail.offered_by, detail.largest) == (4000, 2, 4000)
    assert detail.nodes == (NodeAmount("n2", 4000, 1500), NodeAmount("n1", 4000, 3000))


def test_no_node_is_named_as_the_closest_if_all_are_equally_close() -> None:
    result = details(cluster(node("n1"), node("n2"), pod("a", cpu="3", on="n1"), pod("b", cpu="3", on="n2"), pod("p", cpu="2")))
    assert [detail.sentence for detail in result] == [
        "the pod requests 2 CPU, but no node has enough free; each of the 2 nodes has 1 of 4 CPU free"
    ]


def test_nodes_that_are_equally_close_are_counted_if_others_are_farther() -> None:
    full = [pod(f"on-{number}", cpu="3", on=f"n{number}") for number in (1, 2)]
    result = details(cluster(*(node(f"n{number}") for number in (1, 2, 3)), *full, pod("c", cpu="4", on="n3"), pod("p", cpu="2")))
    assert [detail.sentence for detail in result] == [
        "the pod requests 2 CPU, but no node has enough free; 2 nodes have the most, with 1 of 4 CPU free each"
    ]


def test_equal_nodes_are_not_named_if_another_one_has_room() -> None:
    full = [pod(f"on-{number}", cpu="4", on=f"n{number}") for number in (1, 2)]
    result = details(cluster(*(node(f"n{number}") for number in (1, 2, 3)), *full, pod("p", cpu="2")), "Insufficient cpu")
    assert [detail.sentence for detail in result] == [
        "the pod requests 2 CPU, but 2 nodes do not have enough free; each has 0 of 4 CPU free"
    ]


def test_a_node_with_too_little_is_not_named_as_the_one_with_the_most_free_if_another_has_enough() -> None:
    result = details(cluster(node("n1"), node("n2"), pod("a", cpu="3", on="n1"), pod("p", cpu="2")))
    assert [detail.sentence for detail in result] == ["the pod requests 2 CPU, but n1 has only 1 of its 4 CPU free"]


def test_a_cordoned_node_with_enough_is_named() -> None:
    simulation = cluster(node("n1"), node("n2", cordoned=True), pod("a", cpu="4", on="n1"), pod("p", cpu="2"))
    assert [detail.sentence for detail in details(simulation, "Insufficient cpu")] == [
        ("the pod requests 2 CPU, but all of the 4 CPU on n1 are in use; n2 has 4 free but is cordoned")
    ]


@pytest.mark.parametrize(
    "closed",
    [
        node("n2", cordoned=True, pool="b"),
        node("n2", cordoned=True, pool="a", taints=("gpu=true:NoSchedule",)),
        node("n2", cordoned=True, pool="a", memory="1Gi"),
    ],
    ids=["selector", "taint", "memory"],
)
def test_a_cordoned_node_that_the_pod_could_not_use_anyway_is_not_named(closed: dict[str, Any]) -> None:
    waiting = pod("p", cpu="2", memory="2Gi", nodeSelector={"pool": "a"})
    simulation = cluster(node("n1", pool="a"), closed, pod("a", cpu="3", on="n1"), waiting)
    assert [detail.sentence for detail in details(simulation, "Insufficient cpu")] == [
        "the pod requests 2 CPU, but n1 has only 1 of its 4 CPU free"
    ]


def test_a_cordoned_node_with_the_taint_of_its_cordon_is_named() -> None:
    drained = node("n2", cordoned=True, taints=("node.kubernetes.io/unschedulable=:NoSchedule",))
    simulation = cluster(node("n1"), drained, pod("a", cpu="3", on="n1"), pod("p", cpu="2"))
    assert details(simulation, "Insufficient cpu")[0].sentence.endswith("; n2 has 4 free but is cordoned")


def test_the_pods_that_use_all_devices_of_a_kind_are_named() -> None:
    gpu = {"nvidia.com/gpu": "1"}
    with_gpu, trainer, waiting = node("n1"), pod("trainer", on="n1"), pod("p")
    with_gpu["status"]["allocatable"] |= gpu
    for each in (trainer, waiting):
        each["spec"]["containers"][0]["resources"] = {"requests": gpu, "limits": gpu}
    result = details(cluster(with_gpu, trainer, waiting))
    assert [detail.sentence for detail in result] == [
        "the pod requests 1 nvidia.com/gpu, but the only one, on n1, is in use by default/trainer"
    ]


def test_the_nodes_of_a_clause_are_sorted_by_how_close_they_are_to_fitting() -> None:
    simulation = cluster(
        node("n1", taints=("gpu=true:NoSchedule",)),
        node("n2"),
        node("n3"),
        pod("a", cpu="3", on="n2"),
        pod("b", cpu="2", on="n3"),
        pod("p", cpu="4"),
    )
    [clause] = [clause for clause in why_pending(simulation, "default/p").clauses if clause.reason == "Insufficient cpu"]
    assert clause.nodes == ("n3", "n2")


def test_a_request_larger_than_every_node_is_compared_with_the_largest() -> None:
    [detail] = details(cluster(node("n1"), node("n2", cpu="8"), pod("p", cpu="64")))
    assert detail.sentence == "the pod requests 64 CPU, but the largest node has only 8 CPU"


def test_a_request_larger_than_every_node_is_not_answered_with_the_requests_of_others() -> None:
    def advice(cpu: str) -> str:
        clauses = why_pending(cluster(node("n1"), pod("a", cpu="3", on="n1"), pod("p", cpu=cpu)), "default/p").clauses
        return next(clause.advice for clause in clauses if clause.reason == "Insufficient cpu")

    assert advice("64") == "lower the pod's request, or add a larger node: not even an empty node is large enough"
    assert advice("2").startswith("add a node, or lower the requests")


def test_a_resource_that_no_node_has_is_reported_as_missing_everywhere() -> None:
    requests = {"requests": {"nvidia.com/gpu": "1"}, "limits": {"nvidia.com/gpu": "1"}}
    [detail] = details(cluster(node("n1"), pod("p", containers=[{"name": "c", "image": "i", "resources": requests}])))
    assert isinstance(detail, ResourceDetail)
    assert detail.offered_by == 0
    assert detail.sentence == "the pod requests 1 nvidia.com/gpu, but no node offers this resource"


def test_a_resource_that_only_excluded_nodes_have_is_reported_as_such() -> None:
    requests = {"requests": {"nvidia.com/gpu": "1", "cpu": "1"}, "limits": {"nvidia.com/gpu": "1"}}
    with_gpu = node("n2", cpu="0")
    with_gpu["status"]["allocatable"]["nvidia.com/gpu"] = "8"
    simulation = cluster(node("n1"), with_gpu, pod("p", containers=[{"name": "c", "image": "i", "resources": requests}]))
    [detail] = details(simulation, "Insufficient nvidia.com/gpu")
    assert detail.sentence == "the pod requests 1 nvidia.com/gpu, but 1 node does not offer this resource"


def test_a_nominated_pod_counts_as_use_of_its_node() -> None:
    simulation = cluster(
        node("n1"),
        pod("old", cpu="4", on="n1"),
        pod("first", cpu="3", priority=20),
        pod("p", cpu="2", priority=10),
    )
    do(simulation, "cycle")
    [detail] = details(simulation, "Insufficient cpu")
    assert isinstance(detail, ResourceDetail)
    [amount] = detail.nodes
    assert amount.allocatable - amount.used < detail.requested


def test_too_many_pods_says_how_many_the_node_allows() -> None:
    small = node("n1")
    small["status"]["allocatable"]["pods"] = "1"
    [detail] = details(cluster(small, pod("a", on="n1"), pod("p")))
    assert detail.sentence == "node n1 already runs its maximum number of pods (1 of 1)"


def test_a_taint_is_counted_with_the_pods_that_tolerate_it() -> None:
    tolerated = [{"key": "gpu", "operator": "Exists"}]
    simulation = cluster(
        node("n1", taints=("gpu=true:NoSchedule",)),
        node("n2", taints=("gpu=true:NoSchedule",)),
        pod("a", on="n1", tolerations=tolerated),
        pod("p"),
    )
    [detail] = details(simulation)
    assert isinstance(detail, TaintDetail)
    assert (detail.taint, detail.nodes, detail.tolerated_by, detail.pods) == ("gpu=true:NoSchedule", 2, 1, ("default/a",))
    assert detail.sentence == "the taint `gpu=true:NoSchedule` is on 2 nodes; 1 running pod has a toleration for this taint key"


def test_a_node_selector_is_compared_with_the_values_that_nodes_have() -> None:
    simulation = cluster(node("n1", disk="ssd"), node("n2", disk="ssd"), node("n3"), pod("p", nodeSelector={"disk": "nvme"}))
    [detail] = details(simulation)
    assert isinstance(detail, LabelDetail)
    assert (detail.requirement, detail.matching, detail.values, detail.without) == ("disk=nvme", 0, (LabelValue("ssd", 2),), 1)
    assert detail.sentence == "the pod requires `disk=nvme`, but no node has this value; the values are ssd (2)"


def test_the_requirement_that_the_fewest_nodes_meet_comes_first() -> None:
    simulation = cluster(node("n1", disk="ssd"), node("n2"), pod("p", nodeSelector={"disk": "ssd", "pool": "gpu"}))
    assert [detail.requirement for detail in details(simulation) if isinstance(detail, LabelDetail)] == ["pool=gpu", "disk=ssd"]


def test_a_spread_constraint_has_the_pods_of_each_domain() -> None:
    constraint = {
        "maxSkew": 1,
        "topologyKey": ZONE,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": "web"}},
    }
    web = {"app": "web"}
    simulation = cluster(
        node("n1"),
        node("n2", zone="b", cpu="1"),
        pod("a", on="n1", labels=web),
        pod("p", cpu="2", labels=web, topologySpreadConstraints=[constraint]),
    )
    [detail] = details(simulation, "node(s) didn't match pod topology spread constraints")
    assert isinstance(detail, SpreadDetail)
    assert (detail.fewest, detail.most, detail.domains) == (0, 1, (DomainPods("b", 0), DomainPods("a", 1)))
    assert (
        detail.sentence
        == f"with `maxSkew` 1, each domain of `{ZONE}` can have at most 1 matching pod; at the maximum: a (1); below it: b (0)"
    )


def test_affinity_to_pods_that_do_not_run_is_explained() -> None:
    [detail] = details(cluster(node("n1"), pod("p", affinity={"podAffinity": near({"app": "db"})})))
    assert isinstance(detail, PodAffinityDetail)
    assert detail.sentence == f"no running pod matches the affinity term (`app=db`, topologyKey `{ZONE}`)"


def test_anti_affinity_names_the_pods_in_the_way() -> None:
    simulation = cluster(node("n1"), pod("a", on="n1", labels={"app": "db"}), pod("p", affinity={"podAntiAffinity": near({"app": "db"})}))
    [detail] = details(simulation)
    assert isinstance(detail, PodAffinityDetail)
    assert (detail.term, detail.matching, detail.pods) == ("antiAffinity", 1, (PodOnNode("default/a", "n1"),))


def test_anti_affinity_of_running_pods_is_named_once_for_each_term() -> None:
    guard: dict[str, Any] = {"podAntiAffinity": near({"app": "web"})}
    simulation = cluster(
        node("n1"),
        pod("a", on="n1", affinity=guard),
        pod("b", on="n1", affinity=guard),
        pod("p", labels={"app": "web"}),
    )
    [detail] = details(simulation)
    assert isinstance(detail, PodAffinityDetail)
    assert (detail.term, detail.matching, detail.selector) == ("existingAntiAffinity", 2, "app=web")


def test_a_host_port_names_the_pod_that_uses_it() -> None:
    ports = [{"name": "c", "image": "i", "ports": [{"containerPort": 80, "hostPort": 8080}]}]
    [detail] = details(cluster(node("n1"), pod("a", on="n1", containers=ports), pod("p", containers=ports)))
    assert isinstance(detail, PortDetail)
    assert detail.sentence == "host port TCP 8080 is in use by default/a on n1"


def test_a_volume_in_another_zone_says_where_it_can_be_used() -> None:
    volumes = [{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}]
    simulation = cluster(node("n1", zone="a"), node("n2", zone="b"), *claims("c"), pod("p", volumes=volumes))
    [detail] = details(simulation)
    assert isinstance(detail, LabelDetail)
    assert (detail.claim, detail.volume, detail.matching) == ("default/data", "pv-1", 0)
    assert detail.sentence == "PersistentVolume `pv-1` (claim `default/data`) is in `c`; the nodes are in `a` (1), `b` (1)"


def gpus(*models: str) -> list[dict[str, Any]]:
    """A class, and a slice of node n1 with a device of each model."""
    api = "resource.k8s.io/v1"
    devices = [{"name": f"d{index}", "attributes": {"model": {"string": model}}} for index, model in enumerate(models)]
    pool = {"name": "n1", "generation": 1, "resourceSliceCount": 1}
    spec = {"driver": "gpu.example.com", "nodeName": "n1", "pool": pool, "devices": devices}
    selector = {"cel": {"expression": 'device.attributes["gpu.example.com"].model != "other"'}}
    return [
        {"apiVersion": api, "kind": "DeviceClass", "metadata": {"name": "gpu"}, "spec": {"selectors": [selector]}},
        {"apiVersion": api, "kind": "ResourceSlice", "metadata": {"name": "n1-gpu"}, "spec": spec},
    ]


def test_a_claim_without_devices_says_what_excludes_how_many_of_them() -> None:
    expression = 'device.attributes["gpu.example.com"].model == "A"'
    request = {"name": "r", "exactly": {"deviceClassName": "gpu", "count": 2, "selectors": [{"cel": {"expression": expression}}]}}
    result = {"request": "r", "driver": "gpu.example.com", "pool": "n1", "device": "d0"}
    objects = [
        {
            "apiVersion": "resource.k8s.io/v1",
            "kind": "ResourceClaim",
            "metadata": {"name": name, "namespace": "default", "uid": name},
            "spec": {"devices": {"requests": [request]}},
            "status": status,
        }
        for name, status in (("wanted", {}), ("used", {"allocation": {"devices": {"results": [result]}}}))
    ]
    waiting = pod("p", resourceClaims=[{"name": "gpu", "resourceClaimName": "wanted"}])

    [detail] = details(cluster(node("n1"), *gpus("A", "A", "B", "other"), *objects, waiting, release="v1.36"))

    assert isinstance(detail, DeviceDetail)
    assert (detail.devices, detail.free, detail.excluded) == (4, 1, {"class": 1, "selectors": 1, "in use": 1})
    assert detail.sentence == (
        "request r of claim `default/wanted` needs 2 devices of class gpu; of 4 devices on 1 node, 1 is of another class, 1 does not match the selectors, 1 is in use, 1 is free"
    )


def test_the_advice_about_labels_that_no_node_has_does_not_begin_with_a_wrong_label() -> None:
    simulation = cluster(node("n1"), pod("p", nodeSelector={"disk": "nvme"}))
    [clause] = why_pending(simulation, "default/p").clauses

    assert clause.advice.startswith("require labels that existing nodes have, or add a node with these labels")


def test_a_pod_that_is_larger_than_every_node_gets_no_advice_to_lower_the_requests_of_others() -> None:
    simulation = cluster(node("n1", cpu="4"), pod("a", cpu="3", on="n1"), pod("p", cpu="3", memory="900Gi"))
    advice = {clause.reason: clause.advice for clause in why_pending(simulation, "default/p").clauses}

    assert advice["Insufficient memory"].startswith("lower the pod's request, or add a larger node")
    assert advice["Insufficient cpu"] == "also lower this request, or add a node that is large enough for all requests"
