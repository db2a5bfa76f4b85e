"""The lease: the exclusive right to write to a session. It lasts a few seconds by the database's clock and is fenced by the epoch.

An owner that lost its lease without noticing can do no harm: all its writes name its epoch, and then match no row.
"""

from __future__ import annotations

import os
import secrets
import socket
import threading
from collections.abc import Callable, Collection
from contextlib import suppress
from typing import Any
from uuid import UUID

import msgspec
from django.db import DatabaseError, connection, transaction
from django.db.models import Case, F, Q, When
from django.db.models.functions import Greatest

from schedviz.sessions.errors import Fenced
from schedviz.sessions.hosting.watchdog import INTERPRETER_LOCK_SECONDS
from schedviz.sessions.models import Session
from schedviz.sessions.queries.database import DatabaseSeconds

#: After this long without a renewal, another worker may take the session.
LEASE_SECONDS = 6.0
RENEWAL_SECONDS = LEASE_SECONDS / 3
#: The same for an import. One step of C code may hold the interpreter lock, and then no thread renews the lease. This is longer than
#: `INTERPRETER_LOCK_SECONDS`, after which the process ends, so that two processes never run the same import.
IMPORT_LEASE_SECONDS = INTERPRETER_LOCK_SECONDS + 4.0
#: `lease_owner` of a session that is backing off. Stored sessions have this value, so it stays.
BACKOFF_OWNER = "resting"
#: `trying_seq` of a session that has backed off since its last owner crashed: the next owner loads it.
SEQ_AFTER_BACKOFF = -1
#: `tries` of a command that is known to have been stuck in its owner's process: the next owner quarantines it without another attempt.
TRIES_OF_STUCK_COMMAND = 1_000

#: The longest backoff of a session.
MAX_BACKOFF_SECONDS = 300.0
#: A lease that ends later than any can was given before the database's clock was set back. A live owner renews it within `RENEWAL_SECONDS`
#: or is fenced.
_BEFORE_CLOCK_WAS_SET_BACK = Q(lease_until__gt=DatabaseSeconds() + 2 * MAX_BACKOFF_SECONDS) | (
    Q(lease_until__gt=DatabaseSeconds() + 2 * LEASE_SECONDS) & ~Q(lease_owner=BACKOFF_OWNER) & ~Q(status=Session.Status.IMPORTING)
)
FREE = Q(lease_owner="") | Q(lease_until__lt=DatabaseSeconds()) | _BEFORE_CLOCK_WAS_SET_BACK


class Lease(msgspec.Struct, frozen=True):
    """The right to write to a session, valid while the session's epoch is this one."""

    session_id: UUID
    owner: str
    epoch: int
    #: The duration without a renewal.
    seconds: float = LEASE_SECONDS


def owner_prefix() -> str:
    """The prefix of this process's owner names: SCHEDVIZ_OWNER, set by a supervisor that clears its workers' leases, or a unique one."""
    return os.environ.get("SCHEDVIZ_OWNER") or f"{socket.gethostname()}-{os.getpid()}"


def new_owner() -> str:
    """A name for the owner of a lease, which begins with that of this process."""
    return f"{owner_prefix()}.{secrets.token_hex(4)}"


def acquire(
    session_id: UUID, *, importing: bool = False, uploaded: bool = True, admits: Callable[[UUID], bool] = lambda _: True
) -> tuple[Lease, Session] | None:
    """Take the lease; returns it and the stored session, or None if a live owner has it or the session cannot be hosted.

    A session that is being imported can be taken only for `importing`: once its uploads are complete or, with `uploaded` False, before
    that, by a worker that makes the uploads itself (as for the trial of an experiment). A failed session cannot be taken. `admits` is
    called in the transaction that takes the lease; False: not now.

    Counts an acquisition. Applying a command resets the count to one, and releasing the lease gracefully resets it to zero.
    """
    if not _is_free(session_id):
        return None
    seconds = IMPORT_LEASE_SECONDS if importing else LEASE_SECONDS
    owner = new_owner()
    wanted = Q(status=Session.Status.IMPORTING, uploaded=uploaded) if importing else Q(status__in=Session.OPEN_STATUSES)
    with transaction.atomic():
        if not admits(session_id):
            return None
        taken = (
            Session.objects.filter(wanted, pk=session_id)
            .filter(FREE)
            .update(epoch=F("epoch") + 1, acquisitions=F("acquisitions") + 1, lease_owner=owner, lease_until=DatabaseSeconds() + seconds)
        )
        if not taken:
            return None
        session = Session.objects.get(pk=session_id)
    return Lease(session_id=session_id, owner=owner, epoch=session.epoch, seconds=seconds), session


