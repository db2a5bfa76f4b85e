"""Joining a room with a code and a nickname, rejoining, leaving, and removing participants."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

import msgspec
from django.conf import settings
from django.db import IntegrityError, transaction

from schedviz.web.auth.authentication import hashed
from schedviz.web.rooms import forks, join_throttle, notify
from schedviz.web.rooms.errors import NicknameTaken, NicknameUnusable, RoomFull, WasRemoved, WrongCodeGiven
from schedviz.web.rooms.links import read_code
from schedviz.web.rooms.models import LIVE, MAX_NICKNAME_LENGTH, Participant, Room

#: Characters that fonts draw as nothing or as a blank: Unicode's Default_Ignorable_Code_Point, and the blank of Braille.
_INVISIBLE: Final = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u2800\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)


_NO_ROOM: Final = "No open room has this code. It may be mistyped, or the room was locked or has ended."


class JoinResult(msgspec.Struct, frozen=True):
    """A participant, and whether they had joined before."""

    participant: Participant
    is_back: bool


def join(code: str, nickname: str, *, secret: str, address: str) -> JoinResult:
    """Join the room with this code, or rejoin it with the same secret.

    Raises `WrongCodeGiven`, `TooManyWrongCodes`, `NicknameUnusable`, `NicknameTaken`, `WasRemoved` or `RoomFull`.
    """
    room = Room.objects.filter(code=read_code(code), status__in=LIVE).exclude(code="").first()
    existing = Participant.objects.filter(room=room, digest=hashed(secret)).first() if room is not None else None
    if room is None or (room.status == Room.Status.LOCKED and existing is None):
        # The code of a locked room counts as a wrong one.
        join_throttle.require_tries_left(address)
        join_throttle.count_wrong_code(address)
        # The same message for both, so that it does not reveal that a locked room exists.
        raise WrongCodeGiven(_NO_ROOM)
    if existing is not None and existing.removed:
        raise WasRemoved("The teacher has removed you from this room.")
    name = usable_nickname(nickname)
    try:
        with transaction.atomic():
            participant = _enter(room, hashed(secret), name) if existing is None else _rename(existing, name)
    except IntegrityError as error:
        if (joined := Participant.objects.filter(room=room, digest=hashed(secret), removed=False).first()) is not None and existing is None:
            # The same browser sent the request twice at the same time.
            return JoinResult(joined, is_back=True)
        raise NicknameTaken(f"The nickname {name!r} is taken in this room; choose another one.") from error
    notify.changed(room.pk)
    return JoinResult(participant, is_back=existing is not None)


def usable_nickname(raw: str) -> str:
    """The nickname in Unicode normal form, without surrounding spaces. Raises `NicknameUnusable`."""
    name = " ".join(unicodedata.normalize("NFC", raw).split())
    if not 1 <= len(name) <= MAX_NICKNAME_LENGTH:
        raise NicknameUnusable(f"$.nickname: has {len(name)} characters; 1 to {MAX_NICKNAME_LENGTH} are expected.")
    # Controls and marks that change the text direction, because names are shown to others. The zero-width joiner is part of emoji.
    if any(unicodedata.category(letter) in {"Cc", "Cf", "Cs", "Co", "Cn"} and letter != "\u200d" for letter in name):
        raise NicknameUnusable("$.nickname: contains a character that cannot be displayed.")
    if not _folded(name):
        raise NicknameUnusable("$.nickname: consists of characters that are displayed as blanks.")
    return name


def leave(participant: Participant) -> None:
    """Delete a participant with their answers, forks and name."""
    room_id = participant.room_id
    with transaction.atomic():
        forks.lock(Participant.objects.filter(pk=participant.pk))
        sessions = forks.of_participant(participant)
        participant.delete()
    forks.delete_sessions(sessions)
    notify.changed(room_id)


def remove(participant: Participant) -> None:
    """Remove a participant, who cannot rejoin with the same cookie."""
    with transaction.atomic():
        forks.lock(Participant.objects.filter(pk=participant.pk))
        sessions = forks.of_participant(participant)
        participant.answers.all().delete()
        Participant.objects.filter(pk=participant.pk).update(removed=True, folded="", nickname="", hand_at=None, here_until=0.0)
    forks.delete_sessions(sessions)
    notify.changed(participant.room_id)


def _enter(room: Room, digest: str, name: str) -> Participant:
    # Clients that join at the same time wait for each other, and for a room that is being locked or ended: none is added after its end.
    if Room.objects.select_for_update(no_key=True).filter(pk=room.pk, status=Room.Status.OPEN).only("pk").first() is None:
        raise WrongCodeGiven(_NO_ROOM)
    maximum: int = settings.ROOM_PARTICIPANTS
    if room.participants.filter(removed=False).count() >= maximum:
        raise RoomFull(f"The room has {maximum} participants, the limit SCHEDVIZ_ROOM_PARTICIPANTS of this server.")
    participant = Participant.objects.create(room=room, digest=digest, nickname=name, folded=_folded(name))
    participant.refresh_from_db()
    return participant


def _rename(participant: Participant, name: str) -> Participant:
    if name != participant.nickname:
        participant.nickname, participant.folded = name, _folded(name)
        participant.save(update_fields=["nickname", "folded"])
    return participant


def _folded(name: str) -> str:
    """The form in which names are compared: names that differ in case, width, blanks at the ends or invisible characters are equal."""
    visible = _INVISIBLE.sub("", unicodedata.normalize("NFKC", name))
    return " ".join(visible.casefold().split())[: 4 * MAX_NICKNAME_LENGTH]
