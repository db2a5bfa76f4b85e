"""The hub: one `Feed` for each session with viewers in this process."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Collection
from uuid import UUID
from weakref import WeakKeyDictionary

from django.conf import settings

from schedviz.sessions.metrics import process as process_metrics
from schedviz.sessions.redis import stream
from schedviz.web.live.catch_up import CatchUp
from schedviz.web.live.client_names import ClientNames
from schedviz.web.live.feed import Feed
from schedviz.web.live.viewer import Viewer

#: The part of the limits that clients without an identity, such as holders of share links, may use together.
_ANONYMOUS_PART = 0.8
#: The largest share of this process's sockets that one user or participant may use, in all sessions together.
_MAX_SOCKET_SHARE = 0.25
#: The clients without an account of one address have this many times the sockets of one user: several people may be behind it.
_ADDRESS_FACTOR = 2
#: How many views of large sessions are read at a time: each takes seconds of the interpreter.
_MAX_LARGE_VIEW_READS = 2


class Full(Exception):
    """A limit on open sockets is reached: of the viewer, the session or this process."""


class Hub:
    """The feeds of one event loop, and the limits on its sockets."""

    def __init__(self) -> None:
        self._feeds: dict[UUID, Feed] = {}
        self._sockets = 0
        self._anonymous = 0
        #: Sockets by identity.
        self._by_identity: Counter[str] = Counter()
        #: Sockets by group of an address.
        self._by_address: Counter[str] = Counter()
        self._catch_up = CatchUp()
        self._large_views = asyncio.Semaphore(_MAX_LARGE_VIEW_READS)
        self._ending: set[asyncio.Task[None]] = set()

    async def join(self, session_id: UUID, names: ClientNames) -> tuple[Feed, Viewer]:
        """A new viewer of a session, which receives everything from now on. Raises `Full`."""
        feed = self._feeds.get(session_id)
        viewers = feed.viewers if feed is not None else ()
        self._require_address_below_limits(names.address_group, viewers)
        self._require_below_limits(names.identity, viewers)
        if feed is None:
            feed = self._feeds[session_id] = Feed(session_id, stream.async_client(), self._catch_up, self._large_views)
            process_metrics.FEEDS.inc()
        viewer = Viewer(settings.VIEWER_QUEUE_BYTES, names)
        feed.viewers.add(viewer)
        self._sockets += 1
        self._anonymous += not names.identity
        self._by_identity[names.identity] += 1
        self._by_address[names.address_group] += 1
        process_metrics.VIEWERS.inc()
        try:
            await feed.ready()
        except asyncio.CancelledError:
            self.leave(feed, viewer)
            raise
        return feed, viewer

    def leave(self, feed: Feed, viewer: Viewer) -> None:
        """Remove a viewer. The feed of a session ends with its last viewer."""
        feed.viewers.discard(viewer)
        self._sockets -= 1
        identity, address_group = viewer.names
        self._anonymous -= not identity
        self._by_identity[identity] -= 1
        if not self._by_identity[identity]:
            del self._by_identity[identity]
        self._by_address[address_group] -= 1
        if not self._by_address[address_group]:
            del self._by_address[address_group]
        process_metrics.VIEWERS.dec()
        if not feed.viewers and self._feeds.get(feed.session_id) is feed:
            del self._feeds[feed.session_id]
            process_metrics.FEEDS.dec()
            ending = asyncio.create_task(feed.end(), name=f"end of feed {feed.session_id}")
            self._ending.add(ending)
            ending.add_done_callback(self._ending.discard)

    def _require_address_below_limits(self, address_group: str, viewers: Collection[Viewer]) -> None:
        if not address_group:
            return
        same, limit = sum(viewer.names.address_group == address_group for viewer in viewers), _ADDRESS_FACTOR * settings.SOCKETS_PER_VIEWER
        if same >= limit:
            raise Full(
                f"Clients without an account have {same} open sockets for this session from your address; the limit is "
                f"{_ADDRESS_FACTOR} times SCHEDVIZ_SOCKETS_PER_VIEWER."
            )
        if (everywhere := self._by_address[address_group]) >= max(limit, _MAX_SOCKET_SHARE * settings.SOCKETS):
            raise Full(
                f"Clients without an account have {everywhere} open sockets on this server from your address; the limit is "
                f"{_ADDRESS_FACTOR} times SCHEDVIZ_SOCKETS_PER_VIEWER, or a quarter of SCHEDVIZ_SOCKETS if that is more. Close some."
            )

    def _require_below_limits(self, identity: str, viewers: Collection[Viewer]) -> None:
        if self._sockets >= settings.SOCKETS:
            raise Full(f"This server has {settings.SOCKETS} open sockets, the limit SCHEDVIZ_SOCKETS.")
        if len(viewers) >= settings.SOCKETS_PER_SESSION:
            raise Full(f"This session has {settings.SOCKETS_PER_SESSION} open sockets, the limit SCHEDVIZ_SOCKETS_PER_SESSION.")
        same = sum(viewer.names.identity == identity for viewer in viewers)
        if identity and same >= settings.SOCKETS_PER_VIEWER:
            raise Full(f"You have {same} open sockets for this session, the limit SCHEDVIZ_SOCKETS_PER_VIEWER.")
        own, limit = self._by_identity[identity] if identity else 0, max(settings.SOCKETS_PER_VIEWER, _MAX_SOCKET_SHARE * settings.SOCKETS)
        if own >= limit:
            raise Full(
                f"You have {own} open sockets on this server; the limit is SCHEDVIZ_SOCKETS_PER_VIEWER, or a quarter of SCHEDVIZ_SOCKETS "
                "if that is more. Close some."
            )
        if not identity and same >= _ANONYMOUS_PART * settings.SOCKETS_PER_SESSION:
            raise Full(
                f"This session has {same} anonymous sockets; the rest of SCHEDVIZ_SOCKETS_PER_SESSION is reserved for signed-in users."
            )
        if not identity and self._anonymous >= _ANONYMOUS_PART * settings.SOCKETS:
            raise Full(
                f"This server has {self._anonymous} anonymous sockets; the rest of SCHEDVIZ_SOCKETS is reserved for signed-in users."
            )


_hubs: WeakKeyDictionary[asyncio.AbstractEventLoop, Hub] = WeakKeyDictionary()


def hub() -> Hub:
    """The hub of this event loop."""
    loop = asyncio.get_running_loop()
    existing = _hubs.get(loop)
    if existing is None:
        existing = _hubs[loop] = Hub()
    return existing
