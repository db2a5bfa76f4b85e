"""Limits the bytes of responses that are being sent: a client that reads slowly keeps its response in memory."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from django.conf import settings
from django.http import HttpResponse

from schedviz.sessions import heap_trim
from schedviz.web.api.errors import refusal
from schedviz.web.server.fair_shares import FairShares

#: Smaller responses are not counted.
COUNTED_BYTES: Final = 256 * 1024
#: After a response of this size, freed memory is given back to the system: making it took several times as much.
_TRIMMED_BYTES: Final = 4 << 20
#: What DRF keeps of a response for its renderers: the data before encoding takes several times its size.
_RENDERING: Final = ("data", "accepted_renderer", "accepted_media_type", "renderer_context")


class ResponseLimit:
    """The large responses that this process is sending, by requester. Used in the event loop only."""

    def __init__(self) -> None:
        self._sending = FairShares()
        self._trim = heap_trim.SOON

    @contextmanager
    def counted(self, response: Any, requester: str) -> Iterator[HttpResponse]:
        """Count a complete response while it is sent, and yield it, or a 503 in its place above a limit.

        All share SCHEDVIZ_RESPONSE_BYTES (`FairShares`). The only one is always sent.
        """
        size = len(response.content)
        if size < COUNTED_BYTES:
            yield response
            return
        if not self._sending.admits(requester, settings.RESPONSE_BYTES, size):
            message = (
                f"This server is sending {self._sending.total:,} bytes of large responses, {self._sending.of(requester):,} of them to you. "
                f"It sends {settings.RESPONSE_BYTES:,} at a time (SCHEDVIZ_RESPONSE_BYTES), and to one user, or to all without an account, "
                "half of what others leave. Try again later."
            )
            yield refusal(503, "busy", message, headers={"Retry-After": "10"})
            return
        self._sending.add(requester, size)
        try:
            yield response
        finally:
            self._sending.add(requester, -size)
            if size >= _TRIMMED_BYTES:
                self._trim.request()


def drop_rendering_data(response: Any) -> None:
    """Release what a rendered response of DRF was made from."""
    for name in _RENDERING:
        response.__dict__.pop(name, None)
