"""Filter over all nodes: every node keeps its own status, however many there are."""

from __future__ import annotations

import numpy as np

from schedviz.engine.framework.cycle_state import CycleState
from schedviz.engine.framework.rows import Rows
from schedviz.engine.framework.runtime.filtering import search
from schedviz.engine.framework.runtime.outcomes import FilterOutcome
from schedviz.engine.framework.status import SUCCESS, unschedulable
from schedviz.engine.framework.types import Generations, NodeInfo, PodInfo
from schedviz.engine.framework.verdicts import Verdicts
from schedviz.kube.core import Pod

STATUSES = (SUCCESS, *(unschedulable(f"reason {number}") for number in range(3000)))


def many_statuses(_state: CycleState, _pod: PodInfo, rows: Rows) -> Verdicts:
    """Rejects each node with a status of its own, and knows 3,000."""
    return Verdicts(np.array([int(name) + 1 for name in rows.names], np.int16), STATUSES)


def test_more_statuses_than_16_bits_can_number_stay_distinct() -> None:
    rows = Rows.of([NodeInfo(str(number), Generations()) for number in range(2000)])
    outcome = search([("ManyStatuses", many_statuses)], CycleState(), PodInfo(Pod()), rows, 1, None)
    assert len(outcome.verdicts.statuses) > 2**15
    assert [outcome.verdicts[row].reasons for row in (0, 1500, 1999)] == [("reason 0",), ("reason 1500",), ("reason 1999",)]


def rejected_one_by_one(count: int) -> FilterOutcome:
    """A search for all nodes at once, each of which is rejected with a status of its own."""
    rows = Rows.of([NodeInfo(str(number), Generations()) for number in range(count)])

    def own_status(_state: CycleState, _pod: PodInfo, rows: Rows) -> Verdicts:
        return Verdicts.of([unschedulable(f"reason {name}") for name in rows.names])

    return search([("OwnStatus", own_status)], CycleState(), PodInfo(Pod()), rows, count, None)


def test_more_statuses_than_16_bits_can_number_stay_distinct_in_one_call_of_filter() -> None:
    count = 2**15 + 10
    verdicts = rejected_one_by_one(count).verdicts
    assert [verdicts[row].reasons for row in (0, 2**15, count - 1)] == [("reason 0",), (f"reason {2**15}",), (f"reason {count - 1}",)]
