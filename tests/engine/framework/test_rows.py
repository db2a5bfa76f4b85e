"""Columns have the values of their NodeInfos, and only changed rows are recomputed."""

import numpy as np
import pytest

from schedviz.engine.framework.columns import MAX_COLUMNS, Columns
from schedviz.engine.framework.rows import Rows
from schedviz.engine.framework.types import Generations, NodeInfo, PodInfo
from schedviz.kube import codec
from schedviz.kube.core import Node, Pod


def node(name: str, cpu: int, zone: str = "a") -> Node:
    status = {"allocatable": {"cpu": str(cpu), "memory": "1Gi", "pods": "10", "example.com/gpu": "2"}}
    made = codec.from_dict({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": {"zone": zone}}, "status": status})
    assert isinstance(made, Node)
    return made


def pod(name: str) -> PodInfo:
    spec = {"containers": [{"name": "c", "resources": {"requests": {"cpu": "100m", "example.com/gpu": "1"}}}]}
    made = codec.from_dict(
        {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "default", "uid": name}, "spec": spec}
    )
    assert isinstance(made, Pod)
    return PodInfo(made)


def infos(*cpus: int) -> list[NodeInfo]:
    generations = Generations()
    made = []
    for number, cpu in enumerate(cpus):
        info = NodeInfo(f"n{number}", generations)
        info.set_node(node(info.name, cpu, zone="ab"[number % 2]))
        made.append(info)
    return made


class Counting:
    """A column's function that records the nodes for which it was called."""

    def __init__(self) -> None:
        self.called: list[str] = []

    def __call__(self, info: NodeInfo) -> int:
        self.called.append(info.name)
        return len(info.pods)


def test_resources_come_in_the_order_of_the_list() -> None:
    nodes = infos(1, 2, 3)
    nodes[1].add_pod(pod("p"))
    rows = Rows(Columns(nodes))

    assert rows.allocatable("cpu").tolist() == [1000, 2000, 3000]
    assert rows.allocatable("pods").tolist() == [10, 10, 10]
    assert rows.allocatable("example.com/gpu").tolist() == [2, 2, 2]
    assert rows.requested("cpu").tolist() == [0, 100, 0]
    assert rows.requested("example.com/gpu").tolist() == [0, 1, 0]
    assert rows.requested("example.com/none").tolist() == [0, 0, 0]
    assert rows.non_zero_requested("memory").tolist() == [0, 200 * 1024 * 1024, 0]
    assert rows.pod_count().tolist() == [0, 1, 0]
    assert rows.requested("memory").dtype == np.int64


def test_a_view_has_its_own_order() -> None:
    rows = Rows(Columns(infos(1, 2, 3))).take(np.array([2, 0]))

    assert rows.allocatable("cpu").tolist() == [3000, 1000]
    assert list(rows.names) == ["n2", "n0"]
    assert rows.infos[0].name == "n2"
    assert len(rows) == 2
    assert rows.take(np.array([1])).allocatable("cpu").tolist() == [1000]


def test_only_marked_rows_are_computed_again() -> None:
    columns, count = Columns(nodes := infos(1, 2, 3)), Counting()
    rows = Rows(columns)
    rows.info_column("count", count)
    count.called.clear()

    nodes[1].add_pod(pod("p"))
    columns.mark("n1", node_changed=False)

    assert rows.info_column("count", count).tolist() == [0, 1, 0]
    assert count.called == ["n1"]
    assert rows.info_column("count", count).tolist() == [0, 1, 0]
    assert count.called == ["n1"]


def test_a_column_of_the_node_ignores_changes_of_its_pods() -> None:
    columns, count = Columns(infos(1, 2, 3)), Counting()
    rows = Rows(columns)
    rows.node_column("count", count)
    count.called.clear()

    columns.mark("n1", node_changed=False)
    rows.node_column("count", count)
    assert count.called == []

    columns.mark("n2", node_changed=True)
    rows.node_column("count", count)
    assert count.called == ["n2"]


def test_adding_or_removing_a_node_keeps_the_other_rows() -> None:
    nodes, count = infos(1, 2, 3, 4), Counting()
    columns = Columns(nodes[:3])
    rows = Rows(columns)
    nodes[0].add_pod(pod("p"))
    rows.info_column("count", count)
    count.called.clear()

    nodes[2].add_pod(pod("q"))
    columns.mark("n2", node_changed=False)
    columns.reorder([nodes[3], nodes[2], nodes[0]])

    assert Rows(columns).info_column("count", count).tolist() == [0, 1, 1]
    assert sorted(count.called) == ["n2", "n3"]


def test_another_object_under_a_known_name_is_computed() -> None:
    nodes = infos(1, 2)
    columns = Columns(nodes)
    Rows(columns).allocatable("cpu")
    other = infos(7)[0]

    columns.reorder([other, nodes[1]])

    assert Rows(columns).allocatable("cpu").tolist() == [7000, 2000]


def test_a_column_that_was_not_read_for_long_is_updated() -> None:
    columns = Columns(nodes := infos(1, 2))
    rows = Rows(columns)
    rows.pod_count()

    for number in range(200):
        nodes[1].add_pod(pod(f"p{number}"))
        columns.mark("n1", node_changed=False)

    assert rows.pod_count().tolist() == [0, 200]


def test_distinct_values_are_numbered() -> None:
    columns = Columns(infos(1, 2, 3))
    codes, values = Rows(columns).classes("zone", lambda info: info.node.metadata.labels["zone"])  # type: ignore[union-attr]

    assert [values[code] for code in codes] == ["a", "b", "a"]
    assert len(values) == 2


def test_the_oldest_columns_are_dropped() -> None:
    columns, count = Columns(infos(1)), Counting()
    rows = Rows(columns)
    rows.info_column("first", count)
    for number in range(MAX_COLUMNS):
        rows.info_column(number, len_of_pods)

    rows.info_column("first", count)

    assert count.called == ["n0", "n0"]


def test_returned_arrays_are_read_only() -> None:
    column = Rows(Columns(infos(1))).allocatable("cpu")

    with pytest.raises(ValueError, match="read-only"):
        column[0] = 5


def test_rows_of_clones_see_the_clones() -> None:
    original = infos(1)[0]
    clone = original.clone()
    clone.add_pod(pod("p"))

    assert Rows.of([clone]).requested("cpu").tolist() == [100]
    assert Rows.of([original]).requested("cpu").tolist() == [0]


def test_rows_without_nodes_have_empty_columns() -> None:
    assert Rows.of([]).allocatable("cpu").tolist() == []


def len_of_pods(info: NodeInfo) -> int:
    return len(info.pods)
