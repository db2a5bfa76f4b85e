"""Accepting commands: one transaction that numbers and stores a command, then the bell.

A command is accepted once for each key: who does not get an answer sends it again with the same key and gets the same number.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from contextlib import nullcontext
from uuid import UUID

import msgspec
from django.conf import settings
from django.db import IntegrityError, transaction

from schedviz.sessions import accepted as accepting
from schedviz.sessions import bells, quotas, statements
from schedviz.sessions.commands import canonical
from schedviz.sessions.errors import CommandRefused, HeadMoved, KeyReused, SessionFailed, SessionGone, TooManyCommands
from schedviz.sessions.models import Command, Session
from schedviz.sessions.quotas import QuotaReached
from schedviz.trace.commands import AnyCommand, Pause, encode_command

LONGEST_KEY = 200
#: An escaped U+0000 in JSON.
_NUL = re.compile(rb"(?<!\\)(?:\\\\)*\\u0000")


class Accepted(msgspec.Struct, frozen=True):
    """A command's number. `duplicate`: it had been accepted before, under the same key."""

    seq: int
    key: str
    duplicate: bool


class Seen(msgspec.Struct, frozen=True):
    """How far a session was when somebody looked: the last event, and the last command that had been accepted."""

    event: int
    seq: int


def accept(session_id: UUID, command: AnyCommand, key: str, *, seen: Seen | None = None) -> Accepted:
    """Store a command for the session's engine, then ring. When this returns, the command is safe.

    Raises `CommandRefused`, `KeyReused`, `SessionGone`, `SessionFailed`, `TooManyCommands`, `QuotaReached`, or `HeadMoved` where the
    session is not as it was `seen` any more.
    """
    body = _encoded(command, key)
    try:
        quotas.expect_room_for_command(session_id, command)
        with nullcontext() if seen is None else transaction.atomic():
            accepted, is_owned = _store(session_id, body, key, is_pause=isinstance(command, Pause))
            _expect_as_seen(session_id, seen, before=accepted.seq - 1)
    except (IntegrityError, SessionFailed, TooManyCommands, QuotaReached, HeadMoved):
        # Whatever holds now: a command that was accepted before stays accepted.
        if known := _known(session_id, key, body):
            return known
        raise
    accepting.tell(session_id, accepted.seq, _op(command))
    bells.ring(session_id, owned=is_owned)
    return accepted


def accept_all(session_id: UUID, commands: Sequence[tuple[str, AnyCommand]], *, seen: Seen | None = None) -> list[Accepted]:
    """Store several commands with their keys, one after the other with no other in between: all of them or none.

    Where all were accepted before, they are what they were. Raises as `accept` does; `KeyReused` also where some were accepted before.
    """
    bodies = [(_encoded(command, key), key, isinstance(command, Pause)) for key, command in commands]
    if known := _all_known(session_id, bodies):
        return known
    try:
        for _, command in commands:
            quotas.expect_room_for_command(session_id, command)
        with transaction.atomic():
            stored = [_store(session_id, body, key, is_pause=is_pause) for body, key, is_pause in bodies]
            _expect_as_seen(session_id, seen, before=stored[0][0].seq - 1)
    except IntegrityError:
        # Somebody sends them twice at the same time.
        if known := _all_known(session_id, bodies):
            return known
        raise
    for (accepted, _), (_, command) in zip(stored, commands, strict=True):
        accepting.tell(session_id, accepted.seq, _op(command))
    bells.ring(session_id, owned=stored[-1][1])
    return [accepted for accepted, _ in stored]


def _all_known(session_id: UUID, bodies: Sequence[tuple[bytes, str, bool]]) -> list[Accepted]:
    """What they became when they were accepted before; empty: none of them was."""
    known = [_known(session_id, key, body) for body, key, _ in bodies]
    found = [one for one in known if one is not None]
    if found and len(found) < len(bodies):
        raise KeyReused(f"key: {found[0].key!r} was used before, and others of these keys were not; commands sent together stay together.")
    return found


def _expect_as_seen(session_id: UUID, seen: Seen | None, *, before: int) -> None:
    """Within the transaction that numbered a command: its session cannot move now."""
    if seen is None:
        return
    event = Session.objects.values_list("event", flat=True).get(pk=session_id)
    if (event, before) != (seen.event, seen.seq):
        raise HeadMoved(f"The session is at event {event} and took {before} commands; you saw it at event {seen.event} after {seen.seq}.")


def accept_in_transaction(session_id: UUID, commands: Iterable[tuple[str, AnyCommand]]) -> tuple[int, bool]:
    """Store several commands, with their keys, as part of the caller's transaction: all of them or none. None of the keys was used before.

    Gives the last number (0: there was no command), and what `bells.ring` is to be told as `owned` when the transaction has ended.
    Raises `CommandRefused`, `SessionGone`, `SessionFailed`, `TooManyCommands` or `QuotaReached`.
    """
    seq, is_owned = 0, False
    for key, command in commands:
        body = _encoded(command, key)
        quotas.expect_room_for_command(session_id, command)
        accepted, is_owned = _store(session_id, body, key, is_pause=False)
        seq = accepted.seq
    return seq, is_owned


def _op(command: AnyCommand) -> str:
    return str(type(command).__struct_config__.tag)


def _encoded(command: AnyCommand, key: str) -> bytes:
    if not key or len(key) > LONGEST_KEY:
        raise CommandRefused(f"key: has {len(key)} characters; 1 to {LONGEST_KEY} are allowed.")
    body: bytes = encode_command(canonical(command))
    # PostgreSQL cannot store it, and no name in Kubernetes has it.
    if "\0" in key:
        raise CommandRefused("key: has the character U+0000, which cannot be stored.")
    if _NUL.search(body):
        raise CommandRefused("The command has the character U+0000 in it, which cannot be stored.")
    try:
        # As the engine keeps it: JSON has integers of any size, a checkpoint those of 64 bits.
        msgspec.msgpack.encode(command)
    except OverflowError:
        raise CommandRefused("The command has a whole number in it that is too large: -2^63 to 2^64 - 1 can be kept.") from None
    return body


def _store(session_id: UUID, body: bytes, key: str, *, is_pause: bool) -> tuple[Accepted, bool]:
    with transaction.atomic():
        row = statements.number_command(session_id, is_pause=is_pause)
        if row is None:
            raise SessionGone(f"There is no session {session_id}.")
        if row.status == Session.Status.FAILED:
            raise SessionFailed(f"The session takes no commands, it failed: {row.message}")
        waiting = row.seq - row.applied_seq - 1
        if waiting >= settings.COMMANDS_WAITING and not is_pause:
            raise TooManyCommands(
                f"{waiting} commands wait already, and COMMANDS_WAITING allows {settings.COMMANDS_WAITING}; "
                "send more when some of them are done."
            )
        statements.insert_command(session_id, row.seq, key, body)
    # A session that is being imported is owned by the io worker, which rings when it has finished.
    return Accepted(seq=row.seq, key=key, duplicate=False), row.is_owned or row.status == Session.Status.IMPORTING


def _known(session_id: UUID, key: str, body: bytes) -> Accepted | None:
    stored = Command.objects.filter(session_id=session_id, key=key).only("seq", "body").first()
    if stored is None:
        return None
    if bytes(stored.body) != body:
        raise KeyReused(f"key: {key!r} was used before, for another command (number {stored.seq}); use a new key for each command.")
    return Accepted(seq=stored.seq, key=key, duplicate=True)
