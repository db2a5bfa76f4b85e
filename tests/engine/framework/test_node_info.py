"""NodeInfo, PodInfo and host ports."""

from typing import Any

import pytest

from schedviz.engine.framework.types import Generations, HostPort, HostPortInfo, NodeInfo, PodInfo, PodNotFoundError
from schedviz.kube import codec
from schedviz.kube.core import Pod

FAR = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": "zone", "labelSelector": {}}]}}


def pod(name: str, **spec: Any) -> Pod:
    made = codec.from_dict(
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": name, "namespace": "default", "uid": name},
            "spec": {"containers": [{"name": "c"}], **spec},
        }
    )
    assert isinstance(made, Pod)
    return made


def names(pods: list[PodInfo]) -> list[str]:
    return [info.name for info in pods]


def test_the_last_pod_replaces_a_removed_one() -> None:
    info = NodeInfo("n", Generations())
    for name in "abcd":
        info.add_pod(PodInfo(pod(name)))

    info.remove_pod(PodInfo(pod("b")))

    assert names(info.pods) == ["a", "d", "c"]


def test_every_change_bumps_the_generation_and_a_clone_has_the_same() -> None:
    generations = Generations()
    info = NodeInfo("n", generations)
    info.add_pod(PodInfo(pod("a")))
    clone = info.clone()

    assert (info.generation, clone.generation) == (2, 2)

    clone.add_pod(PodInfo(pod("b")))
    info.add_pod(PodInfo(pod("c")))

    assert (clone.generation, info.generation) == (3, 4)
    assert names(info.pods) == ["a", "c"]


def test_removing_a_missing_pod_raises() -> None:
    info = NodeInfo("n", Generations())

    with pytest.raises(PodNotFoundError, match="no corresponding pod a in pods of node n"):
        info.remove_pod(PodInfo(pod("a")))


def test_pods_with_affinity_are_listed() -> None:
    info = NodeInfo("n", Generations())
    info.add_pod(PodInfo(pod("near", affinity={"podAffinity": {}})))
    info.add_pod(PodInfo(pod("far", affinity=FAR)))

    assert names(info.pods_with_affinity) == ["near", "far"]
    assert names(info.pods_with_required_anti_affinity) == ["far"]


def test_pods_that_use_a_claim_are_counted() -> None:
    volumes = [{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}]
    info = NodeInfo("n", Generations())
    for name in ("a", "b"):
        info.add_pod(PodInfo(pod(name, volumes=volumes)))

    assert info.pvc_ref_counts == {"default/data": 2}

    for name in ("a", "b"):
        info.remove_pod(PodInfo(pod(name, volumes=volumes)))

    assert info.pvc_ref_counts == {}


def test_ports_conflict_on_the_same_ip_and_on_all_ips() -> None:
    ports = HostPortInfo()
    ports.add(HostPort("127.0.0.1", "TCP", 80))

    assert ports.check_conflict(HostPort("127.0.0.1", "TCP", 80))
    assert ports.check_conflict(HostPort("0.0.0.0", "TCP", 80))
    assert not ports.check_conflict(HostPort("127.0.0.2", "TCP", 80))
    assert not ports.check_conflict(HostPort("127.0.0.1", "UDP", 80))

    ports.remove(HostPort("127.0.0.1", "TCP", 80))

    assert len(ports) == 0


def test_an_update_of_a_pod_keeps_the_affinity_terms_that_were_parsed_first() -> None:
    first = PodInfo(pod("a", affinity=FAR))
    second = first.updated(PodInfo(pod("a")))

    assert len(second.required_anti_affinity_terms) == 1
    assert not second.has_required_anti_affinity
    assert second.fresh().required_anti_affinity_terms == ()


def test_an_assigned_pod_shares_the_computed_amounts() -> None:
    pending = PodInfo(pod("a"))
    requests = pending.requests
    assigned = pending.assigned("n1")

    assert assigned.pod.spec.node_name == "n1"
    assert pending.pod.spec.node_name == ""
    assert assigned.requests is requests


def test_an_invalid_term_is_reported() -> None:
    selector = {"matchExpressions": [{"key": "a", "operator": "In", "values": []}]}
    term = {"topologyKey": "zone", "labelSelector": selector}
    info = PodInfo(pod("a", affinity={"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}))

    assert info.required_affinity_terms == ()
    assert info.terms.error.startswith("requiredAffinityTerms: ")
