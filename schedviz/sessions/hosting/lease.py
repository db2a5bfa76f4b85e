"""Who may write to a session: one owner at a time, for a few seconds by the database's clock, fenced by the epoch.

An owner that lost its lease without knowing can do no harm: every write of it names its epoch and then matches no row.
"""

from __future__ import annotations

import os
import secrets
import socket
import threading
from collections.abc import Collection
from typing import Any
from uuid import UUID

import msgspec
from django.db import DatabaseError, connection, transaction
from django.db.models import Case, F, Q, When
from django.db.models.functions import Greatest

from schedviz.sessions.hosting.watchdog import INTERPRETER_LOCK_SECONDS
from schedviz.sessions.models import Session
from schedviz.sessions.queries.database import DatabaseSeconds

#: After this long without a renewal anybody may take the session.
LEASE_SECONDS = 6.0
RENEWAL_SECONDS = LEASE_SECONDS / 3
#: The same for an import. A step in C code may hold the interpreter lock, and then no thread renews the lease: it is longer than
#: `INTERPRETER_LOCK_SECONDS`, after which the process ends, so that two processes never do the same import.
IMPORT_LEASE_SECONDS = INTERPRETER_LOCK_SECONDS + 4.0
#: Has the lease of a session that is left alone for a while.
BACKING_OFF = "resting"
#: `trying_seq` of a session that has been left alone since its last owner died: the next one is to load it.
RESTED = -1
#: `tries` of a command that is known to have stopped its owner's process: the next owner quarantines it without another try.
STUCK = 1_000

#: A session is left alone for so long at most.
LONGEST_REST_SECONDS = 300.0
#: A lease that ends later than any can was given before the database's clock was set back. Its owner, if it lives, has it renewed within
#: `RENEWAL_SECONDS`, or is fenced.
_OF_ANOTHER_TIME = Q(lease_until__gt=DatabaseSeconds() + 2 * LONGEST_REST_SECONDS) | (
    Q(lease_until__gt=DatabaseSeconds() + 2 * LEASE_SECONDS) & ~Q(lease_owner=BACKING_OFF) & ~Q(status=Session.Status.IMPORTING)
)
FREE = Q(lease_owner="") | Q(lease_until__lt=DatabaseSeconds()) | _OF_ANOTHER_TIME


class Lease(msgspec.Struct, frozen=True):
    """The right to write to a session, as long as its epoch is this one."""

    session_id: UUID
    owner: str
    epoch: int
    #: How long it lasts without a renewal.
    seconds: float = LEASE_SECONDS


def owner_prefix() -> str:
    """What the names of this process's owners begin with: SCHEDVIZ_OWNER, set by a supervisor who clears them, else its own."""
    return os.environ.get("SCHEDVIZ_OWNER") or f"{socket.gethostname()}-{os.getpid()}"


def acquire(session_id: UUID, *, importing: bool = False) -> tuple[Lease, Session] | None:
    """The lease and the session as it is stored, or None when somebody alive has it, or there is no session to work at: one that is being
    imported is given for `importing` alone, and then only when all of it has arrived; one that failed to nobody.

    Counts an acquisition; whoever applies something sets the count back to one, whoever leaves in order to none.
    """
    if not _is_free(session_id):
        return None
    seconds = IMPORT_LEASE_SECONDS if importing else LEASE_SECONDS
    owner = f"{owner_prefix()}.{secrets.token_hex(4)}"
    imported = [Session.Status.READY, Session.Status.RUNNING, Session.Status.PAUSED]
    wanted = Q(status=Session.Status.IMPORTING, uploaded=True) if importing else Q(status__in=imported)
    with transaction.atomic():
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
    """Nearly always the last word for who comes second, without the one lock that SQLite has for all who write."""
    return Session.objects.filter(FREE, pk=session_id).exists()


def fenced_update(lease: Lease, **values: Any) -> bool:
    """Write to the session's row if the lease still holds; False: another owner has it, or it was deleted."""
    return Session.objects.filter(pk=lease.session_id, epoch=lease.epoch).update(**values) == 1


