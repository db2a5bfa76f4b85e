"""The smallest change for a claim: every suggestion is carried out on a session, and the pod is placed."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from schedviz.explain.changes import smallest_change
from schedviz.explain.why import why_pending
from schedviz.trace.controllers import ControllerSettings
from tests.explain.small_clusters import cluster, do, node, pod

API = "resource.k8s.io/v1"
DRIVER = "gpu.example.com"


def device_class(name: str, expression: str = "true") -> dict[str, Any]:
    return {
        "apiVersion": API,
        "kind": "DeviceClass",
        "metadata": {"name": name},
        "spec": {"selectors": [{"cel": {"expression": expression}}]},
    }


def devices(on: str, *models: str, **more: Any) -> dict[str, Any]:
    """A slice of a node, with a device of each model."""
    listed = [{"name": f"gpu-{index}", "attributes": {"model": {"string": model}}, **more} for index, model in enumerate(models)]
    pool = {"name": on, "generation": 1, "resourceSliceCount": 1}
    spec = {"driver": DRIVER, "nodeName": on, "pool": pool, "devices": listed}
    return {"apiVersion": API, "kind": "ResourceSlice", "metadata": {"name": f"{on}-gpu"}, "spec": spec}


def claim(name: str = "c", *, count: int = 1, model: str = "", constraints: Any = None, of: str = "gpu") -> dict[str, Any]:
    asked: dict[str, Any] = {"deviceClassName": of, "count": count}
    if model:
        asked["selectors"] = [{"cel": {"expression": f'device.attributes["{DRIVER}"].model == "{model}"'}}]
    spec: dict[str, Any] = {"devices": {"requests": [{"name": "r", "exactly": asked}]}}
    if constraints:
        spec["devices"]["constraints"] = constraints
    return {"apiVersion": API, "kind": "ResourceClaim", "metadata": {"name": name, "namespace": "default", "uid": name}, "spec": spec}


def given(name: str, to: str, *devices: str, on: str = "n1") -> dict[str, Any]:
    """A claim whose devices a pod has."""
    results = [{"request": "r", "driver": DRIVER, "pool": on, "device": device} for device in devices]
    users = [{"resource": "pods", "name": to, "uid": to}]
    return claim(name, count=len(devices)) | {"status": {"allocation": {"devices": {"results": results}}, "reservedFor": users}}


def test_upstreams_own_plugins_are_not_disabled_to_place_a_pod() -> None:
    objects = [node("n1"), device_class("gpu"), devices("n1", "a"), claim(count=4), using("p")]
    result = smallest_change(cluster(*objects, release="v1.36"), "default/p")
    assert result.tried
    assert "plugin" not in result.tried


def using(name: str, claim: str = "c", **spec: Any) -> dict[str, Any]:
    return pod(name, resourceClaims=[{"name": "gpu", "resourceClaimName": claim}], **spec)


CASES: dict[str, tuple[list[dict[str, Any]], str]] = {
    "fewer devices": (
        [node("n1"), device_class("gpu"), devices("n1", "a", "a"), claim(count=4), using("p")],
        "lower request `r` of claim `default/c` from 4 devices to 2 devices",
    ),
    "all devices": (
        [
            node("n1"),
            device_class("gpu"),
            devices("n1", "a", "a"),
            given("held", "q", "gpu-0"),
            using("q", "held", on="n1"),
            {
                **claim(),
                "spec": {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "gpu", "allocationMode": "All"}}]}},
            },
            using("p"),
        ],
        "lower request `r` of claim `default/c` from all devices to 1 device",
    ),
    "a selector": (
        [node("n1"), device_class("gpu"), devices("n1", "a"), claim(model="b"), using("p")],
        'remove the selector `device.attributes["gpu.example.com"].model == "b"` from request `r` of claim `default/c`',
    ),
    "another class": (
        [node("n1"), device_class("gpu", "false"), device_class("any"), devices("n1", "a"), claim(), using("p")],
        "use the device class `any` in request `r` of claim `default/c`",
    ),
    "a class that does not exist": (
        [node("n1"), device_class("any"), devices("n1", "a"), claim(), using("p")],
        "use the device class `any` in request `r` of claim `default/c`",
    ),
    "a taint": (
        [
            node("n1"),
            device_class("gpu"),
            devices("n1", "a", taints=[{"key": "bad", "value": "yes", "effect": "NoSchedule"}]),
            claim(),
            using("p"),
        ],
        "add a toleration for the device taint `bad=yes:NoSchedule` to request `r` of claim `default/c`",
    ),
    "a constraint": (
        [
            node("n1"),
            device_class("gpu"),
            devices("n1", "a", "b"),
            claim(count=2, constraints=[{"matchAttribute": f"{DRIVER}/model"}]),
            using("p"),
        ],
        "remove the constraint that requires equal values of `gpu.example.com/model` from claim `default/c`",
    ),
    "a pod that has the device": (
        [
            node("n1"),
            device_class("gpu"),
            devices("n1", "a"),
            given("held", "q", "gpu-0"),
            using("q", "held", on="n1"),
            claim(),
            using("p"),
        ],
        "remove default/q from n1, which frees `default/held`",
    ),
    "another device": (
        [
            node("n1"),
            device_class("gpu"),
            devices("n1", "a"),
            given("held", "q", "gpu-0"),
            using("q", "held", on="n1"),
            claim(),
            using("p"),
        ],
        "add 1 device like `gpu-0` to n1",
    ),
    "another node with its devices": (
        [
            node("n1"),
            device_class("gpu"),
            devices("n1", "a"),
            given("held", "q", "gpu-0"),
            using("q", "held", on="n1"),
            claim(),
            using("p"),
        ],
        "add a node like n1",
    ),
    "a claim of its own": (
        [
            node("n1", cpu="1"),
            node("n2"),
            device_class("gpu"),
            devices("n1", "a"),
            devices("n2", "a"),
            {
                **given("c", "q", "gpu-0"),
                "status": {
                    "allocation": {
                        "devices": {"results": [{"request": "r", "driver": DRIVER, "pool": "n1", "device": "gpu-0"}]},
                        "nodeSelector": {
                            "nodeSelectorTerms": [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n1"]}]}]
                        },
                    },
                    "reservedFor": [{"resource": "pods", "name": "q", "uid": "q"}],
                },
            },
            using("q", on="n1"),
            using("p"),
        ],
        "give default/p its own claim, `c-p`, instead of `default/c`",
    ),
}


@pytest.mark.parametrize(("objects", "what"), CASES.values(), ids=list(CASES))
def test_the_change_is_suggested_and_places_the_pod_where_it_says(objects: list[dict[str, Any]], what: str) -> None:
    result = smallest_change(cluster(*objects, release="v1.36"), "default/p")
    by_what = {" and ".join(change.what for change in suggestion.changes): suggestion for suggestion in result.suggestions}
    assert what in by_what
    for suggestion in result.suggestions:
        simulation = cluster(*objects, release="v1.36")
        do(simulation, "run")
        for command in suggestion.commands:
            do(simulation, **msgspec.to_builtins(command))
        do(simulation, "advance", seconds=60)
        do(simulation, "run")
        assert why_pending(simulation, "default/p").node in suggestion.nodes, suggestion.changes


def test_only_the_largest_number_of_devices_that_helps_is_suggested() -> None:
    objects = [node("n1"), device_class("gpu"), devices("n1", "a", "a", "a"), claim(count=6), using("p")]
    result = smallest_change(cluster(*objects, release="v1.36"), "default/p")
    fewer = [change.what for suggestion in result.suggestions for change in suggestion.changes if change.kind == "request"]
    assert fewer == ["lower request `r` of claim `default/c` from 6 devices to 3 devices"]


def test_two_pods_are_removed_if_one_is_not_enough() -> None:
    held = [given(f"held{place}", f"q{place}", f"gpu-{place}") for place in range(3)]
    pods = [using(f"q{place}", f"held{place}", on="n1") for place in range(3)]
    objects = [node("n1"), device_class("gpu"), devices("n1", "a", "a", "a"), *held, *pods, claim(count=2), using("p")]
    result = smallest_change(cluster(*objects, release="v1.36"), "default/p")
    gone = [change.what for suggestion in result.suggestions for change in suggestion.changes if change.kind == "victim"]
    assert gone == ["remove 2 pods (default/q0, default/q1) from n1, which frees `default/held0`, `default/held1`"]


def test_the_search_leaves_claims_and_slices_unchanged() -> None:
    simulation = cluster(node("n1"), device_class("gpu"), devices("n1", "a"), claim(count=2), using("p"), release="v1.36")
    before = why_pending(simulation, "default/p")
    smallest_change(simulation, "default/p")
    assert why_pending(simulation, "default/p").matrix == before.matrix


def test_no_device_is_added_to_a_slice_that_a_simulated_controller_restores() -> None:
    objects = [
        node("n1"),
        device_class("gpu"),
        devices("n1", "a"),
        given("held", "q", "gpu-0"),
        using("q", "held", on="n1"),
        claim(),
        using("p"),
    ]
    simulation = cluster(*objects, release="v1.36")
    assert "device" in {change.kind for suggestion in smallest_change(simulation, "default/p").suggestions for change in suggestion.changes}
    simulation = cluster(*objects, release="v1.36", helpers=ControllerSettings(device_driver=True))
    assert "device" not in {
        change.kind for suggestion in smallest_change(simulation, "default/p").suggestions for change in suggestion.changes
    }
