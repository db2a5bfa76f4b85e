"""What became of requests with an `Idempotency-Key`, stored as soon as the database can be reached.

A request may end because the database is down. Without its outcome, its key would say "still running" until a crash of the server must be
the reason.
"""

from __future__ import annotations

import threading
from typing import Final, TypedDict

import structlog
from django.db import DatabaseError, connection

from schedviz.sessions.interval import DelayedCall
from schedviz.web.api.models import AnsweredRequest

log = structlog.get_logger(__name__)

_RETRY_SECONDS: Final = 1.0


class StoredResponse(TypedDict):
    """The response that a repeated request gets."""

    status: int
    location: str
    body: bytes


_lock = threading.Lock()
#: The outcomes that could not be stored yet, by the ID of their requests' rows; None: the request failed, so its key becomes free.
_unstored: dict[int, StoredResponse | None] = {}


def store_outcome(request_id: int, response: StoredResponse | None) -> None:
    """Store the response of a request, or free its key (None): later, if the database cannot be reached."""
    try:
        _store(request_id, response)
    except DatabaseError as error:
        with _lock:
            _unstored[request_id] = response
        log.warning("the outcome of a request with an Idempotency-Key will be stored later: %s", error)
        _RETRY.request()


def _store(request_id: int, response: StoredResponse | None) -> None:
    running = AnsweredRequest.objects.filter(pk=request_id, status=0)
    if response is None:
        running.delete()
    else:
        running.update(**response)


def _store_waiting() -> None:
    """Store what waits, in a thread of its own. Tries again after a while if the database is still down."""
    try:
        with _lock:
            waiting = dict(_unstored)
        for request_id, response in waiting.items():
            _store(request_id, response)
            with _lock:
                del _unstored[request_id]
    except DatabaseError:
        _RETRY.request()
    finally:
        connection.close()


_RETRY: Final = DelayedCall(_store_waiting, _RETRY_SECONDS)
