"""The store of the simulated API server."""

from __future__ import annotations

from collections.abc import Collection

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from schedviz.engine import Simulation, SimulationSettings
from schedviz.engine.cluster.object_weight import weight_of
from schedviz.engine.cluster.objects import MAX_INDEXES, ObjectStore
from schedviz.kube.core import Node, NodeStatus, Pod, PodSpec, Toleration
from schedviz.kube.meta import KubeObject, ObjectMeta, OwnerReference


def pod(name: str, **labels: str) -> Pod:
    return Pod(metadata=ObjectMeta(name=name, namespace="d", labels=labels))


def owned(name: str, uid: str, *, controller: bool) -> Pod:
    owner = OwnerReference(api_version="apps/v1", kind="ReplicaSet", name=uid, uid=uid, controller=controller)
    return Pod(metadata=ObjectMeta(name=name, namespace="d", owner_references=(owner,)))


def names(objects: Collection[KubeObject]) -> list[str]:
    return [obj.name for obj in objects]


def test_objects_are_found_by_a_label_while_they_change() -> None:
    store = ObjectStore()
    for each in (pod("a", app="x"), pod("b", app="y"), pod("c", app="x"), pod("d")):
        store.put(each)
    assert [names(store.with_label("Pod", "app", value)) for value in "xyz"] == [["a", "c"], ["b"], []]
    store.put(pod("b", app="x"))
    assert names(store.with_label("Pod", "app", "x")) == ["a", "b", "c"]
    store.remove(pod("a", app="x"))
    assert names(store.with_label("Pod", "app", "x")) == ["b", "c"]
    store.load("Pod", {"d/e": pod("e", app="x")})
    assert names(store.with_label("Pod", "app", "x")) == ["e"]


def fat(name: str, labels: int = 1000) -> Pod:
    return pod(name, **{f"label-{number}": "x" * 20 for number in range(labels)})


def test_a_large_object_weighs_as_much_as_several() -> None:
    store = ObjectStore()
    for each in (pod("a"), fat("b"), fat("c"), fat("d")):
        store.put(each)
    weight = store.weights["Pod", "d/b"]
    assert 50 < weight < 70
    assert store.total_weight() == 1 + 3 * weight

    store.remove(fat("c"))
    store.put(pod("d"))
    # A write of the engine keeps the labels.
    before = store.get("Pod", "d/b")
    assert isinstance(before, Pod)
    store.put(msgspec.structs.replace(before, spec=msgspec.structs.replace(before.spec, node_name="n")))
    assert store.total_weight() == 2 + weight


def test_loaded_objects_are_weighed_unless_their_weights_are_known() -> None:
    weighed, told = ObjectStore(), ObjectStore()
    for store in (weighed, told):
        store.load("Pod", {"d/a": fat("a"), "d/b": pod("b")})
    told.weights = {("Pod", "d/a"): 5}
    assert weighed.total_weight() > 50
    assert told.total_weight() == 6


def test_short_members_weigh_by_their_number() -> None:
    made = {
        "labels": fat("a", 330),
        "tolerations": msgspec.structs.replace(pod("b"), spec=PodSpec(tolerations=(Toleration(),) * 1500)),
        "resources": Node(metadata=ObjectMeta(name="c"), status=NodeStatus(allocatable={f"a/{number}": 1 for number in range(250)})),
        "ordinary": msgspec.structs.replace(pod("d", a="1", b="2", c="3"), spec=PodSpec(tolerations=(Toleration(key="x"),) * 8)),
    }
    weights = {name: weight_of(obj) for name, obj in made.items()}
    assert weights["labels"] > 15
    assert weights["tolerations"] > 150
    assert weights["resources"] > 10
    assert weights["ordinary"] == 1


def test_a_restored_engine_has_the_weights_of_objects() -> None:
    simulation = Simulation(SimulationSettings())
    simulation.load([fat("a"), pod("b")])
    weight = simulation.cluster.store.total_weight()

    restored = Simulation.restore(simulation.checkpoint())

    assert weight > 20
    assert restored.cluster.store.total_weight() == weight


def test_objects_are_found_by_their_controller() -> None:
    store = ObjectStore()
    store.put(owned("a", "set", controller=True))
    assert names(store.controlled_by("Pod", "set")) == ["a"]
    store.put(owned("b", "set", controller=True))
    store.put(owned("c", "set", controller=False))
    store.put(owned("d", "other", controller=True))
    assert names(store.controlled_by("Pod", "set")) == ["a", "b"]
    store.put(owned("a", "other", controller=True))
    assert (names(store.controlled_by("Pod", "set")), names(store.controlled_by("Pod", "other"))) == (["b"], ["a", "d"])


@given(st.lists(st.tuples(st.sampled_from("abcdef"), st.sampled_from(["x", "y", None, "removed"]), st.booleans()), max_size=40))
def test_an_index_has_the_objects_that_a_pass_over_all_finds(writes: list[tuple[str, str | None, bool]]) -> None:
    store = ObjectStore()
    for name, value, looks in writes:
        if value != "removed":
            store.put(pod(name, **({} if value is None else {"app": value})))
        elif (stored := store.get("Pod", f"d/{name}")) is not None:
            store.remove(stored)
        if looks:
            for one in "xy":
                found = [obj.name for obj in store.of_kind("Pod").values() if obj.metadata.labels.get("app") == one]
                assert names(store.with_label("Pod", "app", one)) == found


def test_a_kind_has_a_limited_number_of_indexes() -> None:
    store = ObjectStore()
    labels = {f"label-{number}": "x" for number in range(2 * MAX_INDEXES)}
    store.put(pod("a", **labels))
    for label in labels:
        assert names(store.with_label("Pod", label, "x")) == ["a"]
    assert len(store._indexes["Pod"]) <= MAX_INDEXES
