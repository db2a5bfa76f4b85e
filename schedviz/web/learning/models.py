"""The progress of users in lessons, and the lesson that a session was created for."""

from __future__ import annotations

from typing import Any, ClassVar

from django.conf import settings
from django.db import models

from schedviz.sessions.models import Session


class LessonProgress(models.Model):
    """The progress of one user in one lesson."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="lessons_taken")
    lesson = models.CharField(max_length=60)
    #: The current session of the lesson; None if it was deleted.
    session = models.ForeignKey(Session, on_delete=models.SET_NULL, null=True, blank=True, related_name="+")
    #: The id of the last stop that was reached.
    stop = models.CharField(max_length=60, blank=True, default="")
    #: The answers in that session, by stop.
    answers: models.JSONField[Any, Any] = models.JSONField(default=dict)
    #: When the lesson was finished for the first time.
    finished_at = models.DateTimeField(null=True, blank=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["user", "lesson"], name="lesson_progress_once")]

    def __str__(self) -> str:
        return f"{self.user_id} in {self.lesson}"


def lesson_of(session: Session) -> str:
    """The lesson that a session, or its original, was created for; "" if there is none."""
    return _made_for(session)[0]


def version_begun_with(session: Session) -> str:
    """The version of that lesson's files when the session was created; "" if it was not stored."""
    return _made_for(session)[1]


def _made_for(session: Session) -> tuple[str, str]:
    ancestor: Session | None = session
    while ancestor is not None:
        if lesson := ancestor.source.get("lesson"):
            return str(lesson), str(ancestor.source.get("lessonVersion", ""))
        ancestor = ancestor.forked_from
    return "", ""
