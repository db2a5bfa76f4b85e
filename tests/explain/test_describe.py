"""The sums of kubectl describe, compared with the cache's."""

from __future__ import annotations

import pytest

from schedviz.explain.describe import NodeUnknownError, describe_node, describe_pod
from tests.explain.small_clusters import cluster, do, node, pod


def test_api_and_cache_have_equal_sums_if_no_event_is_in_flight() -> None:
    described = describe_node(cluster(node("n1"), pod("a", cpu="1500m", on="n1"), pod("b", cpu="1", on="n1")), "n1")
    assert (described.requests.milli_cpu, described.cache_requested and described.cache_requested.milli_cpu) == (2500, 2500)
    assert described.allocatable == described.cache_allocatable
    assert [(pod.pod, pod.assigned, pod.cached) for pod in described.pods] == [("default/a", True, "added"), ("default/b", True, "added")]


def test_an_assumed_pod_counts_only_for_the_cache() -> None:
    simulation = cluster(node("n1"), pod("a", cpu="1", on="n1"), pod("p", cpu="2"))
    do(simulation, "schedule")
    described = describe_node(simulation, "n1")
    assert (described.requests.milli_cpu, described.cache_requested and described.cache_requested.milli_cpu) == (1000, 3000)
    assert [(pod.pod, pod.assigned, pod.cached) for pod in described.pods] == [
        ("default/a", True, "added"),
        ("default/p", False, "assumed"),
    ]
    assert describe_pod(simulation, "default/p").node == "n1"


def test_a_pod_whose_event_was_lost_counts_only_at_the_api_server() -> None:
    simulation = cluster(node("n1"))
    do(simulation, "create", object=pod("a", cpu="1", on="n1"), drop="watch")
    described = describe_node(simulation, "n1")
    assert (described.requests.milli_cpu, described.cache_requested and described.cache_requested.milli_cpu) == (1000, 0)
    assert [(pod.assigned, pod.cached) for pod in described.pods] == [(True, "")]


def test_finished_pods_are_not_counted() -> None:
    finished = {**pod("a", cpu="1", on="n1"), "status": {"phase": "Succeeded"}}
    described = describe_node(cluster(node("n1"), finished), "n1")
    assert (described.requests.milli_cpu, described.pods) == (0, ())


def test_a_pod_requests_its_containers_or_its_largest_init_container_and_the_overhead() -> None:
    resources = {"requests": {"cpu": "1"}, "limits": {"cpu": "2", "memory": "1Gi"}}
    init = [{"name": "i", "image": "i", "resources": {"requests": {"cpu": "3"}, "limits": {"cpu": "3"}}}]
    wanted = pod("p", overhead={"cpu": "250m", "memory": "64Mi"}, initContainers=init)
    wanted["spec"]["containers"] = [{"name": "c", "image": "i", "resources": resources}] * 2
    described = describe_pod(cluster(node("n1"), wanted), "default/p")
    assert (described.requests.milli_cpu, described.requests.memory) == (3250, (2048 + 64) << 20), "What has a limit alone requests it."
    assert (described.limits.milli_cpu, described.limits.memory) == (4250, (2048 + 64) << 20)
    assert [(container.name, container.init) for container in described.containers] == [("i", True), ("c", False), ("c", False)]


def test_an_unknown_node_is_reported() -> None:
    with pytest.raises(NodeUnknownError, match="no node n2"):
        describe_node(cluster(node("n1")), "n2")
