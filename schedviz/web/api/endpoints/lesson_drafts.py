"""`/api/v1/sessions/{id}/lesson/draft/`: a lesson draft made from a session's commands."""

from __future__ import annotations

import io
import re
import zipfile
from typing import ClassVar
from uuid import UUID

import msgspec
from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework.request import Request

from schedviz.sessions.analysis import requests
from schedviz.web.api.access import session_for
from schedviz.web.api.endpoints.explain import analyse
from schedviz.web.api.errors import ApiError
from schedviz.web.api.openapi import error_responses
from schedviz.web.api.rate_limit import Scope
from schedviz.web.api.resource import Resource, query
from schedviz.web.auth.actors import Verb

_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
#: The timestamp of archive entries, so that equal sessions give equal files.
_WHEN = (1980, 1, 1, 0, 0, 0)


class LessonDraft(Resource):
    """A session as a lesson draft."""

    rates: ClassVar[dict[str, Scope]] = {"GET": "questions"}

    @extend_schema(
        operation_id="draftLesson",
        parameters=[
            query(
                "name",
                str,
                "The name of the lesson and of its folder: lowercase letters, digits and hyphens, for example my-lesson.",
                pattern="^([a-z0-9]+(-[a-z0-9]+)*|)$",
            ),
            query(
                "at",
                str,
                "Event numbers, separated by commas: a stop at each of these moments. By default, a stop after each command.",
                pattern="^[0-9]{0,18}(,[0-9]{1,18})*$",
            ),
        ],
        responses={
            (200, "application/zip"): OpenApiResponse(OpenApiTypes.BINARY, "The lesson's folder: lesson.yaml, en.md, zh-CN.md."),
            **error_responses(400, 404, 409, 503),
        },
    )
    def get(self, request: Request, session_id: UUID) -> HttpResponse:
        """Create a lesson draft from a session. Its claims come from the engine; `schedviz lesson check` lists missing texts."""
        session = session_for(request, session_id, Verb.SEE)
        name = request.query_params.get("name") or "my-lesson"
        if not _NAME.fullmatch(name) or len(name) > 60:
            expected = "lowercase letters, digits and hyphens"
            raise ApiError(400, "invalid", f"?name={name}: {expected} were expected.", path="?name", expected=expected, found=name)
        draft_request = requests.LessonDraftRequest(name, _moments(request), at=session.event)
        files = msgspec.json.decode(analyse(session, draft_request).content, type=dict[str, str])
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            for file, text in files.items():
                archive.writestr(zipfile.ZipInfo(f"{name}/{file}", _WHEN), text)
        response = HttpResponse(packed.getvalue(), content_type="application/zip")
        response["Content-Disposition"] = f'attachment; filename="{name}.zip"'
        return response


def _moments(request: Request) -> list[int]:
    raw = request.query_params.get("at", "")
    parts = [part.strip() for part in raw.split(",") if part.strip()]
    if not all(part.isascii() and part.isdigit() and len(part) <= 18 for part in parts):
        raise ApiError(
            400, "invalid", f"?at={raw}: event numbers, separated by commas, are expected.", path="?at", expected="5,9", found=raw
        )
    return [int(part) for part in parts]
