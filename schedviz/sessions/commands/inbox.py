"""Accepts commands: one transaction numbers and stores a command, and then the session's worker is notified.

A command is accepted once per key. A client that gets no response sends the command again with the same key, and gets the same number.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from contextlib import nullcontext
from datetime import datetime
from uuid import UUID

import msgspec
import structlog
from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import F

from schedviz.sessions import quotas, tracing
from schedviz.sessions.commands import limits
from schedviz.sessions.commands.device_selectors import validate_selectors
from schedviz.sessions.commands.stored_form import canonical, validate_names
from schedviz.sessions.errors import CommandRefused, HeadMoved, KeyReused, SessionFailed, SessionGone, TooManyCommands
from schedviz.sessions.models import Command, Session
from schedviz.sessions.queries import prepared
from schedviz.sessions.quotas import QuotaReached
from schedviz.sessions.redis import wakeups
from schedviz.trace.commands import AnyCommand, Pause, encode_command, op_of

MAX_KEY_LENGTH = 200
log = structlog.get_logger(__name__)

#: An escaped U+0000 in JSON.
_NUL = re.compile(rb"(?<!\\)(?:\\\\)*\\u0000")


class Accepted(msgspec.Struct, frozen=True):
    """The number of an accepted command. `duplicate`: the same key had been accepted before."""

    seq: int
    key: str
    duplicate: bool


class _NewCommand(msgspec.Struct, frozen=True):
    """A command before it gets its number."""

    key: str
    body: bytes
    is_pause: bool

    @property
    def size(self) -> int:
        """The bytes that it counts as."""
        return quotas.command_bytes(self.key, self.body)


class ExpectedPosition(msgspec.Struct, frozen=True):
    """The position that a conditional command requires: the last event and the last accepted command that the client has seen."""

    event: int
    seq: int


def accept(session_id: UUID, command: AnyCommand, key: str, *, seen: ExpectedPosition | None = None, sender: str = "") -> Accepted:
    """Store a command for the session's engine and notify the engine's worker. When this returns, the command is durable. Its validation
    counts for the sender (`schedviz.sessions.senders`).

    Raises `CommandRefused`, `KeyReused`, `SessionGone`, `SessionFailed`, `TooManyCommands`, `QuotaReached`, or `HeadMoved` if the session
    has advanced beyond `seen`.
    """
    new = _validated(command, key, sender)
    try:
        quotas.require_command_quota(session_id, [(command, new.size)])
        with nullcontext() if seen is None else transaction.atomic():
            seq, is_owned = _store(session_id, [new])
            _require_position(session_id, seen, before=seq - 1)
    except (IntegrityError, SessionFailed, TooManyCommands, QuotaReached, HeadMoved):
        # A command that was accepted before stays accepted, whatever limits hold now.
        if earlier := _accepted_before(session_id, new):
            return earlier
        raise
    accepted = Accepted(seq=seq, key=key, duplicate=False)
    _record_accepted(session_id, accepted.seq, op_of(command))
    wakeups.notify(session_id, owned=is_owned)
    return accepted


def accept_all(
    session_id: UUID, commands: Sequence[tuple[str, AnyCommand]], *, seen: ExpectedPosition | None = None, sender: str = ""
) -> list[Accepted]:
    """Store several commands with their keys, atomically and with consecutive numbers.

    If all keys were accepted before, returns the earlier results. Raises the same errors as `accept`, `KeyReused` if only some keys were
    accepted before, and `CommandRefused` if two keys are equal.
    """
    new = [_validated(command, key, sender) for key, command in commands]
    _require_different_keys(new)
    if earlier := _all_accepted_before(session_id, new):
        return earlier
    try:
        quotas.require_command_quota(session_id, [(command, each.size) for each, (_, command) in zip(new, commands, strict=True)])
        with transaction.atomic():
            last, is_owned = _store(session_id, new)
            before = last - len(new)
            _require_position(session_id, seen, before=before)
    except IntegrityError:
        # A concurrent request sent the same keys.
        if earlier := _all_accepted_before(session_id, new):
            return earlier
        raise
    accepted = [Accepted(seq=seq, key=key, duplicate=False) for seq, (key, _) in enumerate(commands, before + 1)]
    for accepted_command, (_, command) in zip(accepted, commands, strict=True):
        _record_accepted(session_id, accepted_command.seq, op_of(command))
    wakeups.notify(session_id, owned=is_owned)
    return accepted


def _require_different_keys(new: Sequence[_NewCommand]) -> None:
    first_of: dict[str, int] = {}
    for number, command in enumerate(new):
        if (first := first_of.setdefault(command.key, number)) != number:
            raise CommandRefused(
                f"is that of commands[{first}]. Give each command a key of its own, or none.", path=f"commands[{number}].key"
            )


def _all_accepted_before(session_id: UUID, new: Sequence[_NewCommand]) -> list[Accepted]:
    """The earlier results if all keys were accepted before; empty if none was."""
    earlier_results = [earlier for new_command in new if (earlier := _accepted_before(session_id, new_command)) is not None]
    if earlier_results and len(earlier_results) < len(new):
        raise KeyReused(
            f"{earlier_results[0].key!r} was used before, but other keys of this request were not. "
            "Repeat a request with exactly the same commands.",
            path="key",
        )
    return earlier_results


def _require_position(session_id: UUID, seen: ExpectedPosition | None, *, before: int) -> None:
    """Compare the session's position within the transaction that numbered a command, in which the session cannot advance."""
    if seen is None:
        return
    event = Session.objects.values_list("event", flat=True).get(pk=session_id)
    if (event, before) != (seen.event, seen.seq):
        raise HeadMoved(
            f"The session is at event {event} and has accepted {before} commands; the request is based on "
            f"event {seen.event} and command {seen.seq}. Reload and try again."
        )


