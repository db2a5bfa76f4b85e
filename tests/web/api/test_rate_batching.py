"""Requests that are counted ahead."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from schedviz.web.api import rate_batching
from schedviz.web.api.rate_batching import BatchedCounter, LimitCheck


class Shared:
    """The shared counter of all processes, and the requests to it."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.counted = 0
        self.checks: list[int] = []

    def ask(self, cost: int) -> LimitCheck:
        self.checks.append(cost)
        allowed = self.counted + cost <= self.limit
        self.counted += cost if allowed else 0
        return LimitCheck(allowed, self.limit - self.counted, time.time() + 60)


def test_requests_under_a_small_limit_are_counted_one_by_one():
    shared, ahead = Shared(1999), BatchedCounter()

    checks = [ahead.count("somebody", shared.limit, shared.ask) for _ in range(2100)]

    assert set(shared.checks) == {1}
    assert [one.allowed for one in checks] == [True] * 1999 + [False] * 101
    assert [one.remaining for one in checks[:3]] == [1998, 1997, 1996]


def test_requests_of_a_burst_are_counted_in_batches_of_a_thousandth_of_the_limit():
    shared, ahead = Shared(20_000), BatchedCounter()

    checks = [ahead.count("somebody", shared.limit, shared.ask) for _ in range(2000)]

    assert shared.checks[:6] == [1, 2, 4, 8, 16, 20]
    assert len(shared.checks) < 120
    assert [one.remaining for one in checks] == list(range(19_999, 17_999, -1))


def test_exactly_the_limit_is_allowed():
    shared, ahead = Shared(5_003), BatchedCounter()

    allowed = sum(ahead.count("somebody", shared.limit, shared.ask).allowed for _ in range(6_000))

    assert allowed == 5_003


def test_occasional_requests_are_counted_one_by_one(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(rate_batching, "_CREDIT_SECONDS", -1.0)
    shared, ahead = Shared(60_000), BatchedCounter()

    for _ in range(10):
        ahead.count("somebody", shared.limit, shared.ask)

    assert shared.checks == [1] * 10


def test_each_client_has_its_own_credit():
    shared, ahead = Shared(60_000), BatchedCounter()

    for who in ("one", "another") * 3:
        ahead.count(who, shared.limit, shared.ask)

    assert shared.checks == [1, 1, 2, 2]


def test_threads_together_use_no_more_than_the_counted_requests():
    shared, ahead = Shared(60_000), BatchedCounter()

    with ThreadPoolExecutor(16) as pool:
        checks = list(pool.map(lambda _: ahead.count("somebody", shared.limit, shared.ask), range(5_000)))

    assert all(one.allowed for one in checks)
    assert 5_000 <= shared.counted <= 5_000 + 16 * 60


def test_counters_of_former_clients_expire(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(rate_batching, "_MAX_CLIENTS", 3)
    shared, ahead = Shared(60_000), BatchedCounter()

    for who in range(10):
        ahead.count(who, shared.limit, shared.ask)

    assert len(ahead._credits) <= 3
