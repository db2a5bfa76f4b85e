"""Host ports and images in the cache that are not those of the API's pods and nodes."""

from __future__ import annotations

from typing import Any

import pytest

from schedviz.engine import Simulation, SimulationSettings
from schedviz.explain.doctor import examine_engine
from schedviz.kube.meta import KubeObject
from schedviz.trace.commands import convert_command
from tests.explain import small_clusters as small


def node(*images: str) -> dict[str, Any]:
    made: dict[str, Any] = small.node("n")
    made["status"]["images"] = [{"names": [image], "sizeBytes": 1} for image in images]
    return made


def pod(name: str, *ports: int, ip: str = "") -> dict[str, Any]:
    made: dict[str, Any] = small.pod(name, on="n")
    made["spec"]["containers"][0]["ports"] = [{"containerPort": port, "hostPort": port, "hostIP": ip} for port in ports]
    return made


def examined(*steps: dict[str, Any]) -> list[tuple[str, str]]:
    simulation = Simulation(SimulationSettings())
    loaded: list[KubeObject] = []
    simulation.load(loaded)
    for step in steps:
        simulation.start(convert_command(step))
        assert simulation.work() is not None
    results = [(finding.kind, finding.sentence) for finding in examine_engine(simulation).differences]
    return [finding for finding in results if finding[0] in ("port", "image")]


def create(obj: dict[str, Any]) -> dict[str, Any]:
    return {"op": "create", "object": obj}


def update(obj: dict[str, Any]) -> dict[str, Any]:
    return {"op": "update", "object": obj, "drop": "handlers"}


def test_a_cache_with_all_host_ports_has_no_differences() -> None:
    assert examined(create(node("a:1")), create(pod("p", 80, 81))) == []


@pytest.mark.parametrize(
    ("before", "after", "sentence"),
    [
        (pod("p", 80), pod("p"), "node n: host port TCP/80 is taken in the cache, by no pod in the API server"),
        (pod("p"), pod("p", 80), "node n: host port TCP/80 is free in the cache; in the API server pod default/p uses it"),
        (
            pod("p"),
            pod("p", 80, ip="10.0.0.1"),
            "node n: host port TCP/80 of 10.0.0.1 is free in the cache; in the API server pod default/p uses it",
        ),
    ],
)
def test_a_missing_host_port_in_the_cache_is_found(before: dict[str, Any], after: dict[str, Any], sentence: str) -> None:
    assert examined(create(node()), create(before), update(after)) == [("port", sentence)]


def test_a_port_that_two_pods_took_is_free_when_one_of_them_is_gone() -> None:
    steps = [create(node()), create(pod("p", 80)), create(pod("q", 80)), {"op": "delete", "kind": "Pod", "name": "q"}]

    assert examined(*steps) == [("port", "node n: host port TCP/80 is free in the cache; in the API server pod default/p uses it")]


def test_missing_images_in_the_cache_are_found() -> None:
    assert examined(create(node("a:1", "b:1")), update(node("a:1", "c:1"))) == [
        ("image", "node n: image b:1 is in the cache, but not on the node in the API server"),
        ("image", "node n: image c:1 is on the node in the API server, but not in the cache"),
    ]
    assert examined(create(node()), update(node(*(f"{name}:1" for name in "edcba")))) == [
        ("image", "node n: images a:1, b:1, c:1 and 2 more are on the node in the API server, but not in the cache")
    ]
