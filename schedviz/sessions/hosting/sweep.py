"""Ringing again for sessions that have work and no live owner: the bell may have been lost, or the owner may have died."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from datetime import timedelta

from django.db import DatabaseError, connection
from django.db.models import F
from django.db.models.functions import Now

from schedviz.sessions.hosting.lease import FREE
from schedviz.sessions.models import Session
from schedviz.sessions.redis import wakeups
from schedviz.sessions.uploads import upload_keys

logger = logging.getLogger(__name__)

SWEEP_SECONDS = 0.5
#: What others have swept is swept so often.
_SELDOM_SECONDS = 10.0
#: An upload that is not complete after so long never will be.
_UPLOAD_HOURS = 6

_others: list[Callable[[], None]] = []
_others_due = 0.0


def seldom(also: Callable[[], None]) -> None:
    """Have something swept along, every few seconds: of packages above this one, which is not to know them."""
    _others.append(also)


def sweep(*, again: bool = False) -> int:
    """Ring for every session that nobody works at though there is work. Returns for how many. Harmless at any time, and twice.

    `again`: a worker died, and with it perhaps a turn that it had been given a moment ago; ring whoever rang last.
    """
    waiting = Session.objects.filter(FREE)
    imports = list(waiting.filter(status=Session.Status.IMPORTING, uploaded=True).values_list("pk", flat=True))
    for session_id in imports:
        wakeups.notify_import(session_id)
    alive = [Session.Status.READY, Session.Status.RUNNING, Session.Status.PAUSED]
    turns = list(waiting.filter(status__in=alive, applied_seq__lt=F("last_seq")).values_list("pk", flat=True))
    for session_id in turns:
        wakeups.notify(session_id, owned=False, again=again)
    forgotten = Session.objects.filter(
        status=Session.Status.IMPORTING, uploaded=False, created_at__lt=Now() - timedelta(hours=_UPLOAD_HOURS)
    )
    for session_id in list(forgotten.values_list("pk", flat=True)):
        Session.objects.filter(pk=session_id).delete()
        upload_keys.forget(session_id)
    _sweep_others()
    return len(imports) + len(turns)


def _sweep_others() -> None:
    global _others_due  # noqa: PLW0603
    if time.monotonic() < _others_due:
        return
    _others_due = time.monotonic() + _SELDOM_SECONDS
    for also in _others:
        also()


def sweep_until(stopped: threading.Event, *, seconds: float = SWEEP_SECONDS) -> None:
    """Sweep every few seconds, whatever happens to the database in between."""
    while not stopped.wait(seconds):
        try:
            sweep()
        except DatabaseError as error:
            logger.warning("cannot sweep now: %s", error)
            connection.close()
