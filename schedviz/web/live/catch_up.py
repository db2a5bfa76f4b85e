"""The stored frames that viewers missed, read once for all who are behind: after a restart of the server that is everybody.

Chunks are read, and their frames are joined, in groups whose limits do not depend on the viewer. The first and the last group of a range
can be incomplete; of these, single frames are sent.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Sequence
from typing import Final
from uuid import UUID
from weakref import WeakValueDictionary

from schedviz.sessions.history import reading
from schedviz.web.live.coalesce import coalesced
from schedviz.web.live.database import in_database
from schedviz.web.live.viewer import Frame

#: Chunks of a group.
_CHUNKS_PER_GROUP: Final = 16
#: Compressed frames that are kept, for all sessions together.
_CACHE_BYTES: Final = 64 << 20
#: Groups that are read at a time, of the eight threads for database calls.
_MAX_GROUP_READS: Final = 2


class _Group:
    """The frames of consecutive chunks, as far as they are stored."""

    def __init__(self, singles: Sequence[tuple[int, bytes]]) -> None:
        self.singles = singles
        self._joined = coalesced(singles) if len(singles) == _CHUNKS_PER_GROUP else None
        self.bytes = sum(len(data) for _, data in singles) + sum(len(frame.data) for frame in self._joined or ())

    @property
    def last(self) -> int:
        """The number of its last chunk; 0 if there is none."""
        return self.singles[-1][0] if self.singles else 0

    def between(self, after: int, upto: int) -> Sequence[Frame]:
        """The frames after one chunk up to another."""
        if self._joined is not None and after < self.singles[0][0] and upto >= self.last:
            return self._joined
        return [Frame(first=chunk, last=chunk, data=data) for chunk, data in self.singles if after < chunk <= upto]


class CatchUp:
    """The frames that viewers in this event loop missed."""

    def __init__(self) -> None:
        #: By session and number, the one that was used last at the end.
        self._groups: OrderedDict[tuple[UUID, int], _Group] = OrderedDict()
        self._bytes = 0
        self._readings = asyncio.Semaphore(_MAX_GROUP_READS)
        #: One group of a session is read at a time, so that viewers share it.
        self._locks: WeakValueDictionary[UUID, asyncio.Lock] = WeakValueDictionary()

    async def frames_between(self, session_id: UUID, after: int, upto: int, limit: int) -> list[Frame] | None:
        """The stored frames after one chunk up to another; None if there are more than `limit`, or if one is missing.

        The session must not be importing: an import may begin again, with other chunks.
        """
        if upto <= after:
            return []
        if upto - after > limit:
            return None
        found: list[Frame] = []
        for number in range(after // _CHUNKS_PER_GROUP, -(-upto // _CHUNKS_PER_GROUP)):
            group = await self._group(session_id, number, needed=min(upto, (number + 1) * _CHUNKS_PER_GROUP))
            if group is None:
                return None
            found += group.between(after, upto)
        return found

    async def _group(self, session_id: UUID, number: int, *, needed: int) -> _Group | None:
        """A group with all chunks up to `needed`; None if one is missing."""
        async with self._locks.setdefault(session_id, asyncio.Lock()):
            group = self._groups.get((session_id, number))
            if group is None or group.last < needed:
                async with self._readings:
                    group = await in_database(_read, session_id, number, group)
                self._keep((session_id, number), group)
            else:
                self._groups.move_to_end((session_id, number))
        return group if group.last >= needed else None

    def _keep(self, key: tuple[UUID, int], group: _Group) -> None:
        earlier = self._groups.pop(key, None)
        self._groups[key] = group
        self._bytes += group.bytes - (earlier.bytes if earlier else 0)
        while self._bytes > _CACHE_BYTES:
            _, oldest = self._groups.popitem(last=False)
            self._bytes -= oldest.bytes


def _read(session_id: UUID, number: int, known: _Group | None) -> _Group:
    """A group with what was stored since it was read. Queries the database."""
    singles = [] if known is None else list(known.singles)
    after = singles[-1][0] if singles else number * _CHUNKS_PER_GROUP
    for chunk, data in reading.frames_after(session_id, after, limit=(number + 1) * _CHUNKS_PER_GROUP - after):
        if chunk != after + 1 or chunk > (number + 1) * _CHUNKS_PER_GROUP:
            break
        singles.append((chunk, data))
        after = chunk
    return _Group(singles)
