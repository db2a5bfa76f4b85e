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
from schedviz.sessions import quotas
from schedviz.sessions.commands import limits
from schedviz.sessions.commands.stored_form import canonical, expect_names
from schedviz.sessions.errors import CommandRefused, HeadMoved, KeyReused, SessionFailed, SessionGone, TooManyCommands
from schedviz.sessions.models import Command, Session
from schedviz.sessions.queries import prepared
from schedviz.sessions.quotas import QuotaReached
from schedviz.sessions.redis import wakeups
from schedviz.trace.commands import AnyCommand, Pause, encode_command

LONGEST_KEY = 200
#: An escaped U+0000 in JSON.
_NUL = re.compile(rb"(?<!\\)(?:\\\\)*\\u0000")


class Accepted(msgspec.Struct, frozen=True):
    """A command's number. `duplicate`: it had been accepted before, under the same key."""

    seq: int
    key: str
    duplicate: bool


class _New(msgspec.Struct, frozen=True):
    """A command on its way into the inbox, as it is stored."""

    key: str
    body: bytes
    is_pause: bool


class Seen(msgspec.Struct, frozen=True):
    """How far a session was when somebody looked: the last event, and the last command that had been accepted."""

    event: int
    seq: int


def accept(session_id: UUID, command: AnyCommand, key: str, *, seen: Seen | None = None) -> Accepted:
    """Store a command for the session's engine, then ring. When this returns, the command is safe.

    Raises `CommandRefused`, `KeyReused`, `SessionGone`, `SessionFailed`, `TooManyCommands`, `QuotaReached`, or `HeadMoved` where the
    session is not as it was `seen` any more.
    """
    new = _encoded(command, key)
    expect_names(command)
    try:
        quotas.expect_room_for_commands(session_id, [(command, len(new.body))])
        with nullcontext() if seen is None else transaction.atomic():
            seq, is_owned = _store(session_id, [new])
            _expect_as_seen(session_id, seen, before=seq - 1)
    except (IntegrityError, SessionFailed, TooManyCommands, QuotaReached, HeadMoved):
        # Whatever holds now: a command that was accepted before stays accepted.
        if known := _known(session_id, new):
            return known
        raise
    accepted = Accepted(seq=seq, key=key, duplicate=False)
    accepting.tell(session_id, accepted.seq, _op(command))
    wakeups.notify(session_id, owned=is_owned)
    return accepted


def accept_all(session_id: UUID, commands: Sequence[tuple[str, AnyCommand]], *, seen: Seen | None = None) -> list[Accepted]:
    """Store several commands with their keys, one after the other with no other in between: all of them or none.

    Where all were accepted before, they are what they were. Raises as `accept` does; `KeyReused` also where some were accepted before.
    """
    new = [_encoded(command, key) for key, command in commands]
    for _, command in commands:
        expect_names(command)
    if known := _all_known(session_id, new):
        return known
    try:
        quotas.expect_room_for_commands(session_id, [(command, len(one.body)) for one, (_, command) in zip(new, commands, strict=True)])
        with transaction.atomic():
            last, is_owned = _store(session_id, new)
            before = last - len(new)
            _expect_as_seen(session_id, seen, before=before)
    except IntegrityError:
        # Somebody sends them twice at the same time.
        if known := _all_known(session_id, new):
            return known
        raise
    accepted = [Accepted(seq=seq, key=key, duplicate=False) for seq, (key, _) in enumerate(commands, before + 1)]
    for one, (_, command) in zip(accepted, commands, strict=True):
        accepting.tell(session_id, one.seq, _op(command))
    wakeups.notify(session_id, owned=is_owned)
    return accepted


def _all_known(session_id: UUID, new: Sequence[_New]) -> list[Accepted]:
    """What they became when they were accepted before; empty: none of them was."""
    found = [known for one in new if (known := _known(session_id, one)) is not None]
    if found and len(found) < len(new):
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
    """Store what an observer saw as commands, with their keys, as part of the caller's transaction: all of them or none. None of the
    keys was used before.

    Gives the last number (0: there was no command), and what `bells.ring` is to be told as `owned` when the transaction has ended.
    Raises `CommandRefused`, `SessionGone`, `SessionFailed`, `TooManyCommands` or `QuotaReached`.
    """
    new: list[_New] = []
    sized: list[tuple[AnyCommand, int]] = []
    for key, command in commands:
        new.append(_encoded(command, key))
        sized.append((command, len(new[-1].body)))
    quotas.expect_room_for_commands(session_id, sized, is_observed=True)
    return _store(session_id, new) if new else (0, False)


def _op(command: AnyCommand) -> str:
    return str(type(command).__struct_config__.tag)


def _encoded(command: AnyCommand, key: str) -> _New:
    if not key or len(key) > LONGEST_KEY:
        raise CommandRefused(f"key: has {len(key)} characters; 1 to {LONGEST_KEY} are allowed.")
    limits.expect_command_bytes(command)
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
    return _New(key=key, body=body, is_pause=isinstance(command, Pause))


def _store(session_id: UUID, new: Sequence[_New]) -> tuple[int, bool]:
    """The number of the last of them, and what `bells.ring` is to be told as `owned`."""
    pauses = [place for place, one in enumerate(new, 1) if one.is_pause]
    others = [place for place, one in enumerate(new, 1) if not one.is_pause]
    with transaction.atomic():
        size = sum(len(one.body) for one in new)
        row = prepared.number_commands(session_id, len(new), size=size, last_pause=pauses[-1] if pauses else 0)
        if row is None:
            raise SessionGone(f"There is no session {session_id}.")
        if row.status == Session.Status.FAILED:
            raise SessionFailed(f"The session takes no commands, it failed: {row.message}")
        before = row.seq - len(new)
        # A pause is always taken.
        if others and (waiting := before - row.applied_seq + others[-1] - 1) >= settings.COMMANDS_WAITING:
            raise TooManyCommands(
                f"{waiting} commands wait already, and COMMANDS_WAITING allows {settings.COMMANDS_WAITING}; "
                "send more when some of them are done."
            )
        prepared.insert_commands(session_id, before + 1, [(one.key, one.body) for one in new])
    # A session that is being imported is owned by the io worker, which rings when it has finished.
    return row.seq, row.is_owned or row.status == Session.Status.IMPORTING


def _known(session_id: UUID, new: _New) -> Accepted | None:
    stored = Command.objects.filter(session_id=session_id, key=new.key).only("seq", "body").first()
    if stored is None:
        return None
    if bytes(stored.body) != new.body:
        raise KeyReused(f"key: {new.key!r} was used before, for another command (number {stored.seq}); use a new key for each command.")
    return Accepted(seq=stored.seq, key=new.key, duplicate=True)