def renewed(lease: Lease) -> Any:
    """The end of the lease if it is renewed in the statement with this."""
    return DatabaseSeconds() + lease.seconds


def renew(lease: Lease) -> bool:
    """Renew the lease; False: it is too late."""
    return fenced_update(lease, lease_until=renewed(lease))


def renew_all(leases: Collection[Lease]) -> list[Lease]:
    """Renew all of them, those of one length in one statement; returns those for which it is too late."""
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
    """Say which command is about to be done, in case that its owner dies of it; False: fenced."""
    return fenced_update(lease, tries=Case(When(trying_seq=seq, then=F("tries") + 1), default=1), trying_seq=seq)


def announce_stuck(lease: Lease, seq: int) -> bool:
    """Store which command this process ends for: its next owner quarantines it. False: fenced."""
    return fenced_update(lease, tries=STUCK, trying_seq=seq)


def release_idle(lease: Lease) -> bool:
    """Leave the session if there is nothing to do; False: work came in, or the lease is lost."""
    return (
        Session.objects.filter(pk=lease.session_id, epoch=lease.epoch, applied_seq=F("last_seq")).update(
            lease_owner="", lease_until=0.0, acquisitions=0, trying_seq=0, tries=0
        )
        == 1
    )


def release(lease: Lease, *, in_order: bool = True) -> None:
    """Leave the session whatever is to do. Out of order, the acquisition stays counted."""
    values: dict[str, Any] = {"lease_owner": "", "lease_until": 0.0}
    if in_order:
        values |= {"acquisitions": 0, "trying_seq": 0, "tries": 0}
    fenced_update(lease, **values)


def rest(lease: Lease, seconds: float, message: str, *, has_tried: bool) -> bool:
    """Leave the session alone for a while: the sweeper rings when that is over. False: fenced.

    `has_tried`: this owner tried to load it, so it counts.
    """
    counted = F("acquisitions") if has_tried else Greatest(F("acquisitions") - 1, 0)
    return fenced_update(
        lease,
        lease_owner=BACKING_OFF,
        lease_until=DatabaseSeconds() + seconds,
        acquisitions=counted,
        trying_seq=RESTED,
        tries=0,
        message=message,
    )


def clear_owner(prefix: str, *, but: str = "", blameless: bool = False) -> int:
    """Take the leases of a process that is known to be dead, so that its sessions go on at once. Returns how many.

    `but`: a longer prefix, whose owners live. `blameless`: the process was ended from outside, so none of its sessions is suspected of it.
    """
    values: dict[str, Any] = {"lease_owner": "", "lease_until": 0.0}
    if blameless:
        values |= {"acquisitions": Greatest(F("acquisitions") - 1, 0), "tries": Greatest(F("tries") - 1, 0)}
    rows = Session.objects.filter(lease_owner__startswith=f"{prefix}.")
    return (rows.exclude(lease_owner__startswith=f"{but}.") if but else rows).update(**values)


class LeaseRenewer:
    """A thread that renews the leases of this process, so that nobody who computes has to think of it."""

    def __init__(self) -> None:
        self._leases: dict[UUID, Lease] = {}
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def hold(self, lease: Lease) -> None:
        with self._lock:
            self._leases[lease.session_id] = lease
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._renew_for_ever, name="lease-renewals", daemon=True)
                self._thread.start()

    def drop(self, lease: Lease) -> None:
        with self._lock:
            if self._leases.get(lease.session_id) == lease:
                del self._leases[lease.session_id]

    def _renew_for_ever(self) -> None:
        pause = threading.Event()
        while True:
            pause.wait(RENEWAL_SECONDS)
            with self._lock:
                leases = list(self._leases.values())
                if not leases:
                    self._thread = None
                    break
            try:
                for lease in renew_all(leases):
                    self.drop(lease)
            except DatabaseError:
                # The next round tries again; if a lease ends meanwhile, the epoch fences its owner.
                connection.close()
        connection.close()


LEASE_RENEWER = LeaseRenewer()
