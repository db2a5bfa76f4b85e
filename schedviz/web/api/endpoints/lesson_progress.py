"""`/api/v1/lessons/{name}/progress/`: your progress in a lesson."""

from __future__ import annotations

from uuid import UUID

import msgspec
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from schedviz.lessons import UnknownLessonError
from schedviz.lessons.catalogue import version
from schedviz.web.api.access import actor_for, body_as, session_for
from schedviz.web.api.endpoints.lessons import progress_body, user_of
from schedviz.web.api.errors import ApiError
from schedviz.web.api.openapi import error_responses, ref, response
from schedviz.web.api.resource import Resource
from schedviz.web.api.schemas import lessons as bodies
from schedviz.web.auth.actors import Verb
from schedviz.web.learning.models import LessonProgress


class Progress(Resource):
    """Your progress in a lesson."""

    @extend_schema(
        operation_id="setLessonProgress",
        request={"application/json": ref(bodies.LessonProgress)},
        responses={200: response(bodies.LessonProgress), **error_responses(400, 401, 403, 404)},
    )
    def put(self, request: Request, name: str) -> Response:
        """Store your progress. A lesson that was finished once stays finished."""
        user = user_of(actor_for(request, Verb.CREATE))
        progress = body_as(bodies.LessonProgress, request)
        try:
            version(name)
        except UnknownLessonError as error:
            raise ApiError(404, "not_found", str(error)) from error
        session = session_for(request, _uuid(progress.session), Verb.SEE) if progress.session else None
        stored, _ = LessonProgress.objects.update_or_create(
            user_id=user,
            lesson=name,
            defaults={"stop": progress.stop, "session": session, "answers": msgspec.to_builtins(progress.answers)},
        )
        if progress.finished and stored.finished_at is None:
            stored.finished_at = timezone.now()
            stored.save(update_fields=["finished_at"])
        return Response(progress_body(stored))


def _uuid(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError as error:
        raise ApiError(400, "invalid", f"$.session: expected the id of a session, found {text!r}", path="$.session") from error
