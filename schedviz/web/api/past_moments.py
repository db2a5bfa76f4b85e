"""The state after a past event, for simultaneous requests: few moments are computed at a time, and equal ones once."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from threading import BoundedSemaphore, Lock
from typing import Final
from uuid import UUID

from schedviz.sessions.history import reading
from schedviz.sessions.models import Session
from schedviz.web.waiting import TooManyWait, waits

#: How many moments are folded at a time. The events between two stored views can be those of many pods: hundreds of megabytes, and seconds
#: in which the event loop gets little of the interpreter.
MAX_FOLDINGS: Final = 2


class PastMoments:
    """Computes moments in the threads of their requests."""

    def __init__(self) -> None:
        self._slots = BoundedSemaphore(MAX_FOLDINGS)
        self._lock = Lock()
        #: By session and event, the moments that requests are computing or waiting to compute.
        self._requested: dict[tuple[UUID, int], Future[reading.Moment]] = {}

    def at(self, session: Session, event: int) -> reading.Moment:
        """The state after an event. Other requests may get the same object. Raises `HistoryUnavailable` or `TooManyWait`."""
        key = session.pk, event
        with self._lock:
            shared = self._requested.get(key)
            if shared is None:
                own = self._requested[key] = Future()
        if shared is not None:
            with waits.one():
                return shared.result()
        try:
            with self._slot():
                own.set_result(reading.state_at_event(session, event))
        except TooManyWait:
            # The limit may be that of this client, which is not that of others who wait for the moment.
            own.set_exception(TooManyWait("Many requests of this server are waiting for moments of the past."))
            raise
        except BaseException as error:
            own.set_exception(error)
            raise
        finally:
            with self._lock:
                del self._requested[key]
        return own.result()

    @contextmanager
    def _slot(self) -> Iterator[None]:
        """Wait for one of the places of `MAX_FOLDINGS`. Raises `TooManyWait`."""
        if not self._slots.acquire(blocking=False):
            with waits.one():
                self._slots.acquire()
        try:
            yield
        finally:
            self._slots.release()


PAST_MOMENTS: Final = PastMoments()