def _is_free(session_id: UUID) -> bool:
    """A cheap check that usually turns a second worker away without taking SQLite's write lock."""
    return Session.objects.filter(FREE, pk=session_id).exists()


def try_update(lease: Lease, **values: Any) -> bool:
    """Update the session's row if the lease still holds; False if another owner has it or the session was deleted."""
    return Session.objects.filter(pk=lease.session_id, epoch=lease.epoch).update(**values) == 1


def require_update(lease: Lease, **values: Any) -> None:
    """As `try_update`. Raises `Fenced` instead of returning False."""
    if not try_update(lease, **values):
        raise Fenced(lease.session_id)


def renewed(lease: Lease) -> Any:
    """The new end of the lease, for renewal within another statement."""
    return DatabaseSeconds() + lease.seconds


def renew(lease: Lease) -> bool:
    """Renew the lease; False if it has been lost."""
    return try_update(lease, lease_until=renewed(lease))


def renew_all(leases: Collection[Lease]) -> list[Lease]:
    """Renew all leases, those of one duration in one statement; returns those that have been lost."""
    return [lost for seconds in sorted({lease.seconds for lease in leases}) for lost in _renew_alike(leases, seconds)]


def _renew_alike(leases: Collection[Lease], seconds: float) -> list[Lease]:
    alike = [lease for lease in leases if lease.seconds == seconds]
    held = Q(pk=None)
    for lease in alike:
        held |= Q(pk=lease.session_id, epoch=lease.epoch)
    rows = Session.objects.filter(held)
    if rows.update(lease_until=DatabaseSeconds() + seconds) == len(alike):
        return []
    still = set(rows.values_list("pk", flat=True))
    return [lease for lease in alike if lease.session_id not in still]


def announce(lease: Lease, seq: int) -> bool:
    """Store the number of the command that is about to run, in case it crashes the process; False if fenced."""
    return try_update(lease, tries=Case(When(trying_seq=seq, then=F("tries") + 1), default=1), trying_seq=seq)


def discount(lease: Lease) -> None:
    """Do not count this attempt at the announced command: the database failed, which says nothing about the command. An attempt that took
    the database down counts, because this does nothing then.
    """
    # The connection may be the broken one.
    connection.close()
    with suppress(DatabaseError):
        try_update(lease, tries=Greatest(F("tries") - 1, 0))


def announce_stuck(lease: Lease, seq: int) -> bool:
    """Store the number of a command that is stuck. If the process has to end for it, the next owner quarantines it. False if fenced."""
    return try_update(lease, tries=TRIES_OF_STUCK_COMMAND, trying_seq=seq)


def release_idle(lease: Lease) -> bool:
    """Release the session if it has no work; False if work arrived or the lease is lost."""
    return (
        Session.objects.filter(pk=lease.session_id, epoch=lease.epoch, applied_seq=F("last_seq")).update(
            lease_owner="", lease_until=0.0, acquisitions=0, trying_seq=0, tries=0
        )
        == 1
    )


def release(lease: Lease, *, gracefully: bool = True) -> None:
    """Release the session even if it has work. Unless `gracefully`, the acquisition stays counted."""
    values: dict[str, Any] = {"lease_owner": "", "lease_until": 0.0}
    if gracefully:
        values |= {"acquisitions": 0, "trying_seq": 0, "tries": 0}
    try_update(lease, **values)


