"""A proxy with limited bandwidth and a delay in each direction."""

from __future__ import annotations

import asyncio
import contextlib
from types import TracebackType
from typing import Self

_SEGMENT_BYTES = 1448


class SlowConnection:
    """A proxy on a port of its own."""

    def __init__(self, host: str, port: int, *, bits_per_second: float, delay_seconds: float) -> None:
        self._target = host, port
        self._bytes_per_second = bits_per_second / 8
        self._delay = delay_seconds
        self.port = 0
        self._server: asyncio.Server
        self._tasks: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        far_reader, far_writer = await asyncio.open_connection(*self._target)
        for source, sink in ((reader, far_writer), (far_reader, writer)):
            task = asyncio.create_task(self._carry(source, sink))
            self._tasks.add(task)

    async def _carry(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        """Forward each chunk after the earlier ones and the delay. A limited number of bytes is in flight."""
        clock = asyncio.get_running_loop().time
        on_the_way: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue(
            maxsize=1 + int(self._bytes_per_second * self._delay / _SEGMENT_BYTES)
        )

        async def arrive() -> None:
            while True:
                due, piece = await on_the_way.get()
                await asyncio.sleep(max(0.0, due - clock()))
                sink.write(piece)
                await sink.drain()

        arriving = asyncio.create_task(arrive())
        free_at = 0.0
        try:
            while piece := await source.read(_SEGMENT_BYTES):
                free_at = max(free_at, clock()) + len(piece) / self._bytes_per_second
                await asyncio.sleep(max(0.0, free_at - clock()))
                await on_the_way.put((clock() + self._delay, piece))
        except OSError:
            pass
        finally:
            arriving.cancel()
            with contextlib.suppress(OSError):
                sink.close()
