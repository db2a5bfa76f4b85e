"""Downloads: files that are sent while they are produced, and the limit on their number."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import aclosing, contextmanager
from threading import Lock
from typing import Any, Final, cast
from weakref import WeakValueDictionary

from django.conf import settings
from django.http import StreamingHttpResponse

from schedviz.sessions.turns import group_of
from schedviz.web.api.errors import ApiError
from schedviz.web.shares import Shares
from schedviz.web.thread_pool import Threads
from schedviz.web.waiting import requester

#: Clients without an account, which may read slowly for hours, together have this part, and one of them half of it.
_MAX_SHARE_WITHOUT_ACCOUNT: Final = 0.5
_RETRY_SECONDS: Final = 10
#: Downloads produce their next part here, so that none holds a thread and a connection to the database while its client reads.
#: docs/operations.md counts these connections.
THREADS: Final = Threads("download", 4)
#: By event loop and client, while there are downloads.
_semaphores: WeakValueDictionary[tuple[int, str], asyncio.Semaphore] = WeakValueDictionary()


class Slot:
    """The right to produce a download, until `release`."""

    def __init__(self, downloads: Downloads, who: str) -> None:
        self._downloads = downloads
        self._who: str | None = who
        #: Whom the download counts for.
        self.client = who

    def release(self) -> None:
        """Give the slot back. Further calls have no effect."""
        client, self._who = self._who, None
        if client is not None:
            self._downloads.end(client)


class Downloads:
    """The downloads of this process, by requester."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._running = Shares()
        self._without_account = 0

    def acquire(self) -> Slot:
        """A slot for one more download. Raises `ApiError` 503 above a limit."""
        client, maximum = requester.get(), settings.DOWNLOADS
        with self._lock:
            own, total = self._running.of(client), self._running.total
            if maximum and total >= maximum:
                raise _busy(f"This server produces {total} downloads at the moment, the limit SCHEDVIZ_DOWNLOADS.")
            if maximum and group_of(client):
                limit = max(1, int(maximum * _MAX_SHARE_WITHOUT_ACCOUNT))
                if self._without_account >= limit:
                    raise _busy(f"Clients without an account have {limit} downloads running, their share of the limit SCHEDVIZ_DOWNLOADS.")
                if own >= max(1, limit // 2):
                    raise _busy(f"You have {own} downloads running, the share of a client without an account in SCHEDVIZ_DOWNLOADS.")
            elif maximum and own >= self._running.maximum(client, maximum):
                raise _busy(f"You have {own} downloads running, your share of the limit SCHEDVIZ_DOWNLOADS.")
            self._count(client, 1)
        return Slot(self, client)

    def end(self, client: str) -> None:
        """A download of this requester has ended."""
        with self._lock:
            self._count(client, -1)

    def _count(self, client: str, amount: int) -> None:
        self._running.add(client, amount)
        self._without_account += amount if group_of(client) else 0

    @contextmanager
    def slot(self) -> Iterator[None]:
        """A slot for a download that is complete before it is sent. Raises as `acquire` does."""
        slot = self.acquire()
        try:
            yield
        finally:
            slot.release()


downloads: Final = Downloads()


class Download(StreamingHttpResponse):
    """A file whose parts are produced while it is sent. Django would read a synchronous iterator to its end before sending anything."""

    def __init__(self, parts: Iterator[bytes], slot: Slot, **kwargs: Any) -> None:
        super().__init__(_SlotBody(parts, slot), **kwargs)
        self._client = slot.client

    async def __aiter__(self) -> AsyncIterator[bytes]:
        parts = iter(cast("Iterator[bytes]", self.streaming_content))
        # One part of each client at a time, however many downloads it has.
        semaphore = _semaphores.setdefault((id(asyncio.get_running_loop()), self._client), asyncio.Semaphore(1))
        while True:
            async with semaphore:
                part = await THREADS.run(_next, parts)
            if part is None:
                return
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
                yield part
        self._slot.release()

    def close(self) -> None:
        self._slot.release()

    def __del__(self) -> None:
        self._slot.release()


def _next(parts: Iterator[bytes]) -> bytes | None:
    return next(parts, None)


def _busy(message: str) -> ApiError:
    return ApiError(503, "busy", f"{message} Try again later.", headers={"Retry-After": str(_RETRY_SECONDS)})