class ObservedCommands:
    """The commands of an observer, the client that pushes a followed cluster's changes, with their new keys.

    Encoding many takes seconds, so it is done before the transaction that stores them.
    """

    def __init__(self, commands: Iterable[tuple[str, AnyCommand]]) -> None:
        """Raises `CommandRefused`."""
        self._commands: list[tuple[str, AnyCommand]] = []
        self._new: list[_NewCommand] = []
        for key, command in commands:
            self._new.append(_encoded(command, key))
            self._commands.append((key, command))

    def are(self, commands: Sequence[tuple[str, AnyCommand]]) -> bool:
        """Whether these are the commands."""
        return self._commands == commands

    def accept_in_transaction(self, session_id: UUID) -> tuple[int, bool]:
        """Store the commands, atomically, within the caller's transaction.

        Returns the last number (0 if there was no command) and the `owned` argument for `wakeups.notify`, to be called after the commit.
        Raises `SessionGone`, `SessionFailed`, `TooManyCommands` or `QuotaReached`.
        """
        sized = [(command, new.size) for (_, command), new in zip(self._commands, self._new, strict=True)]
        quotas.require_command_quota(session_id, sized, is_observed=True)
        return _store(session_id, self._new) if self._new else (0, False)


def last_command_times(sessions: Collection[UUID]) -> dict[UUID, datetime]:
    """When the last command of each of these sessions was accepted, in one query. Sessions without a command are missing."""
    last = Command.objects.filter(session__in=sessions, seq=F("session__last_seq"))
    return dict(last.values_list("session_id", "accepted_at"))


def _record_accepted(session_id: UUID, seq: int, op: str) -> None:
    """Log a stored command and pass its trace context to the worker that executes it."""
    log.debug("command accepted", session=str(session_id), command=seq, op=op)
    with tracing.span("accept", session=str(session_id), command=seq):
        tracing.pass_context_to_worker(session_id, seq)


def _validated(command: AnyCommand, key: str, sender: str) -> _NewCommand:
    """A user's command. Raises `CommandRefused`. Observers' commands are not validated: their objects come from an API server."""
    new = _encoded(command, key)
    validate_names(command)
    validate_selectors(command, sender=sender)
    return new


def _encoded(command: AnyCommand, key: str) -> _NewCommand:
    if not key or len(key) > MAX_KEY_LENGTH:
        raise CommandRefused(f"has {len(key)} characters; 1 to {MAX_KEY_LENGTH} are allowed.", path="key")
    limits.validate_command_bytes(command)
    body: bytes = encode_command(canonical(command))
    # PostgreSQL cannot store U+0000, and Kubernetes names cannot contain it.
    if "\0" in key:
        raise CommandRefused("contains the character U+0000, which cannot be stored.", path="key")
    if _NUL.search(body):
        raise CommandRefused("The command contains the character U+0000, which cannot be stored.")
    try:
        # JSON integers have any size, but checkpoints store at most 64 bits.
        msgspec.msgpack.encode(command)
    except OverflowError:
        raise CommandRefused(
            "The command contains an integer that is out of range; integers from -2^63 to 2^64 - 1 can be stored."
        ) from None
    return _NewCommand(key=key, body=body, is_pause=isinstance(command, Pause))


def _store(session_id: UUID, new: Sequence[_NewCommand]) -> tuple[int, bool]:
    """Number the commands and store them. Returns the number of the last one, and the `owned` argument for `wakeups.notify`."""
    pauses = [number for number, new_command in enumerate(new, 1) if new_command.is_pause]
    others = [number for number, new_command in enumerate(new, 1) if not new_command.is_pause]
    with transaction.atomic():
        size = sum(new_command.size for new_command in new)
        row = prepared.number_commands(session_id, len(new), size=size, last_pause=pauses[-1] if pauses else 0)
        if row is None:
            raise SessionGone(f"There is no session {session_id}.")
        if row.status == Session.Status.FAILED:
            raise SessionFailed(f"The session accepts no commands, because it failed: {row.message}")
        before = row.seq - len(new)
        # A pause is always accepted.
        if others and (waiting := before - row.applied_seq + others[-1] - 1) >= settings.COMMANDS_WAITING:
            raise TooManyCommands(
                f"{waiting} commands are waiting, and COMMANDS_WAITING allows {settings.COMMANDS_WAITING}; "
                "send more when some of them are done."
            )
        prepared.insert_commands(session_id, before + 1, [(new_command.key, new_command.body) for new_command in new])
    # The io worker owns a session that is being imported, and notifies an engine worker when the import has finished.
    return row.seq, row.is_owned or row.status == Session.Status.IMPORTING


def _accepted_before(session_id: UUID, new: _NewCommand) -> Accepted | None:
    stored = Command.objects.filter(session_id=session_id, key=new.key).only("seq", "body").first()
    if stored is None:
        return None
    if bytes(stored.body) != new.body:
        raise KeyReused(
            f"{new.key!r} was used before, for another command (number {stored.seq}); use a new key for each command.", path="key"
        )
    return Accepted(seq=stored.seq, key=new.key, duplicate=True)
