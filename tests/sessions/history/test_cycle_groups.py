"""Groups of cycle summaries, as exports read them."""

from __future__ import annotations

import random
from uuid import UUID

import pytest
from pytest_django import DjangoAssertNumQueries

from schedviz.sessions.history import cycle_groups
from schedviz.sessions.history.cycle_groups import OwnCycles
from schedviz.sessions.models import CycleGroup
from schedviz.trace.comparing import Summary
from tests.sessions.conftest import MakeSession, send, work_off

_CYCLES = 40


@pytest.fixture
def single_steps(make_session: MakeSession) -> UUID:
    """A session whose cycles are in groups of their own."""
    session_id = make_session(nodes=2, pods=_CYCLES)
    for _ in range(_CYCLES):
        send(session_id, "step", unit="cycle")
        work_off(session_id)
    assert CycleGroup.objects.filter(session_id=session_id).count() == _CYCLES
    return session_id


def expected(summaries: list[Summary], event: int) -> tuple[int, bool]:
    """How many cycles had ended by an event, and whether it is between the stages of one."""
    return (
        sum(summary.last_event <= event for summary in summaries),
        any(summary.first_event <= event < summary.last_event for summary in summaries),
    )


def test_own_cycles_are_counted_at_any_event_in_any_order(single_steps: UUID) -> None:
    summaries = list(cycle_groups.between(single_steps, 0, 1 << 62))
    in_order = list(range(summaries[-1].last_event + 3))
    shuffled = random.Random(1).sample(in_order, len(in_order))
    far_apart = in_order[:: len(in_order) // 3]

    for events in (in_order, shuffled, far_apart):
        cycles = OwnCycles(single_steps)

        assert [(cycles.count_ended(event), cycles.is_between_stages(event)) for event in events] == [
            expected(summaries, event) for event in events
        ]


def test_own_cycles_are_read_in_few_queries_in_the_order_of_events(
    single_steps: UUID, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    ends = [summary.last_event for summary in cycle_groups.between(single_steps, 0, 1 << 62)]
    cycles = OwnCycles(single_steps)

    with django_assert_max_num_queries(5):
        assert [cycles.count_ended(event) for event in ends] == list(range(1, _CYCLES + 1))
