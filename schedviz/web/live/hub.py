"""The hub: one `Feed` for each session that somebody in this process looks at."""

from __future__ import annotations

import asyncio
from uuid import UUID
from weakref import WeakKeyDictionary

from django.conf import settings

from schedviz.sessions.metrics import process as measured
from schedviz.sessions.redis import stream
from schedviz.web.live.feed import Feed
from schedviz.web.live.viewer import Viewer


class Full(Exception):  # noqa: N818 - says what is the matter
    """Too many sockets are open, of the session or of this process."""


class Hub:
    """The feeds of one event loop."""

    def __init__(self) -> None:
        self._feeds: dict[UUID, Feed] = {}
        self._sockets = 0
        self._ending: set[asyncio.Task[None]] = set()

    async def join(self, session_id: UUID) -> tuple[Feed, Viewer]:
        """A new viewer of a session. Whatever happens from now on waits for it. Raises `Full`."""
        feed = self._feeds.get(session_id)
        if self._sockets >= settings.SOCKETS:
            raise Full(f"{settings.SOCKETS} sockets are open, the limit SCHEDVIZ_SOCKETS of this server.")
        if feed is not None and len(feed.viewers) >= settings.SOCKETS_PER_SESSION:
            raise Full(f"{settings.SOCKETS_PER_SESSION} look at this session, the limit SCHEDVIZ_SOCKETS_PER_SESSION of this server.")
        if feed is None:
            feed = self._feeds[session_id] = Feed(session_id, stream.async_client())
            measured.FEEDS.inc()
        viewer = Viewer(settings.VIEWER_QUEUE_BYTES)
        feed.viewers.add(viewer)
        self._sockets += 1
        measured.VIEWERS.inc()
        try:
            await feed.ready()
        except asyncio.CancelledError:
            self.leave(feed, viewer)
            raise
        return feed, viewer

    def leave(self, feed: Feed, viewer: Viewer) -> None:
        """The viewer has gone; the last one of a session ends its feed."""
        feed.viewers.discard(viewer)
        self._sockets -= 1
        measured.VIEWERS.dec()
        if not feed.viewers and self._feeds.get(feed.session_id) is feed:
            del self._feeds[feed.session_id]
            measured.FEEDS.dec()
            ending = asyncio.create_task(feed.end(), name=f"end of feed {feed.session_id}")
            self._ending.add(ending)
            ending.add_done_callback(self._ending.discard)


_hubs: WeakKeyDictionary[asyncio.AbstractEventLoop, Hub] = WeakKeyDictionary()


def hub() -> Hub:
    """The hub of this event loop."""
    loop = asyncio.get_running_loop()
    found = _hubs.get(loop)
    if found is None:
        found = _hubs[loop] = Hub()
    return found
