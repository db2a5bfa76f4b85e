"""The tables of rooms: participants, questions, answers and forks."""

from __future__ import annotations

import uuid
from typing import Any, ClassVar

from django.conf import settings
from django.db import models
from django.db.models.functions import Now

from schedviz.sessions.models import Session

MAX_NICKNAME_LENGTH = 32
MAX_ANSWER_LENGTH = 200


class Room(models.Model):
    """A room: a session that a teacher presents."""

    class Status(models.TextChoices):
        OPEN = "open"
        LOCKED = "locked"
        ENDED = "ended"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    teacher = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="schedviz_rooms")
    session = models.ForeignKey(Session, on_delete=models.SET_NULL, null=True, related_name="rooms")
    #: The session that is shown instead of `session`: a participant's fork, or another session of the teacher.
    shown = models.ForeignKey(Session, on_delete=models.SET_NULL, null=True, related_name="shown_in_rooms")
    title = models.CharField(max_length=200, blank=True, default="")
    #: "" once the room has ended.
    code = models.CharField(max_length=8)
    status = models.CharField(max_length=8, choices=Status, default=Status.OPEN)
    #: Whether names were kept when it ended.
    kept = models.BooleanField(default=False)
    #: The teacher's last position, and its time by this server's clock, in seconds since 1970.
    moment: models.JSONField[Any, Any] = models.JSONField(null=True, blank=True)
    moment_at = models.FloatField(default=0.0)
    #: Increases with every change except of the position, so that lost wake-ups are noticed.
    revision = models.BigIntegerField(default=0)
    created_at = models.DateTimeField(db_default=Now())
    #: The time of the last activity; abandoned rooms are ended by it.
    active_at = models.DateTimeField(db_default=Now())
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["code"], condition=~models.Q(code=""), name="room_code_once")]
        indexes: ClassVar = [models.Index(fields=["teacher", "-created_at"], name="room_of_teacher")]

    def __str__(self) -> str:
        return f"room {self.id}"

    @property
    def is_live(self) -> bool:
        """Whether the room has not ended."""
        return self.status != Room.Status.ENDED


#: The statuses of rooms that have not ended.
LIVE = (Room.Status.OPEN, Room.Status.LOCKED)


class Participant(models.Model):
    """A participant, identified by a nickname and by a cookie of which only the SHA-256 is stored."""

    room = models.ForeignKey(Room, on_delete=models.CASCADE, related_name="participants")
    digest = models.CharField(max_length=64)
    nickname = models.CharField(max_length=MAX_NICKNAME_LENGTH)
    #: The nickname in the form for comparison; the nickname of a removed participant is free.
    folded = models.CharField(max_length=4 * MAX_NICKNAME_LENGTH)
    #: When the hand was raised.
    hand_at = models.DateTimeField(null=True, blank=True)
    #: Whether the participant follows the teacher.
    following = models.BooleanField(default=True)
    #: Connected at least until this time, in seconds since 1970.
    here_until = models.FloatField(default=0.0)
    #: Whether the teacher removed the participant.
    removed = models.BooleanField(default=False)
    joined_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["room", "digest"], name="participant_once"),
            models.UniqueConstraint(fields=["room", "folded"], condition=models.Q(removed=False), name="nickname_once"),
        ]
        indexes: ClassVar = [models.Index(fields=["digest"], name="participant_digest")]

    def __str__(self) -> str:
        return f"participant {self.pk} of {self.room_id}"


class Question(models.Model):
    """A question of the teacher."""

    class Kind(models.TextChoices):
        CHOICE = "choice"
        NUMBER = "number"
        NODE = "node"
        NODES = "nodes"
        POD = "pod"
        TEXT = "text"

    room = models.ForeignKey(Room, on_delete=models.CASCADE, related_name="questions")
    #: From 1, in the order of asking.
    number = models.PositiveIntegerField()
    #: The session and the stop of its lesson; None and "" for the teacher's own question.
    session = models.ForeignKey(Session, on_delete=models.SET_NULL, null=True, related_name="+")
    stop = models.CharField(max_length=60, blank=True, default="")
    text = models.CharField(max_length=500, blank=True, default="")
    kind = models.CharField(max_length=8, choices=Kind)
    options: models.JSONField[Any, Any] = models.JSONField(default=list)
    is_open = models.BooleanField(default=True)
    revealed = models.BooleanField(default=False)
    #: The right answer; "" if none was set.
    right = models.CharField(max_length=MAX_ANSWER_LENGTH, blank=True, default="")
    asked_at = models.DateTimeField()
    #: The tally at the end of a room whose names were not kept: [[value, count], …].
    tally: models.JSONField[Any, Any] = models.JSONField(null=True, blank=True)

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["room", "number"], name="question_once")]

    def __str__(self) -> str:
        return f"question {self.number} of {self.room_id}"


class Answer(models.Model):
    """The last answer of a participant."""

    question = models.ForeignKey(Question, on_delete=models.CASCADE, related_name="answers")
    participant = models.ForeignKey(Participant, on_delete=models.CASCADE, related_name="answers")
    value = models.CharField(max_length=MAX_ANSWER_LENGTH)
    answered_at = models.DateTimeField()
    #: How often the participant changed the answer.
    changes = models.PositiveIntegerField(default=0)

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["question", "participant"], name="answer_once")]

    def __str__(self) -> str:
        return f"answer of {self.participant_id} to {self.question_id}"


class RoomFork(models.Model):
    """A participant's fork. It belongs to the teacher, and to the participant while the room is open."""

    session = models.OneToOneField(Session, on_delete=models.CASCADE, primary_key=True, related_name="room_fork")
    #: None if the fork was deleted; the sweeper deletes its session.
    room = models.ForeignKey(Room, on_delete=models.SET_NULL, null=True, related_name="forks")
    participant = models.ForeignKey(Participant, on_delete=models.SET_NULL, null=True, related_name="forks")
    created_at = models.DateTimeField(db_default=Now())

    def __str__(self) -> str:
        return f"fork {self.session_id} of {self.room_id}"


class WrongCode(models.Model):
    """A wrong code. Stores a keyed digest of the address, for a minute."""

    address = models.CharField(max_length=64)
    at = models.FloatField()

    class Meta:
        indexes: ClassVar = [models.Index(fields=["address", "at"], name="wrong_code_of_address")]

    def __str__(self) -> str:
        return f"wrong code {self.pk}"
