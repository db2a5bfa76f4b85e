"""A plugin's numbers of nodes: every node has a row, and rows stay."""

from __future__ import annotations

import msgspec

from schedviz.engine.framework.node_table import NodeTable
from schedviz.engine.framework.rows import Rows
from schedviz.engine.framework.types import NodeInfo
from tests.engine.framework.test_rows import infos


def initial(info: NodeInfo) -> dict[str, int | list[int]]:
    return {"free": [1000] * (info.allocatable.milli_cpu // 1000), "count": info.allocatable.milli_cpu // 1000}


def table() -> NodeTable:
    return NodeTable(initial, free=4, count=0)


def test_a_new_node_has_its_first_numbers() -> None:
    numbers, rows = table(), Rows.of(infos(2, 4))
    assert numbers.take("free", rows).tolist() == [[1000, 1000, 0, 0], [1000, 1000, 1000, 1000]]
    assert numbers.take("count", rows).tolist() == [2, 4]


def test_rows_come_in_the_requested_order() -> None:
    numbers, first = table(), infos(1, 2, 3)
    numbers.row(first[2])
    rows = Rows.of(first)
    assert numbers.rows(rows).tolist() == [1, 2, 0]
    assert numbers.take("count", rows).tolist() == [1, 2, 3]


def test_written_values_are_kept_while_nodes_are_added() -> None:
    numbers, nodes = table(), infos(*[1] * 100)
    row = numbers.row(nodes[0])
    numbers["free"][row, 0] = 250
    assert numbers.take("free", Rows.of(nodes)).tolist() == [[250, 0, 0, 0], *[[1000, 0, 0, 0]] * 99]
    assert len(numbers) == 100


def test_a_table_survives_a_checkpoint() -> None:
    numbers, nodes = table(), infos(1, 2)
    numbers.rows(Rows.of(nodes))
    numbers["free"][0, 0] = 7
    restored = table()
    restored.load(msgspec.msgpack.decode(msgspec.msgpack.encode(numbers.to_state())))
    assert restored.to_state() == numbers.to_state()
    assert restored.row(nodes[1]) == 1
