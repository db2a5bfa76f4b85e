"""Foldings: states that the web server computes from stored views and events, for simultaneous requests.

A large state takes seconds, in which the event loop gets little of the interpreter, and up to hundreds of megabytes. So few are computed at
a time, one of each client, and equal ones once. Clients that wait take turns. A folding includes the encoding of the response.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from threading import Condition
from typing import Any, Final, TypeVar

from schedviz.web.fair_shares import FairShares
from schedviz.web.request_coalescing import Coalesced, coalesced_with, may_coalesce
from schedviz.web.waiting_requests import TooManyWait, requester, worker_waits

T = TypeVar("T")

#: How many states are folded at a time. One client, and all without an account, have half of them.
MAX_FOLDINGS: Final = 2
#: Large results of experiments, and traces, take longer, so they do not take the places of states.
MAX_RESULTS: Final = 2
MAX_TRACES: Final = 2


class _Flight:
    """A folding that one of the requests for it computes."""

    def __init__(self) -> None:
        self.requests = 0
        self.is_running = False
        self.result: Future[Any] = Future()


class Foldings:
    """Runs foldings in the threads of their requests."""

    def __init__(self, maximum: int) -> None:
        self._maximum = maximum
        self._running = FairShares()
        self._changed = Condition()
        #: By key, the foldings that requests are computing or waiting to compute.
        self._flights: dict[Hashable, _Flight] = {}
        #: The clients of requests that wait, and their foldings. A client that leaves a place goes to the end.
        self._queue: list[tuple[str, _Flight]] = []

    def once(self, key: Hashable, fold: Callable[[], T]) -> T:
        """The result of `fold`, the same object for simultaneous requests with the same key: the first that gets a place computes it.

        Raises what `fold` raises, `TooManyWait` or `Coalesced`.
        """
        if (
            (earlier := coalesced_with.get()) is not None
            and earlier.key == key
            and earlier.result.done()
            and not earlier.result.cancelled()
        ):
            shared: T = earlier.result.result()
            return shared
        client = requester.get()
        with self._changed:
            flight = self._flights.setdefault(key, _Flight())
            flight.requests += 1
            has_begun = self._begin(flight, client)
        try:
            if not has_begun:
                self._wait(key, flight, client)
            if not flight.result.done():
                self._compute(flight, fold, client)
            result: T = flight.result.result()
            return result
        finally:
            with self._changed:
                flight.requests -= 1
                # Requests after the result are about a newer state.
                if (flight.result.done() or not flight.requests) and self._flights.get(key) is flight:
                    del self._flights[key]
                    flight.result.cancel()

    def _wait(self, key: Hashable, flight: _Flight, client: str) -> None:
        """Return when there is a result, or a place for this request to compute it. Raises `TooManyWait`, or `Coalesced` if another request
        computes it or has the last place to wait in.
        """
        if flight.is_running and may_coalesce():
            raise Coalesced(key, flight.result)
        try:
            self._wait_in_queue(flight, client)
        except TooManyWait:
            if flight.requests > 1 and may_coalesce():
                raise Coalesced(key, flight.result) from None
            raise

    def _wait_in_queue(self, flight: _Flight, client: str) -> None:
        """Return when there is a result, or a place for this request to compute it. Raises `TooManyWait`."""
        with worker_waits.slot(), self._changed:
            self._queue.append(entry := (client, flight))
            try:
                self._changed.wait_for(lambda: flight.result.done() or self._begin(flight, client))
            finally:
                self._queue.remove(entry)

    def _begin(self, flight: _Flight, client: str) -> bool:
        """Whether this request computes the result; it then has a place."""
        if flight.is_running or not self._is_next(client):
            return False
        flight.is_running = True
        self._running.add(client)
        self._changed.notify_all()
        return True

    def _compute(self, flight: _Flight, fold: Callable[[], T], client: str) -> None:
        try:
            flight.result.set_result(fold())
        except BaseException as error:
            flight.result.set_exception(error)
            raise
        finally:
            self._leave(client)

    @contextmanager
    def slot(self) -> Iterator[None]:
        """Wait for one of the places. Raises `TooManyWait`."""
        client, flight = requester.get(), _Flight()
        with self._changed:
            has_begun = self._begin(flight, client)
        if not has_begun:
            self._wait_in_queue(flight, client)
        try:
            yield
        finally:
            self._leave(client)

    def _leave(self, client: str) -> None:
        with self._changed:
            self._running.add(client, -1)
            self._queue.sort(key=lambda entry: entry[0] == client)
            self._changed.notify_all()

    def _is_next(self, client: str) -> bool:
        """Whether there is a place for this client, and for none that waits before it."""
        for other, flight in self._queue:
            if not flight.is_running and self._admits(other):
                return other == client
        return self._admits(client)

    def _admits(self, client: str) -> bool:
        return self._running.admits(client, self._maximum)


FOLDINGS: Final = Foldings(MAX_FOLDINGS)
RESULTS: Final = Foldings(MAX_RESULTS)
TRACES: Final = Foldings(MAX_TRACES)
