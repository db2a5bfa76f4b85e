"""Ringing again for sessions that have work and no live owner: the bell may have been lost, or the owner may have died."""

from __future__ import annotations

import logging
import threading
from datetime import timedelta

from django.db import DatabaseError, connection
from django.db.models import F
from django.db.models.functions import Now

from schedviz.sessions import bells
from schedviz.sessions.lease import FREE
from schedviz.sessions.models import Session

logger = logging.getLogger(__name__)

SWEEP_SECONDS = 0.5
#: An upload that is not complete after so long never will be.
_UPLOAD_HOURS = 6


def sweep(*, again: bool = False) -> int:
    """Ring for every session that nobody works at though there is work. Returns for how many. Harmless at any time, and twice.

    `again`: a worker died, and with it perhaps a turn that it had been given a moment ago; ring whoever rang last.
    """
    waiting = Session.objects.filter(FREE)
    imports = list(waiting.filter(status=Session.Status.IMPORTING, uploaded=True).values_list("pk", flat=True))
    for session_id in imports:
        bells.ring_import(session_id)
    alive = [Session.Status.READY, Session.Status.RUNNING, Session.Status.PAUSED]
    turns = list(waiting.filter(status__in=alive, applied_seq__lt=F("last_seq")).values_list("pk", flat=True))
    for session_id in turns:
        bells.ring(session_id, owned=False, again=again)
    forgotten = Session.objects.filter(
        status=Session.Status.IMPORTING, uploaded=False, created_at__lt=Now() - timedelta(hours=_UPLOAD_HOURS)
    )
    if forgotten.exists():
        forgotten.delete()
    return len(imports) + len(turns)


def sweep_until(stopped: threading.Event, *, seconds: float = SWEEP_SECONDS) -> None:
    """Sweep every few seconds, whatever happens to the database in between."""
    while not stopped.wait(seconds):
        try:
            sweep()
        except DatabaseError as error:
            logger.warning("cannot sweep now: %s", error)
            connection.close()
