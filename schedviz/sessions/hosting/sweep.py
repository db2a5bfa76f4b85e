"""The sweeper: wakes workers again for sessions that have work and no live owner, after a lost wake-up or a crash of the owner."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from datetime import timedelta

from django.db import DatabaseError, connection
from django.db.models import Exists, F, OuterRef
from django.db.models.functions import Greatest, Now

from schedviz.sessions.experiments import dispatch, trial_sessions
from schedviz.sessions.hosting import import_turns
from schedviz.sessions.hosting.lease import FREE
from schedviz.sessions.hosting.steady_clock import CLOCK
from schedviz.sessions.interval import Interval
from schedviz.sessions.models import Checkpoint, Session
from schedviz.sessions.queries import prepared
from schedviz.sessions.redis import wakeups
from schedviz.sessions.uploads import upload_keys
from schedviz.sessions.uploads.stored_files import missing_keys

logger = logging.getLogger(__name__)

SWEEP_SECONDS = 0.5
#: Interval of the sweeps that other packages register.
_PERIODIC_SECONDS = 10.0
#: An incomplete upload is deleted when nothing of it has been stored for this time: the web server that received it has ended. Uploads
#: are received before they are stored, so a slow client makes no difference.
UPLOAD_MINUTES = 10
#: A failed import, which has nothing but its error message, is deleted after this time.
_FAILED_IMPORT_HOURS = 1

_periodic_sweeps: list[Callable[[], None]] = []
_periodic_interval = Interval(_PERIODIC_SECONDS)


def register_periodic_sweep(periodic_sweep: Callable[[], None]) -> None:
    """Register a sweep of a package above this one, which this package must not import. It runs every `_PERIODIC_SECONDS`.

    What it deletes by its age it deletes only while `steady_clock.CLOCK.is_steady()`.
    """
    _periodic_sweeps.append(periodic_sweep)


def sweep(*, force: bool = False) -> int:
    """Wake a worker for every session with work and without an owner. Idempotent.

    Returns the number of sessions that wait for a worker: those with commands, and all imports, also those whose turn has not come.

    `force`: a worker crashed, perhaps with a task that it had just fetched, so wake-ups that were sent a moment ago are sent again.
    """
    # One statement in place of four queries, twice a second on every machine, when nothing waits.
    count = _sweep_sessions(force=force) if prepared.has_unfinished_session(Session.Status.IMPORTING, Session.OPEN_STATUSES) else 0
    dispatch.sweep(force=force)
    _run_periodic_sweeps()
    return count


def _sweep_sessions(*, force: bool) -> int:
    waiting = Session.objects.filter(FREE)
    imports = waiting.filter(status=Session.Status.IMPORTING, uploaded=True).order_by("created_at")
    owners = dict(imports.values_list("pk", "owner_id"))
    of_files = import_turns.are_of_files(owners)
    # Without the keys of its files an import takes no turn. If they are lost, it fails, which needs none.
    without_key = missing_keys([session_id for session_id, is_of_files in of_files.items() if is_of_files])
    waiting_imports = [(session_id, owner_id, of_files[session_id]) for session_id, owner_id in owners.items()]
    begun = import_turns.may_begin([one for one in waiting_imports if one[0] not in without_key])
    for session_id in [*begun, *(session_id for session_id, is_lost in without_key.items() if is_lost)]:
        wakeups.notify_import(session_id)
    unhosted = list(waiting.filter(status__in=Session.OPEN_STATUSES, applied_seq__lt=F("last_seq")).values_list("pk", flat=True))
    for session_id in unhosted:
        wakeups.notify(session_id, owned=False, force=force)
    trial_sessions.sweep()
    return len(waiting_imports) + len(unhosted)


def _run_periodic_sweeps() -> None:
    if not _periodic_interval.is_due():
        return
    if CLOCK.is_steady():
        _delete_interrupted_uploads()
        _delete_failed_imports()
    for periodic_sweep in _periodic_sweeps:
        periodic_sweep()


def _delete_interrupted_uploads() -> None:
    # The session of a trial waits for a worker, which stores the file.
    uploading = Session.objects.filter(status=Session.Status.IMPORTING, uploaded=False).exclude(source__has_key="experiment")
    # `created_at` is by the database's clock also on a web server whose own clock is wrong.
    stalled = uploading.annotate(progressed_at=Greatest("created_at", "updated_at")).filter(
        progressed_at__lt=Now() - timedelta(minutes=UPLOAD_MINUTES)
    )
    for session_id in list(stalled.values_list("pk", flat=True)):
        logger.warning("session %s is deleted: its upload was interrupted", session_id)
        Session.objects.filter(pk=session_id, uploaded=False).delete()
        upload_keys.delete_key(session_id)


def _delete_failed_imports() -> None:
    failed = Session.objects.filter(status=Session.Status.FAILED, created_at__lt=Now() - timedelta(hours=_FAILED_IMPORT_HOURS))
    # A session with a checkpoint was ready once: it failed later, and its history can be read.
    failed.exclude(Exists(Checkpoint.objects.filter(session=OuterRef("pk")))).delete()


def sweep_until(stopped: threading.Event, *, seconds: float = SWEEP_SECONDS) -> None:
    """Sweep at an interval, and continue after database errors."""
    while not stopped.wait(seconds):
        try:
            sweep()
        except DatabaseError as error:
            logger.warning("the sweep failed and will be repeated: %s", error)
            connection.close()
