"""A trace's `dump` step lists nodes and pods as kubectl prints them."""

from __future__ import annotations

import copy
import json
import lzma
from pathlib import Path
from typing import Any

import pytest

from schedviz.engine import run_trace
from schedviz.ingest.trace_file import trace_from_dict

SAMPLES = Path(__file__).parents[2] / "samples" / "sigusr2"
NODE = {"kind": "Node", "metadata": {"name": "n1"}, "status": {"allocatable": {"cpu": "1", "memory": "4Gi", "pods": "10"}}}
DUMP = {"op": "dump"}


def pod(name: str = "a", *, cpu: str = "1", **spec: Any) -> dict[str, Any]:
    containers = [{"name": "c", "image": "app", "resources": {"requests": {"cpu": cpu}}}]
    return {"kind": "Pod", "metadata": {"name": name}, "spec": {"containers": containers, **spec}}


def create(obj: dict[str, Any]) -> dict[str, Any]:
    return {"op": "create", "object": obj}


def update(obj: dict[str, Any]) -> dict[str, Any]:
    return {"op": "update", "object": obj}


def listed(*steps: dict[str, Any], release: str = "v1.36", **header: Any) -> dict[str, Any]:
    """The objects of the last dump by name."""
    document = {"format": "schedviz-trace/1", "release": release, "steps": [*steps, DUMP], **header}
    observed = run_trace(trace_from_dict(document))["steps"][-1]["observed"]
    return {item["metadata"]["name"]: item for item in observed["objects"]["items"]}


def generation(*steps: dict[str, Any]) -> int | None:
    result: int | None = listed(create(NODE), *steps)["a"]["metadata"].get("generation")
    return result


@pytest.mark.parametrize("case", sorted(path.name for path in SAMPLES.iterdir() if path.is_dir()))
def test_a_list_printed_by_kubectl_is_reproduced(case: str) -> None:
    items = json.loads((SAMPLES / case / "objects.json").read_bytes())["items"]

    result = listed(*map(create, items), release="v1.27.1")

    for item in items:
        again = result[item["metadata"]["name"]]
        again["metadata"]["resourceVersion"] = item["metadata"]["resourceVersion"]
        assert again == item


#: Members that the API server fills in.
FILLED_IN = {
    "spec": ("dnsPolicy", "enableServiceLinks", "preemptionPolicy", "priority", "restartPolicy", "schedulerName", "securityContext"),
    "container": ("imagePullPolicy", "resources", "terminationMessagePath", "terminationMessagePolicy"),
}


def as_written(item: dict[str, Any]) -> dict[str, Any]:
    """A pod of a real cluster as its author may have written it: without what the API server filled in with its default."""
    item = copy.deepcopy(item)
    spec = item["spec"]
    plain = {"dnsPolicy": "ClusterFirst", "enableServiceLinks": True, "restartPolicy": "Always", "securityContext": {}}
    for name in FILLED_IN["spec"]:
        if spec.get(name) == plain.get(name, {"priority": 0, "schedulerName": "default-scheduler"}.get(name, "PreemptLowerPriority")):
            del spec[name]
    for container in (*spec["containers"], *spec.get("initContainers", ())):
        for name in FILLED_IN["container"]:
            if name != "resources" or not container[name]:
                del container[name]
    for volume in spec.get("volumes", ()):
        volume.get("projected", {}).pop("defaultMode", None)
    return item


def test_pods_of_a_real_v1_36_cluster_are_completed_to_what_kubectl_printed() -> None:
    items = json.loads(lzma.decompress((SAMPLES.parent / "live136" / "objects.json.xz").read_bytes()))["items"]
    nodes = [item for item in items if item["kind"] == "Node"]
    pods = [item for item in items if item["kind"] == "Pod"]
    written = [as_written(pod) for pod in pods]

    document = {"format": "schedviz-trace/1", "release": "v1.36", "recordState": "none", "steps": [*map(create, [*nodes, *written]), DUMP]}
    found = run_trace(trace_from_dict(document))["steps"][-1]["observed"]["objects"]["items"]

    printed = {(item["kind"], item["metadata"].get("namespace"), item["metadata"]["name"]): item for item in found}
    for item in (*nodes, *pods):
        again = printed[item["kind"], item["metadata"].get("namespace"), item["metadata"]["name"]]
        again["metadata"]["resourceVersion"] = item["metadata"]["resourceVersion"]
        assert again == item
    assert sum("imagePullPolicy" not in json.dumps(one) for one in written) == len(pods)


