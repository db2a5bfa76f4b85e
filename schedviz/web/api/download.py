"""Downloads: files that are sent while they are produced, and the limit on their number.

A download keeps its slot until its client has read it. If a client without a download finds no slot, it gets that of the client that reads
most slowly, whose download is ended.
"""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Callable, Iterable, Iterator
from contextlib import aclosing, contextmanager
from threading import Lock
from typing import Any, Final, cast

from django.conf import settings
from django.http import StreamingHttpResponse

from schedviz.sessions.senders import WITHOUT_ACCOUNT
from schedviz.web.api.errors import ApiError
from schedviz.web.server.fair_shares import FairShares
from schedviz.web.server.named_semaphores import NamedSemaphores
from schedviz.web.server.thread_pool import DatabaseThreads
from schedviz.web.server.waiting_requests import requester

#: A client may read more slowly than at this rate, in bytes per second, as long as no other client needs its slot.
MIN_RATE: Final = 50_000
#: How far a client may lag behind that rate.
_MAX_LAG_SECONDS: Final = 10.0
_RETRY_SECONDS: Final = 10
#: Downloads produce their next part here, so that none holds a thread and a connection to the database while its client reads.
#: docs/operations.md counts these connections.
THREADS: Final = DatabaseThreads("download", 4)
#: By client, while there are downloads.
_semaphores = NamedSemaphores()


class Slot:
    """The right to produce a download, until `release`."""

    def __init__(self, downloads: Downloads, client: str) -> None:
        self._downloads = downloads
        #: Whom the download counts for.
        self.client = client
        #: Ends the connection, once the response is being sent. Callable in any thread.
        self.disconnect: Callable[[], object] | None = None
        #: How many seconds the client lagged behind MIN_RATE when it had read the last part.
        self._lag = 0.0
        #: When the client will lag behind MIN_RATE with the part that it reads now; None: the next part is being produced.
        self._due: float | None = None

    @property
    def lag(self) -> float:
        """How many seconds the client lags behind MIN_RATE, not counting those in which parts were produced."""
        return self._lag if self._due is None else max(0.0, time.monotonic() - self._due)

    @contextmanager
    def reading(self, size: int) -> Iterator[None]:
        """While the client reads a part of this size."""
        self._due = time.monotonic() - self._lag + size / MIN_RATE
        try:
            yield
        finally:
            self._lag, self._due = self.lag, None

    def release(self) -> None:
        """Give the slot back. Further calls have no effect."""
        self._downloads.end(self)


class Downloads:
    """The downloads of this process, by requester."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._slots: set[Slot] = set()
        self._running = FairShares()

    def acquire(self) -> Slot:
        """A slot for one more download. Raises `ApiError` 503 above a limit."""
        slot = Slot(self, requester.get())
        with self._lock:
            if (why := self._refusal(slot.client)) and not self._takes_place_of_slow_one(slot.client):
                raise ApiError(503, "busy", f"{why} Try again later.", headers={"Retry-After": str(_RETRY_SECONDS)})
            self._add(slot)
        return slot

    def end(self, slot: Slot) -> None:
        """A download has ended."""
        with self._lock:
            if slot in self._slots:
                self._remove(slot)

    @contextmanager
    def slot(self) -> Iterator[None]:
        """A slot for a download that is complete before it is sent. Raises as `acquire` does."""
        slot = self.acquire()
        try:
            yield
        finally:
            slot.release()

    def _refusal(self, client: str) -> str:
        """Why there is no slot for one more download of this client; "" if there is one."""
        own, total, maximum = self._running.of(client), self._running.total, settings.DOWNLOADS
        if not maximum or self._running.admits(client, maximum):
            return ""
        if total >= maximum:
            return f"This server produces {total} downloads at the moment, the limit SCHEDVIZ_DOWNLOADS."
        if own:
            return f"You have {own} downloads running, your share of the limit SCHEDVIZ_DOWNLOADS."
        others = self._running.of(WITHOUT_ACCOUNT)
        return f"{others} downloads of clients without an account are running, and they have a share of the limit SCHEDVIZ_DOWNLOADS."

    def _takes_place_of_slow_one(self, client: str) -> bool:
        """End the download whose client reads most slowly, if this client has none and gets that slot; whether it does."""
        if self._running.of(client):
            return False
        slow = [slot for slot in self._slots if slot.disconnect is not None and slot.lag > _MAX_LAG_SECONDS]
        for slot in sorted(slow, key=lambda slot: slot.lag, reverse=True):
            self._remove(slot)
            if not self._refusal(client):
                assert slot.disconnect is not None
                slot.disconnect()
                return True
            self._add(slot)
        return False

    def _add(self, slot: Slot) -> None:
        self._slots.add(slot)
        self._running.add(slot.client)

    def _remove(self, slot: Slot) -> None:
        self._slots.remove(slot)
        self._running.add(slot.client, -1)


downloads: Final = Downloads()


class SlotResponse(StreamingHttpResponse):
    """A response that is sent while it is produced, with its slot."""

    def __init__(self, parts: Iterable[bytes] | AsyncIterable[bytes], slot: Slot, **kwargs: Any) -> None:
        super().__init__(parts, **kwargs)
        self.slot = slot


class Download(SlotResponse):
    """A file whose parts are produced while it is sent. Django would read a synchronous iterator to its end before sending anything."""

    def __init__(self, parts: Iterator[bytes], slot: Slot, **kwargs: Any) -> None:
        super().__init__(_SlotBody(parts, slot), slot, **kwargs)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        parts = iter(cast("Iterator[bytes]", self.streaming_content))
        # One part of each client at a time, however many downloads it has.
        semaphore = _semaphores.of(self.slot.client, 1)
        while True:
            async with semaphore:
                part = await THREADS.run(_next, parts)
            if part is None:
                return
            with self.slot.reading(len(part)):
                yield part


class _SlotBody:
    """The parts of a download. The slot is released before the client receives the last bytes, so that it can start its next download.

    Django closes the body when the response has ended, also after an error.
    """

    def __init__(self, parts: Iterator[bytes], slot: Slot) -> None:
        self._parts = parts
        self._slot = slot

    def __iter__(self) -> Iterator[bytes]:
        return self

    def __next__(self) -> bytes:
        try:
            return next(self._parts)
        except StopIteration:
            self._slot.release()
            raise

    def close(self) -> None:
        self._slot.release()

    def __del__(self) -> None:
        # Django does not close a response that was never sent because a later step failed.
        self._slot.release()


class AsyncSlotBody:
    """An asynchronous download. The slot is released before the last bytes are received, and when Django closes or drops the response."""

    def __init__(self, parts: AsyncIterator[bytes], slot: Slot) -> None:
        self._parts = parts
        self._slot = slot

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async with aclosing(cast("AsyncGenerator[bytes]", self._parts)) as parts:
            async for part in parts:
                with self._slot.reading(len(part)):
                    yield part
        self._slot.release()

    def close(self) -> None:
        self._slot.release()

    def __del__(self) -> None:
        self._slot.release()


def _next(parts: Iterator[bytes]) -> bytes | None:
    return next(parts, None)
