"""Large states: few are computed at a time, one of each client, and equal ones once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from threading import Event, Lock
from typing import Any

import pytest

from schedviz.sessions.errors import HistoryUnavailable
from schedviz.web.api.shared_computations import MAX_STATES, SharedComputations, _Computation
from schedviz.web.server.waiting_requests import MAX_WAITING, TooManyWait, requester, worker_waits
from tests.conftest import until


class Folding:
    """The computation of states by folding events, which goes on until it may end."""

    def __init__(self) -> None:
        self.may_end = Event()
        self.begun: list[int] = []
        self.running: Counter[str] = Counter()
        self.most_at_once: Counter[str] = Counter()
        self._lock = Lock()

    def fold(self, event: int) -> str:
        client = requester.get()
        with self._lock:
            self.begun.append(event)
            self.running[client] += 1
            self.running["all"] += 1
            self.most_at_once |= self.running
        self.may_end.wait(30)
        with self._lock:
            self.running[client] -= 1
            self.running["all"] -= 1
        if event < 0:
            raise HistoryUnavailable("gone")
        return f"after {event}"


@pytest.fixture
def folding() -> Folding:
    return Folding()


def is_waiting(count: int) -> bool:
    return waiting() == count


def waiting() -> int:
    return worker_waits._waiting.total


def asked(
    computations: SharedComputations, folding: Folding, *events: int, meanwhile: Callable[[], object], clients: str = ""
) -> list[Any]:
    """What simultaneous requests get, each of another client, or of these clients in turn."""

    def ask(number: int, event: int) -> str:
        requester.set(clients[number % len(clients)] if clients else f"client {number}")
        return computations.once(event, lambda: folding.fold(event))

    with ThreadPoolExecutor(len(events)) as pool:
        results = [pool.submit(ask, number, event) for number, event in enumerate(events)]
        meanwhile()
        return [result.exception() or result.result() for result in results]


def test_only_a_few_moments_are_folded_at_a_time(folding: Folding) -> None:
    def others_wait() -> None:
        until(lambda: waiting() == 6 - MAX_STATES)
        folding.may_end.set()

    found = asked(SharedComputations(MAX_STATES), folding, 1, 2, 3, 4, 5, 6, meanwhile=others_wait)

    assert found == [f"after {event}" for event in range(1, 7)]
    assert folding.most_at_once["all"] == MAX_STATES


def test_a_client_leaves_a_place_for_others(folding: Folding) -> None:
    computations = SharedComputations(MAX_STATES)

    def another_asks() -> None:
        until(lambda: waiting() == 5)
        assert folding.begun == [1]
        folding.may_end.set()

    def ask_meanwhile() -> None:
        until(lambda: waiting() == 5)
        requester.set("another")
        with computations.slot():
            another_asks()

    found = asked(computations, folding, 1, 2, 3, 4, 5, 6, meanwhile=ask_meanwhile, clients="a")

    assert found == [f"after {event}" for event in range(1, 7)]
    assert folding.most_at_once["a"] == 1


def test_clients_of_one_group_leave_a_place_for_users(folding: Folding) -> None:
    computations = SharedComputations(MAX_STATES)
    requester.set("address 192.0.2.1")
    with computations.slot():
        assert not computations._is_next("address 192.0.2.2")
        assert computations._is_next("user 1")


def test_waiting_clients_are_served_in_turn(folding: Folding) -> None:
    computations = SharedComputations(1)
    order: list[str] = []

    def ask(client: str) -> None:
        requester.set(client)
        with computations.slot():
            order.append(client)
            folding.may_end.wait(30)

    with ThreadPoolExecutor(6) as pool:
        for number, client in enumerate(["a", "a", "a", "a", "b", "c"]):
            pool.submit(ask, client)
            until(partial(is_waiting, number))
        folding.may_end.set()

    assert order == ["a", "b", "c", "a", "a", "a"]
    assert not computations._queue


def test_a_client_that_waits_comes_before_one_that_asks_later(folding: Folding) -> None:
    computations = SharedComputations(1)
    computations._queue.append(("a", _Computation()))
    assert not computations._is_next("b")
    assert computations._is_next("a")


def test_a_request_for_what_is_computed_keeps_nobody_from_a_place(folding: Folding) -> None:
    computations = SharedComputations(MAX_STATES)

    def another_asks() -> None:
        until(lambda: waiting() == 1)
        requester.set("another")
        with computations.slot():
            folding.may_end.set()

    assert asked(computations, folding, 7, 7, meanwhile=another_asks) == ["after 7"] * 2


def test_a_client_without_a_place_does_not_keep_others_from_the_same_result(folding: Folding) -> None:
    computations = SharedComputations(MAX_STATES)

    def owner_asks() -> None:
        until(lambda: waiting() == 1)
        requester.set("the owner")
        folding.may_end.set()
        assert computations.once(7, lambda: folding.fold(7)) == "after 7"

    with ThreadPoolExecutor(1) as pool:
        requester.set("a viewer")
        with computations.slot():

            def ask() -> str:
                requester.set("a viewer")
                return computations.once(7, lambda: folding.fold(7))

            viewer = pool.submit(ask)
            owner_asks()
            assert viewer.result(30) == "after 7"
            requester.set("a viewer")
    assert folding.begun == [7]
    assert not computations._computations


@pytest.mark.parametrize("event", [7, -7])
def test_simultaneous_requests_for_one_moment_fold_it_once(event: int, folding: Folding) -> None:
    def others_wait() -> None:
        until(lambda: waiting() == 5)
        folding.may_end.set()

    computations = SharedComputations(MAX_STATES)
    found = asked(computations, folding, *[event] * 6, meanwhile=others_wait)

    assert folding.begun == [event]
    assert {str(one) for one in found} == {"after 7" if event > 0 else "gone"}
    # A later request computes it again: the history may have changed.
    assert str(asked(computations, folding, event, meanwhile=lambda: None)[0]) == str(found[0])
    assert folding.begun == [event] * 2


def test_a_client_at_its_limit_is_refused_and_leaves_no_state(folding: Folding) -> None:
    computations = SharedComputations(MAX_STATES)
    requester.set("a client")
    with ExitStack() as of_client:
        of_client.enter_context(computations.slot())
        for _ in range(MAX_WAITING // 2):
            of_client.enter_context(worker_waits.slot())
        with pytest.raises(TooManyWait, match="You have 8 of the 8 requests"):
            computations.once(1, lambda: folding.fold(1))
    requester.set("")
    assert not computations._computations
    assert not computations._running.total