def back_off(lease: Lease, seconds: float, message: str, *, has_tried: bool) -> bool:
    """Back off: release the session for a while; the sweeper then wakes a worker. False if fenced.

    `has_tried`: this owner tried to load the session, so the acquisition counts.
    """
    counted = F("acquisitions") if has_tried else Greatest(F("acquisitions") - 1, 0)
    return try_update(
        lease,
        lease_owner=BACKOFF_OWNER,
        lease_until=DatabaseSeconds() + seconds,
        acquisitions=counted,
        trying_seq=SEQ_AFTER_BACKOFF,
        tries=0,
        message=message,
    )


def clear_owner(prefix: str, *, but: str = "", killed_externally: bool = False) -> int:
    """Clear the leases of a process that has ended, so that other workers take over immediately. Returns how many.

    `but`: a longer prefix whose owners are alive. `killed_externally`: the process was ended from outside, so none of its sessions is
    suspected.
    """
    values: dict[str, Any] = {"lease_owner": "", "lease_until": 0.0}
    if killed_externally:
        values |= {"acquisitions": Greatest(F("acquisitions") - 1, 0), "tries": Greatest(F("tries") - 1, 0)}
    rows = Session.objects.filter(lease_owner__startswith=f"{prefix}.")
    return (rows.exclude(lease_owner__startswith=f"{but}.") if but else rows).update(**values)


def cancelled_among(leases: Collection[Lease]) -> list[Lease]:
    """The leases of imports that users have cancelled."""
    importing = Session.objects.filter(
        pk__in=[lease.session_id for lease in leases], status=Session.Status.IMPORTING, cancel_requested=True
    )
    cancelled = set(importing.values_list("pk", flat=True))
    return [lease for lease in leases if lease.session_id in cancelled]


class LeaseRenewer:
    """A thread that renews the leases of this process while other threads compute."""

    def __init__(self) -> None:
        self._leases: dict[UUID, Lease] = {}
        #: For imports: what to call when the import is no longer wanted.
        self._on_end: dict[UUID, Callable[[], object]] = {}
        self._lock = threading.Lock()
        #: Held while the leases are renewed.
        self._renewing = threading.Lock()
        self._thread: threading.Thread | None = None

    def hold(self, lease: Lease, *, on_end: Callable[[], object] | None = None) -> None:
        """Renew a lease from now on. `on_end`, for an import: called in the renewing thread, maybe more than once, when the lease is lost,
        the session was deleted or the import was cancelled."""
        with self._lock:
            self._leases[lease.session_id] = lease
            if on_end is not None:
                self._on_end[lease.session_id] = on_end
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._renew_for_ever, name="lease-renewals", daemon=True)
                self._thread.start()

    def drop(self, lease: Lease) -> None:
        with self._lock:
            if self._leases.get(lease.session_id) == lease:
                del self._leases[lease.session_id]
                self._on_end.pop(lease.session_id, None)

    def wait_for_renewal(self) -> None:
        """Return when no renewal is running: one that has begun also renews a lease that was dropped meanwhile."""
        with self._renewing:
            pass

    def _renew_for_ever(self) -> None:
        pause = threading.Event()
        has_leases = True
        while has_leases:
            pause.wait(RENEWAL_SECONDS)
            with self._renewing:
                has_leases = self._renew_once()
        connection.close()

    def _renew_once(self) -> bool:
        """Renew the leases; False if there are none, and this thread ends."""
        with self._lock:
            leases = list(self._leases.values())
            on_end = dict(self._on_end)
            if not leases:
                self._thread = None
                return False
        try:
            lost = renew_all(leases)
            cancelled = cancelled_among([lease for lease in leases if lease.session_id in on_end]) if on_end else []
            for lease in [*lost, *cancelled]:
                if (end := on_end.get(lease.session_id)) is not None:
                    end()
            for lease in lost:
                self.drop(lease)
        except DatabaseError:
            # The next round tries again. If a lease ends meanwhile, the epoch fences its owner.
            connection.close()
        return True


LEASE_RENEWER = LeaseRenewer()
