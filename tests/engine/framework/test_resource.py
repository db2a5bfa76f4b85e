"""A pod's requests, and the resources that count."""

from typing import Any

import pytest

from schedviz.engine.framework.resource import Resource, is_scalar_resource_name, pod_requests
from schedviz.kube import codec
from schedviz.kube.core import Pod

MIB = 1024 * 1024


def pod(*requests: dict[str, str], init: tuple[dict[str, str], ...] = (), overhead: dict[str, str] | None = None) -> Pod:
    def containers(lists: tuple[dict[str, str], ...]) -> list[dict[str, Any]]:
        return [{"name": f"c{number}", "resources": {"requests": amounts}} for number, amounts in enumerate(lists)]

    spec = {"containers": containers(requests), "initContainers": containers(init), "overhead": overhead or {}}
    made = codec.from_dict({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": "default", "uid": "p"}, "spec": spec})
    assert isinstance(made, Pod)
    return made


def test_requests_of_containers_add_up() -> None:
    requests = pod_requests(pod({"cpu": "100m", "memory": "1Mi"}, {"cpu": "200m", "example.com/gpu": "1"}))

    assert requests.resource == Resource(milli_cpu=300, memory=MIB, scalar={"example.com/gpu": 1})


def test_pods_with_equal_requests_share_them() -> None:
    one, same, other = (pod_requests(pod({"cpu": cpu, "example.com/gpu": "1"})) for cpu in ("1", "1000m", "2"))

    assert one is same
    assert other is not same


def test_the_largest_init_container_is_a_minimum_for_each_resource() -> None:
    requests = pod_requests(pod({"cpu": "1"}, {"cpu": "1"}, init=({"cpu": "3", "memory": "1Mi"}, {"memory": "2Mi"})))

    assert requests.resource == Resource(milli_cpu=3000, memory=2 * MIB)


def test_overhead_is_added() -> None:
    requests = pod_requests(pod({"cpu": "1"}, init=({"cpu": "2"},), overhead={"cpu": "500m", "memory": "1Mi"}))

    assert requests.resource == Resource(milli_cpu=2500, memory=MIB)
    assert (requests.non_zero_milli_cpu, requests.non_zero_memory) == (2500, 201 * MIB)


def test_a_container_that_requests_none_counts_for_a_default_in_scores() -> None:
    requests = pod_requests(pod({}, {"cpu": "0", "memory": "0"}))

    assert requests.resource == Resource()
    assert (requests.non_zero_milli_cpu, requests.non_zero_memory) == (100, 200 * MIB)


def test_fractions_are_added_before_they_are_rounded_up() -> None:
    requests = pod_requests(pod({"memory": "200m"}, {"memory": "300m"}))

    assert requests.resource.memory == 1


def test_allocatable_counts_pods_and_omits_unknown_resources() -> None:
    node = codec.from_dict(
        {"kind": "Node", "apiVersion": "v1", "metadata": {"name": "n"}, "status": {"allocatable": {"pods": "5", "cpu": "2", "weird": "1"}}}
    )

    assert Resource.of(node.status.allocatable) == Resource(milli_cpu=2000, allowed_pod_number=5)  # type: ignore[attr-defined]


def test_sums_wrap_around_as_int64_does() -> None:
    total = Resource(memory=2**63 - 1)

    total.add(Resource(memory=1), 1)

    assert total.memory == -(2**63)


@pytest.mark.parametrize(
    ("name", "counts"),
    [
        ("example.com/gpu", True),
        ("hugepages-2Mi", True),
        ("attachable-volumes-csi", True),
        ("kubernetes.io/batch", True),
        ("storage", False),
        ("requests.example.com/gpu", False),
        ("example.com/", False),
        ("Example.com/gpu", False),
        ("a/b/c", False),
    ],
)
def test_scalar_resources_are_known_by_their_names(name: str, counts: bool) -> None:  # noqa: FBT001
    assert is_scalar_resource_name(name) is counts


def test_an_overflow_in_one_container_is_less_than_an_init_container_without_requests() -> None:
    requests = pod_requests(pod({}, {"memory": "9223372036854775807"}))

    assert requests.resource.memory == (1 << 63) - 1
    assert requests.non_zero_memory == 0


def test_the_overflow_of_a_sum_depends_on_upstreams_representation() -> None:
    one = pod_requests(pod({"cpu": "2E"}))
    same = pod_requests(pod({"cpu": "2E"}, {"memory": "1"}))
    summed = pod_requests(pod({"cpu": "2E"}, {"cpu": "500m"}))

    assert one.resource.milli_cpu == same.resource.milli_cpu == 0  # an int64 with a scale that does not fit
    assert summed.resource.milli_cpu == 7751640039368425972  # a decimal, cut to 64 bits
