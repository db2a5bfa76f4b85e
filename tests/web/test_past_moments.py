"""Moments of the past: few are folded at a time, and equal ones once."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from threading import Event, Lock
from types import SimpleNamespace
from typing import Any
from uuid import uuid4

import pytest

from schedviz.sessions.errors import HistoryUnavailable
from schedviz.web.api import past_moments
from schedviz.web.api.past_moments import MAX_FOLDINGS, PastMoments
from schedviz.web.waiting import MAX_WAITING_PER_CLIENT, TooManyWait, requester, waits
from tests.conftest import until

SESSION: Any = SimpleNamespace(pk=uuid4())


class Foldings:
    """Stands in for the reading of a history: folds until it may end."""

    def __init__(self) -> None:
        self.may_end = Event()
        self.begun: list[int] = []
        self.most_at_once = 0
        self._running = 0
        self._lock = Lock()

    def state_at_event(self, _session: object, event: int) -> str:
        with self._lock:
            self.begun.append(event)
            self._running += 1
            self.most_at_once = max(self.most_at_once, self._running)
        self.may_end.wait(30)
        with self._lock:
            self._running -= 1
        if event < 0:
            raise HistoryUnavailable("gone")
        return f"after {event}"


@pytest.fixture
def foldings(monkeypatch: pytest.MonkeyPatch) -> Foldings:
    made = Foldings()
    monkeypatch.setattr(past_moments.reading, "state_at_event", made.state_at_event)
    return made


def waiting() -> int:
    return waits._waiting.total()


def asked(moments: PastMoments, *events: int, meanwhile: Callable[[], object]) -> list[Any]:
    """What simultaneous requests for these moments get."""
    with ThreadPoolExecutor(len(events)) as pool:
        results = [pool.submit(moments.at, SESSION, event) for event in events]
        meanwhile()
        return [result.exception() or result.result() for result in results]


def test_few_moments_are_folded_at_a_time(foldings: Foldings) -> None:
    def others_wait() -> None:
        until(lambda: waiting() == 6 - MAX_FOLDINGS)
        foldings.may_end.set()

    found = asked(PastMoments(), 1, 2, 3, 4, 5, 6, meanwhile=others_wait)

    assert found == [f"after {event}" for event in range(1, 7)]
    assert foldings.most_at_once == MAX_FOLDINGS


@pytest.mark.parametrize("event", [7, -7])
def test_simultaneous_requests_for_one_moment_fold_it_once(event: int, foldings: Foldings) -> None:
    def others_wait() -> None:
        until(lambda: waiting() == 5)
        foldings.may_end.set()

    moments = PastMoments()
    found = asked(moments, *[event] * 6, meanwhile=others_wait)

    assert foldings.begun == [event]
    assert {str(one) for one in found} == {"after 7" if event > 0 else "gone"}
    # A later request computes it again: the history may have changed.
    assert str(asked(moments, event, meanwhile=lambda: None)[0]) == str(found[0])
    assert foldings.begun == [event] * 2


def test_a_client_at_its_limit_is_refused_and_leaves_nothing(foldings: Foldings) -> None:
    moments = PastMoments()
    requester.set("a client")
    with ExitStack() as of_client:
        for _ in range(MAX_FOLDINGS):
            moments._slots.acquire()
            of_client.callback(moments._slots.release)
        for _ in range(MAX_WAITING_PER_CLIENT):
            of_client.enter_context(waits.one())
        with pytest.raises(TooManyWait, match="You have 8 requests"):
            moments.at(SESSION, 1)
    requester.set("")
    assert not moments._requested
