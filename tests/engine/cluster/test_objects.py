"""The store of the simulated API server."""

from __future__ import annotations

from schedviz.engine.cluster.objects import ObjectStore
from schedviz.kube.core import Pod
from schedviz.kube.meta import ObjectMeta


def pod(name: str, **labels: str) -> Pod:
    return Pod(metadata=ObjectMeta(name=name, namespace="d", labels=labels))


def test_objects_are_found_by_a_label_until_one_changes() -> None:
    store = ObjectStore()

    def names(value: str) -> list[str]:
        return [obj.name for obj in store.with_label("Pod", "app").get(value, ())]

    for each in (pod("a", app="x"), pod("b", app="y"), pod("c", app="x"), pod("d")):
        store.put(each)
    assert (names("x"), names("y"), names("z")) == (["a", "c"], ["b"], [])
    store.put(pod("b", app="x"))
    assert names("x") == ["a", "b", "c"]
    store.remove(pod("a", app="x"))
    assert names("x") == ["b", "c"]
    store.load("Pod", {"d/e": pod("e", app="x")})
    assert names("x") == ["e"]