def test_fields_that_the_scheduler_does_not_read_are_listed() -> None:
    written = pod(serviceAccountName="default", ephemeralContainers=[{"name": "debug", "image": "busybox:1"}])
    written["metadata"] |= {"annotations": {"a/b": ""}, "finalizers": ["x/y"], "managedFields": [{"manager": "m"}]}
    written["spec"]["containers"][0]["command"] = ["run"]

    found = listed(create(written))["a"]

    assert found["metadata"]["annotations"] == {"a/b": ""}
    assert found["metadata"]["finalizers"] == ["x/y"]
    assert "managedFields" not in found["metadata"]
    assert found["spec"]["serviceAccountName"] == "default"
    assert found["spec"]["ephemeralContainers"][0]["imagePullPolicy"] == "IfNotPresent"
    assert found["spec"]["containers"][0]["command"] == ["run"]


def test_an_update_replaces_unread_fields_and_keeps_the_status() -> None:
    first, second = pod(hostname="x"), pod(subdomain="y")
    first["status"] = {"phase": "Pending", "qosClass": "Burstable"}

    found = listed(create(first), update(second))["a"]

    assert "hostname" not in found["spec"]
    assert found["spec"]["subdomain"] == "y"
    assert found["status"] == {"phase": "Pending", "qosClass": "Burstable"}


def test_a_dump_does_not_change_what_the_next_one_lists() -> None:
    steps = (create(pod(volumes=[{"name": "v", "hostPath": {"path": "/x"}}])),)
    assert listed(*steps, DUMP) == listed(*steps, {"op": "advance", "seconds": 0})


def test_a_recreated_object_has_no_fields_of_the_old_one() -> None:
    gone = {"op": "delete", "kind": "Pod", "name": "a"}

    found = listed(create(pod(hostname="x")), update(pod(hostname="y")), gone, create(pod()))["a"]

    assert "hostname" not in found["spec"]
    assert found["metadata"]["generation"] == 1


def test_the_generation_counts_changes_of_the_spec() -> None:
    assert generation(create(pod())) == 1
    assert generation(create(pod()), {"op": "cycle"}) == 2
    assert generation(create(pod()), update(pod(tolerations=[{"key": "k", "operator": "Exists"}]))) == 2
    assert generation(create(pod()), update(pod(hostname="x"))) == 2
    labelled = pod()
    labelled["metadata"] = {"name": "a", "labels": {"a": "b"}}
    assert generation(create(pod()), update(labelled)) == 1
    assert generation(create(pod()), {"op": "delete", "kind": "Pod", "name": "a", "graceful": True}) == 2


def test_v1_27_has_no_generations() -> None:
    metadata = listed(create(NODE), create(pod()), {"op": "cycle"}, release="v1.27.1")["a"]["metadata"]
    assert "generation" not in metadata


def test_a_condition_has_the_generation_that_the_scheduler_saw() -> None:
    found = listed(create(NODE), create(pod(cpu="9")), update(pod(cpu="9", hostname="x")), {"op": "cycle"})["a"]
    [condition] = found["status"]["conditions"]
    assert (condition["status"], condition["observedGeneration"]) == ("False", 2)

    bound = listed(create(pod()), {"op": "cycle"}, create(NODE), {"op": "advance", "seconds": 20}, {"op": "cycle"})["a"]
    [condition] = bound["status"]["conditions"]
    assert condition["status"] == "True"
    assert "observedGeneration" not in condition


def test_a_terminating_pod_shows_whole_seconds() -> None:
    found = listed(create(pod()), {"op": "delete", "kind": "Pod", "name": "a", "graceful": True})["a"]
    assert found["metadata"]["deletionTimestamp"] == "2024-01-01T00:00:30Z"
    assert found["metadata"]["deletionGracePeriodSeconds"] == 30
