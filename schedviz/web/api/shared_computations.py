"""`SharedComputations`: what the web server itself computes for a response and takes long, such as a state from stored views and events.

A large state takes seconds, in which the event loop gets little of the interpreter, and up to hundreds of megabytes. So few are computed at
a time, one of each client, and equal ones once. Clients that wait take turns. A computation includes the encoding of the response.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from threading import Condition
from typing import Any, Final, TypeVar

from schedviz.web.server.fair_shares import FairShares
from schedviz.web.server.request_coalescing import Coalesced, coalesced_with, may_coalesce
from schedviz.web.server.waiting_requests import TooManyWait, requester, worker_waits

T = TypeVar("T")

#: How many states are computed at a time. One client, and all without an account, have half of them.
MAX_STATES: Final = 2
#: Large results of experiments, and traces, take longer, so they do not take the places of states.
MAX_RESULTS: Final = 2
MAX_TRACES: Final = 2


class _Computation:
    """A computation that one of the requests for it runs."""

    def __init__(self) -> None:
        self.requests = 0
        self.is_running = False
        self.result: Future[Any] = Future()


class SharedComputations:
    """Runs computations in the threads of their requests, at most a number of them at a time."""

    def __init__(self, maximum: int) -> None:
        self._maximum = maximum
        self._running = FairShares()
        self._changed = Condition()
        #: By key, those that requests run or wait to run.
        self._computations: dict[Hashable, _Computation] = {}
        #: The clients of requests that wait, and what they wait for. A client that leaves a place goes to the end.
        self._queue: list[tuple[str, _Computation]] = []

    def once(self, key: Hashable, compute: Callable[[], T]) -> T:
        """The result of `compute`, the same object for simultaneous requests with the same key: the first that gets a place computes it.

        Raises what `compute` raises, `TooManyWait` or `Coalesced`.
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
            computation = self._computations.setdefault(key, _Computation())
            computation.requests += 1
            has_begun = self._begin(computation, client)
        try:
            if not has_begun:
                self._wait(key, computation, client)
            if not computation.result.done():
                self._run(computation, compute, client)
            result: T = computation.result.result()
            return result
        finally:
            with self._changed:
                computation.requests -= 1
                # Requests after the result are about a newer state.
                if (computation.result.done() or not computation.requests) and self._computations.get(key) is computation:
                    del self._computations[key]
                    computation.result.cancel()

    def _wait(self, key: Hashable, computation: _Computation, client: str) -> None:
        """Return when there is a result, or a place for this request to compute it. Raises `TooManyWait`, or `Coalesced` if another request
        computes it or has the last place to wait in.
        """
        if computation.is_running and may_coalesce():
            raise Coalesced(key, computation.result)
        try:
            self._wait_in_queue(computation, client)
        except TooManyWait:
            if computation.requests > 1 and may_coalesce():
                raise Coalesced(key, computation.result) from None
            raise

    def _wait_in_queue(self, computation: _Computation, client: str) -> None:
        """Return when there is a result, or a place for this request to compute it. Raises `TooManyWait`."""
        with worker_waits.slot(), self._changed:
            self._queue.append(entry := (client, computation))
            try:
                self._changed.wait_for(lambda: computation.result.done() or self._begin(computation, client))
            finally:
                self._queue.remove(entry)

    def _begin(self, computation: _Computation, client: str) -> bool:
        """Whether this request computes the result; it then has a place."""
        if computation.is_running or not self._is_next(client):
            return False
        computation.is_running = True
        self._running.add(client)
        self._changed.notify_all()
        return True

    def _run(self, computation: _Computation, compute: Callable[[], T], client: str) -> None:
        try:
            computation.result.set_result(compute())
        except BaseException as error:
            computation.result.set_exception(error)
            raise
        finally:
            self._leave(client)

    @contextmanager
    def slot(self) -> Iterator[None]:
        """Wait for one of the places. Raises `TooManyWait`."""
        # One that no other request shares.
        client, computation = requester.get(), _Computation()
        with self._changed:
            has_begun = self._begin(computation, client)
        if not has_begun:
            self._wait_in_queue(computation, client)
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
        for other, computation in self._queue:
            if not computation.is_running and self._admits(other):
                return other == client
        return self._admits(client)

    def _admits(self, client: str) -> bool:
        return self._running.admits(client, self._maximum)


STATES: Final = SharedComputations(MAX_STATES)
RESULTS: Final = SharedComputations(MAX_RESULTS)
TRACES: Final = SharedComputations(MAX_TRACES)
