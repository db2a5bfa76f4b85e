"""The API server's defaults of pod-level requests and limits."""

from __future__ import annotations

from typing import Any

from schedviz.kube import codec
from schedviz.kube.core import Pod
from schedviz.kube.defaults import default_object


def resources_of(resources: dict[str, Any], containers: list[dict[str, Any]], sidecars: list[dict[str, Any]]) -> dict[str, dict[str, str]]:
    spec = {
        "resources": resources,
        "containers": [{"name": f"c{number}", "resources": container} for number, container in enumerate(containers)],
        "initContainers": [
            {"name": f"s{number}", "resources": sidecar, "restartPolicy": "Always"} for number, sidecar in enumerate(sidecars)
        ],
    }
    pod = default_object(codec.from_dict({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "x"}, "spec": spec}))
    assert isinstance(pod, Pod)
    assert pod.spec.resources is not None
    assert default_object(pod) == pod
    amounts = pod.spec.resources
    return {
        "limits": {name: str(amount) for name, amount in amounts.limits.items()},
        "requests": {name: str(amount) for name, amount in amounts.requests.items()},
    }


def test_requests_of_a_pod_with_limits_default_to_those_of_its_containers_and_then_to_the_limits() -> None:
    result = resources_of({"limits": {"cpu": "4", "memory": "1Gi"}}, [{"requests": {"cpu": "1"}}, {"requests": {"cpu": "500m"}}], [])
    assert result == {"limits": {"cpu": "4", "memory": "1Gi"}, "requests": {"cpu": "1500m", "memory": "1Gi"}}


def test_requests_of_a_pod_without_limits_are_kept() -> None:
    assert resources_of({"requests": {"cpu": "2"}}, [{"requests": {"cpu": "1", "memory": "1Gi"}}], []) == {
        "limits": {},
        "requests": {"cpu": "2"},
    }


def test_sidecars_count_in_full() -> None:
    result = resources_of({"limits": {"cpu": "4"}}, [{"requests": {"cpu": "1"}}], [{"requests": {"cpu": "2"}}])
    assert result["requests"] == {"cpu": "3"}


def test_limits_of_huge_pages_default_to_those_of_the_containers_unless_the_pod_requests_them() -> None:
    pages = [{"limits": {"hugepages-2Mi": "4Mi"}}, {"limits": {"hugepages-2Mi": "2Mi"}}]
    result = resources_of({"requests": {"cpu": "1"}}, pages, [])
    assert result == {"limits": {"hugepages-2Mi": "6Mi"}, "requests": {"cpu": "1", "hugepages-2Mi": "6Mi"}}
    assert resources_of({"requests": {"hugepages-2Mi": "8Mi"}}, pages, [])["limits"] == {}


def test_requests_are_added_up_before_they_are_rounded_up() -> None:
    result = resources_of({"limits": {"memory": "1Gi"}}, [{"requests": {"cpu": "1001u"}}, {"requests": {"cpu": "1001u"}}], [])
    assert result["requests"] == {"cpu": "3m", "memory": "1Gi"}
