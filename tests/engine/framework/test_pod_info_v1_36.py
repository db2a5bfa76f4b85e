"""v1.36: what a pod requests. Upstream: component-helpers/resource/helpers_test.go, framework/types_test.go"""

import pytest

MI = 1024 * 1024


@pytest.fixture
def world(world_of_v1_36):
    return world_of_v1_36


def container(name, sidecar=False, **requests):  # noqa: FBT002
    policy = {"restartPolicy": "Always"} if sidecar else {}
    return {"name": name, "image": "i", "resources": {"requests": requests}, **policy}


def milli_cpu(pod):
    return pod.requests.resource.milli_cpu


@pytest.mark.parametrize(
    ("init_containers", "expected"),
    [
        ([container("i", cpu="5")], 5000),
        ([container("i", cpu="500m")], 1000),
        ([container("s", sidecar=True, cpu="2")], 3000),
        ([container("s", sidecar=True, cpu="2"), container("i", cpu="2")], 4000),
        ([container("i", cpu="3"), container("s", sidecar=True, cpu="1")], 3000),
        ([container("s", sidecar=True, cpu="1"), container("t", sidecar=True, cpu="2")], 4000),
        ([container("s", sidecar=True, cpu="1"), container("i", cpu="5"), container("t", sidecar=True, cpu="2")], 6000),
    ],
)
def test_sidecars_add_to_the_containers_and_to_later_init_containers(world, init_containers, expected):
    assert milli_cpu(world.pod("p", {"cpu": "1"}, initContainers=init_containers)) == expected


def test_the_defaults_of_scores_count_for_each_sidecar(world):
    pod = world.pod("p", {"cpu": "1"}, initContainers=[container("s", sidecar=True, memory="64Mi")])

    assert pod.requests.non_zero_milli_cpu == 1100
    assert pod.requests.non_zero_memory == 264 * MI


def test_pod_level_requests_replace_the_sum_of_the_containers(world):
    level = {"requests": {"cpu": "3"}}
    pod = world.pod("p", {"cpu": "500m", "memory": "64Mi", "example.com/gpu": "1"}, resources=level, overhead={"cpu": "100m"})

    assert milli_cpu(pod) == 3100
    assert pod.requests.resource.memory == 64 * MI
    assert pod.requests.resource.scalar == {"example.com/gpu": 1}


def test_pod_level_requests_have_no_default_for_scores(world):
    pod = world.pod("p", resources={"requests": {"cpu": "50m"}})

    assert (pod.requests.non_zero_milli_cpu, pod.requests.non_zero_memory) == (50, 200 * MI)


def test_without_the_feature_gate_pod_level_requests_do_not_count(v1_36_with_gates):
    world = v1_36_with_gates(InPlacePodLevelResourcesVerticalScaling=False, PodLevelResources=False)

    assert milli_cpu(world.pod("p", {"cpu": "1"}, resources={"requests": {"cpu": "3"}})) == 1000


def resized(world, *, spec="1", actual="2", allocated="3", infeasible=False, name="c"):
    status = {"containerStatuses": [{"name": name, "allocatedResources": {"cpu": allocated}, "resources": {"requests": {"cpu": actual}}}]}
    if infeasible:
        status["conditions"] = [{"type": "PodResizePending", "status": "True", "reason": "Infeasible"}]
    return world.pod("p", {"cpu": spec}, status=status)


@pytest.mark.parametrize(
    ("amounts", "expected"),
    [
        ({}, 3000),
        ({"actual": "4"}, 4000),
        ({"spec": "5"}, 5000),
        ({"spec": "5", "infeasible": True}, 3000),
        ({"actual": "4", "infeasible": True}, 4000),
        ({"name": "another"}, 1000),
    ],
)
def test_a_resize_counts_the_greatest_of_spec_status_and_allocation(world, amounts, expected):
    assert milli_cpu(resized(world, **amounts)) == expected


def test_a_status_without_resources_changes_nothing(world):
    status = {"containerStatuses": [{"name": "c", "allocatedResources": {"cpu": "3"}}]}

    assert milli_cpu(world.pod("p", {"cpu": "1"}, status=status)) == 1000


def test_only_sidecars_among_init_containers_are_resized(world):
    status = {"initContainerStatuses": [{"name": name, "resources": {"requests": {"cpu": "9"}}} for name in ("i", "s")]}

    assert milli_cpu(world.pod("p", {"cpu": "1"}, initContainers=[container("i", cpu="2")], status=status)) == 2000
    assert milli_cpu(world.pod("p", {"cpu": "1"}, initContainers=[container("s", sidecar=True, cpu="2")], status=status)) == 10_000


def test_a_pod_level_resize_counts_only_with_its_feature_gate(world, v1_36_with_gates):
    closed = v1_36_with_gates(InPlacePodLevelResourcesVerticalScaling=False)
    pod = {"resources": {"requests": {"cpu": "1"}}, "status": {"allocatedResources": {"cpu": "3"}, "resources": {"requests": {"cpu": "2"}}}}

    assert milli_cpu(world.pod("p", **pod)) == 3000
    assert milli_cpu(closed.pod("p", **pod)) == 1000


def test_an_incoming_pod_requests_the_amounts_in_its_spec(world):
    pod = resized(world)

    assert (milli_cpu(pod), pod.spec_requests.resource.milli_cpu) == (3000, 1000)


def test_a_status_that_changes_requests_makes_a_different_pod(world):
    pod = world.pod("p", {"cpu": "1"})
    assert milli_cpu(pod) == 1000

    assert milli_cpu(pod.info_of(resized(world).pod)) == 3000


def test_ports_of_sidecars_come_before_those_of_containers(world):
    ports = [{"containerPort": 1, "hostPort": 1}]
    init = [{"name": "s", "image": "i", "restartPolicy": "Always", "ports": [{"containerPort": 2, "hostPort": 2}]}]

    assert [port.port for port in world.pod("p", ports=ports, initContainers=init).host_ports] == [2, 1]
