"""Expected scores come from runs of kube-scheduler v1.27.1."""

import pytest

FIT, BALANCED = "NodeResourcesFit", "NodeResourcesBalancedAllocation"


def _profile(plugin, args):
    return {"profiles": [{"pluginConfig": [{"name": plugin, "args": args}]}]}


def test_every_shortage_of_a_node_is_a_reason(world):
    world.node("small", {"cpu": "1", "memory": "1Gi", "pods": "1"})
    world.node("full", {"pods": "1"})
    world.node("free")
    world.pod("a", {"cpu": "500m", "memory": "512Mi"}, on="small")
    world.pod("b", on="full")

    rejections = world.rejections(world.framework(), world.pod("p", {"cpu": "2", "memory": "2Gi"}))

    assert rejections == {
        "small": (FIT, "Unschedulable", ("Too many pods", "Insufficient cpu", "Insufficient memory")),
        "full": (FIT, "Unschedulable", ("Too many pods",)),
    }


def test_scalar_resources_are_reasons_in_the_order_of_their_names(world):
    world.node("n", {"example.com/b": "1"})

    rejections = world.rejections(world.framework(), world.pod("p", {"example.com/b": "2", "example.com/a": "1", "ephemeral-storage": "1"}))

    reasons = ("Insufficient ephemeral-storage", "Insufficient example.com/a", "Insufficient example.com/b")
    assert rejections == {"n": (FIT, "Unschedulable", reasons)}


def test_a_pod_that_requests_nothing_fits_on_an_overcommitted_node(world):
    world.node("n", {"cpu": "1"})
    world.pod("a", {"cpu": "2"}, on="n")

    assert world.rejections(world.framework(), world.pod("nothing")) == {}
    assert world.rejections(world.framework(), world.pod("memory", {"memory": "1Mi"}))["n"][2] == ("Insufficient cpu",)


def test_ignored_resources_are_not_checked(world):
    world.node("n")
    framework = world.framework(_profile(FIT, {"ignoredResources": ["example.com/a"], "ignoredResourceGroups": ["vendor.io"]}))

    assert world.rejections(framework, world.pod("p", {"example.com/a": "1", "vendor.io/x": "1"})) == {}
    assert world.rejections(framework, world.pod("q", {"example.com/c": "1"}))["n"][2] == ("Insufficient example.com/c",)


@pytest.mark.parametrize(
    ("requests", "expected"),
    [
        ({"cpu": "1", "memory": "2Gi"}, (50, 75)),  # (4000-2000)*100/4000 and (8-4)/8; b: 75 and 75
        ({}, (72, 97)),  # 100 milli-cpus and 200 MiB count for a container that requests none
    ],
)
def test_least_allocated_prefers_the_emptier_node(world, requests, expected):
    world.node("a")
    world.node("b")
    world.pod("x", {"cpu": "1", "memory": "2Gi"}, on="a")

    scores = world.scores_of(world.framework(), world.pod("p", requests), FIT)

    assert (scores["a"], scores["b"]) == expected


def test_an_extended_resource_counts_only_for_pods_that_request_it(world):
    resources = [{"name": "cpu", "weight": 3}, {"name": "memory", "weight": 1}, {"name": "example.com/gpu", "weight": 5}]
    world.node("gpu", {"example.com/gpu": "4"})
    world.node("plain")
    framework = world.framework(_profile(FIT, {"scoringStrategy": {"type": "LeastAllocated", "resources": resources}}))

    with_gpu = world.scores_of(framework, world.pod("p", {"cpu": "1", "memory": "2Gi", "example.com/gpu": "1"}), FIT)
    without = world.scores_of(framework, world.pod("q", {"cpu": "1", "memory": "2Gi"}), FIT)

    assert with_gpu == {"gpu": 75}
    assert without == {"gpu": 75, "plain": 75}


def test_most_allocated_prefers_the_fuller_node(world):
    world.node("a")
    world.node("b")
    world.pod("x", {"cpu": "1", "memory": "2Gi"}, on="a")
    framework = world.framework(_profile(FIT, {"scoringStrategy": {"type": "MostAllocated"}}))

    assert world.scores_of(framework, world.pod("p", {"cpu": "1", "memory": "2Gi"}), FIT) == {"a": 50, "b": 25}


def test_requested_to_capacity_ratio_follows_its_shape(world):
    shape = [{"utilization": 0, "score": 0}, {"utilization": 40, "score": 3}, {"utilization": 100, "score": 10}]
    world.node("n")
    world.pod("x", {"cpu": "1", "memory": "2Gi"}, on="n")
    framework = world.framework(
        _profile(FIT, {"scoringStrategy": {"type": "RequestedToCapacityRatio", "requestedToCapacityRatio": {"shape": shape}}})
    )

    # 50 % of both: 30 + 70 * 10 / 60 = 41
    assert world.scores_of(framework, world.pod("p", {"cpu": "1", "memory": "2Gi"}), FIT) == {"n": 41}


def test_balanced_allocation_is_100_if_fractions_are_equal(world):
    world.node("even")
    world.node("skewed")
    world.pod("x", {"cpu": "2"}, on="skewed")

    scores = world.scores_of(world.framework(), world.pod("p", {"cpu": "1", "memory": "2Gi"}), BALANCED)

    assert scores == {"even": 100, "skewed": 75}


def test_balanced_allocation_of_three_resources_is_a_standard_deviation(world):
    resources = [{"name": "cpu", "weight": 1}, {"name": "memory", "weight": 1}, {"name": "example.com/gpu", "weight": 1}]
    world.node("gpu", {"example.com/gpu": "1"})
    framework = world.framework(_profile(BALANCED, {"resources": resources}))

    # fractions 0.25, 0.25, 1: mean 0.5, deviation 0.3535...
    assert world.scores_of(framework, world.pod("p", {"cpu": "1", "memory": "2Gi", "example.com/gpu": "1"}), BALANCED) == {"gpu": 64}
    # Without the third resource half of the difference counts.
    assert world.scores_of(framework, world.pod("q", {"cpu": "2", "memory": "2Gi"}), BALANCED) == {"gpu": 87}


def test_a_sum_that_overflowed_requests_nothing(world):
    world.node("n", {"memory": "1Gi"})
    world.pod("a", {"memory": "2Gi"}, on="n")

    assert world.rejections(world.framework(), world.pod("p", {"cpu": "9223372036854775807"})) == {}


@pytest.mark.parametrize("number", [10, 20, 58, 59, 60, 61, 200])
def test_any_number_of_resources_is_compared(world, number):
    requests = {f"example.com/r{place:03}": "2" for place in range(number)}
    world.node("none")
    world.node("one", dict.fromkeys(list(requests)[1:], "2"))
    world.node("free", requests)

    rejections = world.rejections(world.framework(), world.pod("p", requests))

    assert rejections == {
        "none": (FIT, "Unschedulable", tuple(f"Insufficient {name}" for name in requests)),
        "one": (FIT, "Unschedulable", ("Insufficient example.com/r000",)),
    }


@pytest.mark.parametrize("release", ["world", "world_of_v1_36"])
def test_the_number_of_pods_is_not_scored(request, release):
    world = request.getfixturevalue(release)
    world.node("n", {"cpu": "4", "pods": "100"})
    resources = [{"name": "pods", "weight": 3}, {"name": "cpu", "weight": 1}]
    strategy = {"type": "LeastAllocated", "resources": resources}

    scores = world.scores_of(world.framework(_profile(FIT, {"scoringStrategy": strategy})), world.pod("p", {"cpu": "1"}), FIT)

    assert scores == {"n": 75}
