"""The responses of extenders: stored before the engine uses them, and returned again when the commands are replayed."""

from __future__ import annotations

from uuid import UUID

from django.conf import settings

from schedviz.engine.extenders.calls import ExtenderCall, ExtenderError, ExtenderResponse, ExtenderTransport, NoHostAllowed
from schedviz.sessions.errors import ReplayDiverged
from schedviz.sessions.extenders import may_call_extenders
from schedviz.sessions.extenders.http import HttpTransport
from schedviz.sessions.models import ExtenderAnswer, Session


def live_transport(session: Session) -> ExtenderTransport:
    """The transport for a session's extenders: HTTP if the session's owner requested it and is allowed to use it, otherwise none."""
    if session.calls_extenders and session.owner is not None and may_call_extenders(session.owner):
        return HttpTransport(settings.EXTENDER_HOSTS, networks=settings.EXTENDER_NETWORKS)
    return NoHostAllowed()


class StoredResponses:
    """A transport for replay: returns the recorded responses and makes no calls."""

    def __init__(self, session_id: UUID) -> None:
        self._session_id = session_id

    def call(self, call: ExtenderCall) -> bytes:
        """The stored response. Raises `ReplayDiverged` if there is none, because the replayed call then differs from the
        recorded one.
        """
        row = ExtenderAnswer.objects.filter(session_id=self._session_id, event=call.event).first()
        if row is None:
            raise ReplayDiverged(f"An extender was called at event {call.event}, but not when the commands were recorded.")
        if row.error:
            raise ExtenderError(row.error)
        return bytes(row.body)


def store(session_id: UUID, responses: list[ExtenderResponse]) -> None:
    """Store responses, in the transaction of the slice that used them."""
    ExtenderAnswer.objects.bulk_create(
        ExtenderAnswer(session_id=session_id, event=response.event, body=response.body, error=response.error) for response in responses
    )
