"""A checkpoint between two stages of a cycle."""

from __future__ import annotations

import numpy as np

from schedviz.engine.cache import Snapshot
from schedviz.engine.checkpointing.cycle_state import filter_outcome, filter_state
from schedviz.engine.framework.runtime import FilterOutcome
from schedviz.engine.framework.status import unschedulable
from schedviz.engine.framework.verdicts import Verdicts


def test_filters_outcome_may_have_more_statuses_than_16_bits_can_number() -> None:
    snapshot, count = Snapshot(), 2**15 + 10
    verdicts = Verdicts.of([unschedulable(f"reason {row}") for row in range(count)])

    restored = filter_outcome(filter_state(FilterOutcome(snapshot.rows(), np.zeros(0, np.intp), verdicts)), snapshot)

    assert [restored.verdicts[row] for row in (0, count - 1)] == [verdicts[0], verdicts[count - 1]]
