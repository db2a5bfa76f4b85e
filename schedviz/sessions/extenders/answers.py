"""What extenders answered: stored before the engine goes on, and given again when its commands are done again."""

from __future__ import annotations

from uuid import UUID

from django.conf import settings

from schedviz.engine.extenders.calls import Answer, ExtenderCall, ExtenderError, ExtenderTransport, NoHostAllowed
from schedviz.sessions.errors import ReplayDiverged
from schedviz.sessions.extenders import may_call_extenders
from schedviz.sessions.extenders.http import HttpTransport
from schedviz.sessions.models import ExtenderAnswer, Session


def live_transport(session: Session) -> ExtenderTransport:
    """How a session's extenders are called from now on: over HTTP where its creator asked for it and may, else not at all."""
    if session.calls_extenders and session.owner is not None and may_call_extenders(session.owner):
        return HttpTransport(settings.EXTENDER_HOSTS, networks=settings.EXTENDER_NETWORKS)
    return NoHostAllowed()


class StoredAnswers:
    """A transport that calls nobody: it gives what was answered when the commands were first done."""

    def __init__(self, session_id: UUID) -> None:
        self._session_id = session_id

    def call(self, call: ExtenderCall) -> bytes:
        """The stored answer. Raises `ReplayDiverged` where there is none: then this is not the call that was made."""
        row = ExtenderAnswer.objects.filter(session_id=self._session_id, event=call.event).first()
        if row is None:
            raise ReplayDiverged(f"An extender was asked at event {call.event}; when the commands were first done, none was.")
        if row.error:
            raise ExtenderError(row.error)
        return bytes(row.body)


def store(session_id: UUID, answers: list[Answer]) -> None:
    """Store answers, in the transaction of what was done with them."""
    ExtenderAnswer.objects.bulk_create(
        ExtenderAnswer(session_id=session_id, event=one.event, body=one.body, error=one.error) for one in answers
    )
