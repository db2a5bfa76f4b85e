"""Accepting commands: one transaction that numbers and stores a command, then the bell.

A command is accepted once for each key: who does not get an answer sends it again with the same key and gets the same number.
"""

from __future__ import annotations

from uuid import UUID

import msgspec
from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import Case, F, Q, Value, When
from django.db.models.fields import BooleanField

from schedviz.sessions import bells
from schedviz.sessions.commands import canonical
from schedviz.sessions.database import DatabaseSeconds
from schedviz.sessions.errors import CommandRefused, KeyReused, SessionFailed, SessionGone, TooManyCommands
from schedviz.sessions.models import MAIN_BRANCH, Command, Session
from schedviz.trace.commands import AnyCommand, Pause, encode_command

LONGEST_KEY = 200


class Accepted(msgspec.Struct, frozen=True):
    """A command's number. `duplicate`: it had been accepted before, under the same key."""

    seq: int
    key: str
    duplicate: bool


def accept(session_id: UUID, command: AnyCommand, key: str) -> Accepted:
    """Store a command for the session's engine, then ring. When this returns, the command is safe.

    Raises `CommandRefused`, `KeyReused`, `SessionGone`, `SessionFailed` or `TooManyCommands`.
    """
    if not key or len(key) > LONGEST_KEY:
        raise CommandRefused(f"key: has {len(key)} characters; 1 to {LONGEST_KEY} are allowed.")
    body = encode_command(canonical(command))
    if known := _known(session_id, key, body):
        return known
    try:
        accepted, owned = _store(session_id, body, key, is_pause=isinstance(command, Pause))
    except IntegrityError:
        # The same key came twice at once, and the other was first.
        if known := _known(session_id, key, body):
            return known
        raise
    bells.ring(session_id, owned=owned)
    return accepted


def _known(session_id: UUID, key: str, body: bytes) -> Accepted | None:
    stored = Command.objects.filter(session_id=session_id, key=key).only("seq", "body").first()
    if stored is None:
        return None
    if bytes(stored.body) != body:
        raise KeyReused(f"key: {key!r} was used before, for another command (number {stored.seq}); use a new key for each command.")
    return Accepted(seq=stored.seq, key=key, duplicate=True)


def _store(session_id: UUID, body: bytes, key: str, *, is_pause: bool) -> tuple[Accepted, bool]:
    with transaction.atomic():
        counters = {"last_seq": F("last_seq") + 1}
        if is_pause:
            counters["interrupt_seq"] = F("last_seq") + 1
        if not Session.objects.filter(pk=session_id).update(**counters):
            raise SessionGone(f"There is no session {session_id}.")
        alive = Case(
            When(~Q(lease_owner="") & Q(lease_until__gte=DatabaseSeconds()), then=Value(True)),
            default=Value(False),
            output_field=BooleanField(),
        )
        row = (
            Session.objects.filter(pk=session_id)
            .annotate(owned=alive)
            .values("status", "message", "last_seq", "applied_seq", "owned")
            .get()
        )
        if row["status"] == Session.Status.FAILED:
            raise SessionFailed(f"The session takes no commands, it failed: {row['message']}")
        if row["last_seq"] - row["applied_seq"] > settings.COMMANDS_WAITING and not is_pause:
            raise TooManyCommands(
                f"{row['last_seq'] - row['applied_seq'] - 1} commands wait already, COMMANDS_WAITING allows {settings.COMMANDS_WAITING}; "
                "send more when some of them are done."
            )
        Command.objects.create(session_id=session_id, branch=MAIN_BRANCH, seq=row["last_seq"], key=key, body=body)
    # A session that is being imported is owned by the io worker, which rings when it has finished.
    return Accepted(seq=row["last_seq"], key=key, duplicate=False), bool(row["owned"]) or row["status"] == Session.Status.IMPORTING
