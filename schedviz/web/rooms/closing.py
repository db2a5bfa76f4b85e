"""Ends rooms. Personal data is deleted unless the teacher keeps it. The sweeper ends abandoned rooms."""

from __future__ import annotations

import time
from datetime import timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from schedviz.sessions.hosting.steady_clock import CLOCK
from schedviz.web.rooms import forks, notify
from schedviz.web.rooms.join_throttle import SECONDS
from schedviz.web.rooms.models import LIVE, Answer, Participant, Question, Room, RoomFork, WrongCode
from schedviz.web.rooms.state import tally


def end(room: Room, *, keep: bool) -> None:
    """End a room, if it has not ended. Its code becomes void, and participants lose access.

    With `keep`, names and answers are kept for the record, and the forks become sessions of the teacher. Without, only the tallies are
    kept.
    """
    with transaction.atomic():
        over = {"status": Room.Status.ENDED, "code": "", "kept": keep, "shown": None, "moment": None, "ended_at": timezone.now()}
        if not Room.objects.filter(pk=room.pk, status__in=LIVE).update(**over):
            return
        Question.objects.filter(room=room).update(is_open=False)
        if not keep:
            _delete_names(room)
    notify.changed(room.pk)
    if not keep:
        delete_forks(Q(room=room))


def delete(room: Room) -> None:
    """Delete a room with its data. Kept forks stay, as sessions of the teacher."""
    end(room, keep=False)
    RoomFork.objects.filter(room=room, room__kept=True).delete()
    room_id = room.pk
    room.delete()
    notify.delete_stream(room_id)


def delete_forks(which: Q) -> None:
    """Delete the sessions of forks."""
    forks.delete_sessions(list(RoomFork.objects.filter(which).values_list("session_id", flat=True)))


def sweep_rooms() -> None:
    """End abandoned rooms, and complete interrupted deletions. Safe to run at any time and concurrently."""
    if CLOCK.is_steady():
        _end_abandoned_rooms()
    delete_forks(Q(room=None) | Q(room__status=Room.Status.ENDED, room__kept=False) | Q(participant=None))
    WrongCode.objects.filter(at__lte=time.time() - SECONDS).delete()


def _end_abandoned_rooms() -> None:
    abandoned_since = timezone.now() - timedelta(hours=settings.ROOM_HOURS)
    for room in Room.objects.filter(status__in=LIVE, active_at__lt=abandoned_since):
        end(room, keep=False)


def _delete_names(room: Room) -> None:
    """Keep the tallies of the answers, without the participants."""
    forks.lock(Participant.objects.filter(room=room))
    for question in Question.objects.filter(room=room):
        question.tally = tally(Answer.objects.filter(question=question).values_list("value", flat=True))
        question.save(update_fields=["tally"])
    Participant.objects.filter(room=room).delete()
