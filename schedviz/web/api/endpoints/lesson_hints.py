"""`/api/v1/sessions/{id}/lesson/hints/`: the hints of a lesson's stop that apply to the current state.

No engine is needed: the state is folded from stored events.
"""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any
from uuid import UUID

import msgspec
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from schedviz.lessons import rendering
from schedviz.lessons.expressions import holds
from schedviz.sessions.history import reading
from schedviz.sessions.models import Session
from schedviz.trace import observed
from schedviz.trace.releases import release_in
from schedviz.web.api.access import session_for
from schedviz.web.api.endpoints.lessons import in_words, lesson_for, path_of
from schedviz.web.api.errors import ApiError
from schedviz.web.api.openapi import error_responses, response
from schedviz.web.api.resource import Resource, query
from schedviz.web.api.schemas import lessons as bodies
from schedviz.web.api.shared_computations import STATES
from schedviz.web.auth.actors import Verb

#: The number of newest events since the stop that a hint may inspect.
_MAX_EVENTS = 2_000


class LessonHints(Resource):
    """The hints that apply."""

    @extend_schema(
        operation_id="getLessonHints",
        parameters=[query("stop", str, "The id of the stop.")],
        responses={200: response(bodies.LessonHints), **error_responses(404, 409, 503)},
    )
    def get(self, request: Request, session_id: UUID) -> Response:
        """List the hints of a stop that apply to the current state, on or off the path of the lesson."""
        session = session_for(request, session_id, Verb.SEE)
        lesson = lesson_for(session)
        stop_id = request.query_params.get("stop", "")
        stop_state = next((lesson_stop for lesson_stop in path_of(session, lesson) if lesson_stop.stop.id == stop_id), None)
        if stop_state is None:
            raise ApiError(404, "not_found", f'The lesson {lesson.name} has no stop "{stop_id}".', path="?stop")
        with nullcontext() if reading.is_small(session) else STATES.slot():
            event, document = _seen(session, after=stop_state.arrived if stop_state.stop.hints else None)
        hints = [hint.id for hint in stop_state.stop.hints if holds(hint.when, document)]
        results = [
            bodies.LessonHint(hint, in_words(lesson, lambda text, hint=hint: rendering.html(text.stops[stop_id].live_hints.get(hint, ""))))  # type: ignore[misc]
            for hint in hints
        ]
        return Response(bodies.LessonHints(event=event, hints=results))


def _seen(session: Session, *, after: int | None) -> tuple[int, Any]:
    """The newest event, and what the conditions of hints are about: the newest state, and the events after one; None: none of them."""
    moment = reading.state_at_head(session)
    seen = {
        "state": observed.state(moment.view, release_in(session.settings)),
        "clockSeconds": moment.view.clock_seconds,
        "events": [] if after is None else reading.events(session.pk, after=after, limit=_MAX_EVENTS, tail=True),
    }
    return moment.view.event, msgspec.to_builtins(seen)
