"""A formula's column equals its recomputation, whatever changed and however long it was not read."""

import random

import numpy as np
import pytest

from schedviz.engine.framework.adjusted_rows import AddedPods, AdjustedRows
from schedviz.engine.framework.columns import MAX_FORMULAS, Columns
from schedviz.engine.framework.formulas import MAX_KNOWN_COMBINATIONS, POD_COUNT, Amount, Amounts, Formula
from schedviz.engine.framework.rows import Rows
from tests.engine.framework.test_rows import infos, pod

FREE = (Amount("allocatable", "cpu"), Amount("requested", "cpu"), POD_COUNT)


class Counting:
    """Free milli-cpus minus the number of pods; counts the computed rows."""

    def __init__(self) -> None:
        self.rows: list[int] = []

    def __call__(self, allocatable: Amounts, requested: Amounts, pods: Amounts) -> Amounts:
        self.rows.append(len(pods))
        return allocatable - requested - pods


def free(compute: Counting) -> Formula:
    return Formula("free", FREE, compute)


def test_only_the_changed_row_is_computed() -> None:
    columns, compute = Columns(nodes := infos(1, 2, 3)), Counting()
    rows = Rows(columns)
    assert rows.formula(free(compute)).tolist() == [1000, 2000, 3000]

    nodes[1].add_pod(pod("p"))
    columns.mark("n1", node_changed=False)

    assert rows.formula(free(compute)).tolist() == [1000, 1899, 3000]
    assert compute.rows == [3, 1]


def test_known_amounts_are_not_computed_again() -> None:
    columns, compute = Columns(nodes := infos(1, 1, 1)), Counting()
    rows = Rows(columns)
    for place in range(3):
        rows.formula(free(compute))
        nodes[place].add_pod(pod(f"p{place}"))
        columns.mark(f"n{place}", node_changed=False)

    assert rows.formula(free(compute)).tolist() == [899, 899, 899]
    assert compute.rows == [3, 1]


def test_few_unrepeated_amounts_are_kept() -> None:
    columns, compute = Columns(nodes := infos(1000)), Counting()
    rows = Rows(columns)
    rows.formula(free(compute))
    for number in range(10 * MAX_KNOWN_COMBINATIONS):
        nodes[0].add_pod(pod(f"p{number}"))
        columns.mark("n0", node_changed=False)
        rows.formula(free(compute))

    assert len(compute.rows) == 1 + 10 * MAX_KNOWN_COMBINATIONS
    assert all(len(column._known) <= MAX_KNOWN_COMBINATIONS for column in columns._formulas.values())


def test_many_changed_rows_are_computed_together() -> None:
    columns, compute = Columns(nodes := infos(*[4] * 100)), Counting()
    rows = Rows(columns)
    rows.formula(free(compute))
    for info in nodes[:50]:
        info.add_pod(pod(f"p-{info.name}"))
        columns.mark(info.name, node_changed=False)

    assert rows.formula(free(compute)).tolist() == [3899] * 50 + [4000] * 50
    assert compute.rows == [100, 100]


def test_a_column_equals_its_recomputation() -> None:
    chance = random.Random(7)
    nodes = infos(*[chance.randrange(1, 9) for _ in range(200)])
    columns = Columns(nodes[:150])
    rows = Rows(columns)
    for number in range(300):
        for _ in range(chance.choice((0, 1, 1, 2, 40))):
            info = chance.choice(columns.infos)
            if info.pods and chance.random() < 0.3:
                info.remove_pod(info.pods[0])
            else:
                info.add_pod(pod(f"p{number}-{info.name}-{len(info.pods)}"))
            columns.mark(info.name, node_changed=False)
        if number % 60 == 59:
            columns.reorder(chance.sample(nodes, 150))

        assert rows.formula(free(Counting())).tolist() == Rows.of(columns.infos).formula(free(Counting())).tolist()


def test_a_view_reads_its_rows_of_the_column() -> None:
    rows = Rows(Columns(infos(1, 2, 3))).take(np.array([2, 0]))

    assert rows.formula(free(Counting())).tolist() == [3000, 1000]


def test_a_formula_over_adjusted_rows_uses_the_adjusted_amounts() -> None:
    rows = Rows(Columns(infos(1, 2)))
    adjusted = AdjustedRows(rows, AddedPods(2, {1: [pod("p"), pod("q")]}))

    assert adjusted.formula(free(Counting())).tolist() == [1000, 1798]
    assert rows.formula(free(Counting())).tolist() == [1000, 2000]


def test_the_oldest_formulas_are_dropped() -> None:
    rows, compute = Rows(Columns(infos(1))), Counting()
    rows.formula(free(compute))
    for number in range(MAX_FORMULAS):
        rows.formula(Formula(number, FREE, Counting()))

    rows.formula(free(compute))

    assert compute.rows == [1, 1]


def test_returned_arrays_are_read_only() -> None:
    column = Rows(Columns(infos(1))).formula(free(Counting()))

    with pytest.raises(ValueError, match="read-only"):
        column[0] = 5
