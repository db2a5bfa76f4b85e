"""The status of budgets has the number of allowed disruptions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from schedviz.engine.cluster.controllers import pdb_status
from schedviz.engine.cluster.objects import ObjectStore
from schedviz.kube import codec
from schedviz.kube.core import Pod
from schedviz.kube.selector_index import SelectorIndex
from schedviz.kube.selectors import Selector

READY = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}


def budget(**spec: Any) -> dict[str, Any]:
    selector = {"matchLabels": {"app": "web"}}
    return {"kind": "PodDisruptionBudget", "apiVersion": "policy/v1", "metadata": {"name": "b"}, "spec": {"selector": selector, **spec}}


def of_web(made: dict[str, Any], **owner: Any) -> dict[str, Any]:
    made["metadata"]["labels"] = {"app": "web"}
    made["status"] = READY
    if owner:
        made["metadata"]["ownerReferences"] = [{"apiVersion": "apps/v1", "controller": True, **owner}]
    return made


def _allowed(do: Any) -> tuple[int, int, int]:
    status = do.get("PodDisruptionBudget", "default/b").status
    return status.disruptions_allowed, status.current_healthy, status.desired_healthy


def test_disruptions_allowed_follows_min_available(session: Any, pod: Any) -> None:
    do = session(*(of_web(pod(name, node_name="node1")) for name in "abc"))
    do("helper", name="pdbStatus")
    do("create", object=budget(minAvailable=2))
    assert _allowed(do) == (1, 3, 2)
    do("delete", kind="Pod", name="a")
    assert _allowed(do) == (0, 2, 2)
    do("update", object=budget(minAvailable=1))
    assert _allowed(do) == (1, 2, 1)


@pytest.mark.parametrize(
    ("spec", "allowed"),
    [
        ({"maxUnavailable": 1}, (0, 3, 3)),
        ({"maxUnavailable": "50%"}, (1, 3, 2)),
        ({"minAvailable": "30%"}, (1, 3, 2)),
        # An API server refuses these; a checkpoint with them has to be readable.
        ({"maxUnavailable": -(2**31)}, (0, 3, 2**31 - 1)),
        ({"minAvailable": "999999999%"}, (0, 3, 40_000_000)),
        ({"minAvailable": "9" * 5000 + "%"}, (3, 3, 0)),
    ],
)
def test_percentages_are_of_the_controllers_replicas(session: Any, pod: Any, spec: Any, allowed: Any) -> None:
    do = session()
    do("helper", name="pdbStatus")
    owner = {"kind": "ReplicaSet", "name": "web", "uid": "u"}
    do("create", object={"kind": "ReplicaSet", "apiVersion": "apps/v1", "metadata": {"name": "web", "uid": "u"}, "spec": {"replicas": 4}})
    for name in "abc":
        do("create", object=of_web(pod(name, node_name="node1"), **owner))
    do("create", object=budget(**spec))
    assert _allowed(do) == allowed


def test_pods_without_a_controller_have_no_share(session: Any, pod: Any) -> None:
    do = session(of_web(pod("a", node_name="node1")))
    do("helper", name="pdbStatus")
    do("create", object=budget(maxUnavailable=1))
    assert _allowed(do) == (0, 1, 0)


def test_each_cluster_keeps_an_index_of_its_own_budgets(monkeypatch: pytest.MonkeyPatch) -> None:
    built: list[int] = []

    class CountedIndex(SelectorIndex):
        def __init__(self, selectors: Iterable[tuple[str, Selector | None]]) -> None:
            numbered = list(selectors)
            built.append(len(numbered))
            super().__init__(numbered)

    stores = [ObjectStore(), ObjectStore()]
    stores[0].put(codec.from_dict({**budget(minAvailable=1), "metadata": {"name": "b", "namespace": "default"}}))
    pod = codec.from_dict({"kind": "Pod", "metadata": {"name": "p", "namespace": "default", "labels": {"app": "web"}}})
    assert isinstance(pod, Pod)
    monkeypatch.setattr(pdb_status, "SelectorIndex", CountedIndex)

    found = [[each.name for each in pdb_status.budgets_of(pod, store)] for store in stores * 3]

    assert found == [["b"], []] * 3
    assert [size for size in built if size] == [1]
