"""The queue of one viewer: frames, limited in bytes, and short texts. When it overflows, frames are dropped, and a view follows."""

from __future__ import annotations

from collections import deque

import msgspec

from schedviz.sessions.metrics import process as process_metrics
from schedviz.web.live.client_names import ClientNames
from schedviz.web.live.close_codes import CloseCode
from schedviz.web.live.outbox import Outbox


class Frame(msgspec.Struct, frozen=True):
    """A compressed frame with the events of the chunks `first` to `last`."""

    first: int
    last: int
    data: bytes


class Text(msgspec.Struct, frozen=True):
    """A JSON text."""

    data: bytes


#: The maximum number of waiting texts; a viewer that does not read them is disconnected.
MAX_TEXTS = 2000


class Viewer(Outbox):
    """An open socket or event stream, as the hub sees it."""

    def __init__(self, byte_limit: int, names: ClientNames) -> None:
        super().__init__()
        self.names = names
        self._byte_limit = byte_limit
        self._items: deque[Frame | Text] = deque()
        self._bytes = 0
        self._texts = 0
        #: The first chunk that was dropped because the viewer is slow; 0 if none was.
        self.dropped = 0
        #: The state was replaced without events (an import ended): the next message must be a view.
        self.needs_view = False
        #: The viewer asked to continue after this chunk.
        self.resume: int | None = None

    @property
    def has_items(self) -> bool:
        return bool(self._items or self.dropped or self.needs_view or self.resume is not None)

    @property
    def is_finished(self) -> bool:
        """Closes immediately: a viewer that is too slow would not read the waiting messages."""
        return bool(self.close_code)

    def offer(self, frame: Frame) -> None:
        """Queue a frame. Over the limit, the queue is emptied and `dropped` is set."""
        if self.dropped:
            return
        if self._bytes + len(frame.data) > self._byte_limit and self._items:
            process_metrics.OVERFLOWS.inc()
            frames = [item for item in self._items if isinstance(item, Frame)]
            self.dropped = frames[0].first if frames else frame.first
            self._items = deque(item for item in self._items if isinstance(item, Text))
            self._bytes = 0
        else:
            self._items.append(frame)
            self._bytes += len(frame.data)
        self._awake.set()

    def queue_text(self, text: bytes) -> None:
        """Queue a text. Over `MAX_TEXTS` the socket is closed."""
        if self.close_code:
            return
        if self._texts >= MAX_TEXTS:
            self.close(CloseCode.TOO_SLOW)
            return
        self._texts += 1
        self._items.append(Text(text))
        self._awake.set()

    def request_view(self) -> None:
        """Make the next message a view."""
        self.needs_view = True
        self._awake.set()

    def resume_from(self, chunk: int) -> None:
        """Make the next message continue after this chunk."""
        self.resume = chunk
        self._awake.set()

    def clear_queue(self) -> None:
        """Drop the waiting frames. Call before a view is sent or the frames are read again."""
        self._items = deque(item for item in self._items if isinstance(item, Text))
        self._bytes = 0
        self.dropped = 0
        self.needs_view = False

    def next_item(self) -> Frame | Text | None:
        """The next item to send; None if nothing waits."""
        if not self._items:
            return None
        item = self._items.popleft()
        if isinstance(item, Frame):
            self._bytes -= len(item.data)
        else:
            self._texts -= 1
        return item
