"""The search for other orders of decisions takes a share of the time, and has a burst."""

from __future__ import annotations

from schedviz.sessions.observing.search_budget import MAX_SAVED_SECONDS, SHARE, SearchBudget


def test_searches_may_use_a_burst_and_then_a_share_of_the_time() -> None:
    now = 100.0
    budget = SearchBudget(clock=lambda: now)
    budget.use(MAX_SAVED_SECONDS - 0.01)
    assert budget.is_left
    budget.use(1.01)
    assert not budget.is_left
    now += 1.0 / SHARE - 0.1
    assert not budget.is_left
    now += 0.2
    assert budget.is_left


def test_the_saved_search_time_is_capped_at_a_burst() -> None:
    now = 0.0
    budget = SearchBudget(clock=lambda: now)
    now = 1e6
    assert budget.is_left
    budget.use(MAX_SAVED_SECONDS + 0.01)
    assert not budget.is_left
