"""The tables of stages are consistent; tests/conformance holds them to what the cycles of every recording do."""

from __future__ import annotations

import pytest

from schedviz.engine import stages
from schedviz.engine.binding import BindingCycle
from schedviz.engine.podgroup_pod_cycle import PodGroupPodCycle
from schedviz.engine.schedule_one import SchedulingCycle
from schedviz.engine.schedule_one_podgroup import PodGroupCycle

OWN = {"scheduling": SchedulingCycle.STAGES, "binding": BindingCycle.STAGES, "pod group": PodGroupCycle.STAGES}
ALL = OWN | {"pod of a group": PodGroupPodCycle.STAGES}


@pytest.mark.parametrize("table", ALL.values(), ids=ALL)
def test_every_successor_is_a_stage_of_the_table_or_an_end(table) -> None:
    known = {*table, stages.ENDED, stages.CONFIRM, stages.WAIT_FOR_POD_GROUP}
    assert {name for stage in table.values() for name in stage.then} <= known


@pytest.mark.parametrize("table", OWN.values(), ids=OWN)
def test_every_stage_is_reached_from_the_first(table) -> None:
    reached, pending = set(), [next(iter(table))]
    while pending:
        name = pending.pop()
        if name in table and name not in reached:
            reached.add(name)
            pending += table[name].then
    assert reached == set(table)


@pytest.mark.parametrize("table", OWN.values(), ids=OWN)
def test_methods_are_defined_in_the_order_of_the_table(table) -> None:
    lines = [stage.run.__code__.co_firstlineno for stage in table.values()]
    assert lines == sorted(lines)
