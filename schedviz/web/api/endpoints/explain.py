"""`/api/v1/sessions/{id}/explain/…` and `what-if/`: analyses of a moment that a worker runs without changing the session."""

from __future__ import annotations

from typing import Any, ClassVar, Final, cast
from uuid import UUID

import msgspec
from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework.request import Request

from schedviz.explain.card.formats import CARD_FORMATS, HTML_POLICY, MEDIA_TYPES, CardFormat
from schedviz.explain.card.theme import THEME_NAMES, ThemeName
from schedviz.kube import codec
from schedviz.kube.errors import KubeError
from schedviz.sessions.analysis import requests
from schedviz.sessions.errors import HistoryUnavailable
from schedviz.sessions.models import Session
from schedviz.web.api import schemas, versions
from schedviz.web.api.access import body_as, one_of, optional_number, session_for
from schedviz.web.api.endpoints.moments import AT
from schedviz.web.api.errors import ApiError
from schedviz.web.api.late_results import late_results
from schedviz.web.api.openapi import error_responses, ref
from schedviz.web.api.rate_limit import Scope
from schedviz.web.api.resource import Resource, query
from schedviz.web.auth.actors import Verb
from schedviz.web.server.request_coalescing import coalesce
from schedviz.web.server.waiting_requests import requester

_RESULT: Any = {"type": "object", "additionalProperties": True}
_FORMATS: Final = ("json", *CARD_FORMATS)
CARD_PARAMETERS: Final = [
    query(
        "format",
        str,
        "`json` (default), or a card to send to a colleague: `markdown` for an issue or a chat, `html` a static page, `png` an image.",
        choices=_FORMATS,
    ),
    query("theme", str, "The colours of the image: `light` (default) or `dark`.", choices=THEME_NAMES),
]
_CHANGES: Final = query("changes", int, "1: with the changes that would place the pods; the search adds about a second.", maximum=1)
CARDS: Final = {
    (200, "text/markdown"): OpenApiResponse(OpenApiTypes.STR, "With `format=markdown`."),
    (200, "text/html"): OpenApiResponse(OpenApiTypes.STR, "With `format=html`."),
    (200, "image/png"): OpenApiResponse(OpenApiTypes.BINARY, "With `format=png`."),
}


class ExplainPending(Resource):
    """The explanations of all pending pods."""

    rates: ClassVar[dict[str, Scope]] = {"GET": "questions"}

    @extend_schema(
        operation_id="explainPending",
        parameters=[AT],
        responses={
            200: OpenApiResponse(
                {"type": "array", "items": _RESULT},
                "Groups of equal pending pods, largest first. Several groups can be pending for the same reason.",
            ),
            **error_responses(400, 404, 409, 503),
        },
    )
    def get(self, request: Request, session_id: UUID) -> HttpResponse:
        """Explain all pending pods. Pods that look the same to the scheduler form one group."""
        session = session_for(request, session_id, Verb.SEE)
        return analyse(session, requests.PendingPodsRequest(at=moment(request, session)))


class PendingOverview(Resource):
    """The reasons for which pods are pending."""

    rates: ClassVar[dict[str, Scope]] = {"GET": "questions"}

    @extend_schema(
        operation_id="pendingOverview",
        parameters=[AT, _CHANGES, *CARD_PARAMETERS],
        responses={200: OpenApiResponse(_RESULT, "An Overview: docs/explain.md."), **CARDS, **error_responses(400, 404, 409, 503)},
    )
    def get(self, request: Request, session_id: UUID) -> HttpResponse:
        """Summarize all pending pods: how many wait for which reason, with the numbers behind it and the groups of equal pods."""
        session = session_for(request, session_id, Verb.SEE)
        event = moment(request, session)
        if (form := card_format(request)) is None:
            return analyse(session, requests.OverviewRequest(request.query_params.get("changes") == "1", at=event))
        return _card(analyse(session, requests.OverviewCardRequest(form, theme_of(request), at=event)), form)


class ExplainPod(Resource):
    """The explanation of one pod."""

    rates: ClassVar[dict[str, Scope]] = {"GET": "questions"}

    @extend_schema(
        operation_id="explainPod",
        parameters=[AT, *CARD_PARAMETERS],
        responses={200: OpenApiResponse(_RESULT, "An Explanation: docs/explain.md."), **CARDS, **error_responses(400, 404, 409, 503)},
    )
    def get(self, request: Request, session_id: UUID, namespace: str, name: str) -> HttpResponse:
        """Explain the state of a pod: a sentence, the matrix of nodes and plugins, and the events that would requeue it."""
        session = session_for(request, session_id, Verb.SEE)
        event, pod = moment(request, session), f"{namespace}/{name}"
        if (form := card_format(request)) is None:
            return analyse(session, requests.WhyRequest(pod, at=event))
        return _card(analyse(session, requests.PodCardRequest(pod, form, theme_of(request), at=event)), form)


class SmallestChange(Resource):
    """The smallest change that would place a pod."""

    rates: ClassVar[dict[str, Scope]] = {"GET": "questions"}

    @extend_schema(
        operation_id="smallestChange",
        parameters=[AT],
        responses={
            200: OpenApiResponse(_RESULT, "Suggestions, each verified by a dry run, smallest first."),
            **error_responses(400, 404, 409, 503),
        },
    )
    def get(self, request: Request, session_id: UUID, namespace: str, name: str) -> HttpResponse:
        """Find the smallest change that would place a pod."""
        session = session_for(request, session_id, Verb.SEE)
        return analyse(session, requests.SmallestChangeRequest(f"{namespace}/{name}", at=moment(request, session)))


class ExplainMessage(Resource):
    """The meaning of a scheduler message."""

    rates: ClassVar[dict[str, Scope]] = {"POST": "questions"}

    @extend_schema(
        operation_id="explainMessage",
        request={"application/json": ref(schemas.MessageBody)},
        parameters=[AT],
        responses={200: OpenApiResponse(_RESULT, "Its clauses: docs/explain.md."), **error_responses(400, 404, 409, 503)},
    )
    def post(self, request: Request, session_id: UUID) -> HttpResponse:
        """Explain a message such as `0/5 nodes are available: …` and, for a pod, list the nodes behind each reason."""
        session = session_for(request, session_id, Verb.SEE)
        body = body_as(schemas.MessageBody, request)
        return analyse(session, requests.ExplainMessageRequest(body.text, body.pod, at=moment(request, session)), path="$.text")


class WhatIf(Resource):
    """A what-if: copies of a pod."""

    rates: ClassVar[dict[str, Scope]] = {"POST": "questions"}

    @extend_schema(
        operation_id="whatIf",
        parameters=[AT],
        request={"application/json": ref(schemas.WhatIfBody)},
        responses={
            200: OpenApiResponse(_RESULT, "How many copies fit, on which nodes, and what rejects the next one."),
            **error_responses(400, 404, 409, 503),
        },
    )
    def post(self, request: Request, session_id: UUID) -> HttpResponse:
        """Count how many copies of a pod would fit, without changing the session."""
        session = session_for(request, session_id, Verb.SEE)
        body = body_as(schemas.WhatIfBody, request)
        try:
            pod = codec.from_dict(body.pod, strict=True, kind="Pod")
        except KubeError as error:
            raise ApiError(400, "invalid", f"pod.{error}", path=f"pod.{getattr(error, 'path', '')}".rstrip(".")) from error
        if type(pod).__name__ != "Pod":
            raise ApiError(400, "invalid", f"pod.kind: expected Pod, found {type(pod).__name__}", path="pod.kind", expected="Pod")
        return analyse(session, requests.WhatIfRequest(codec.to_dict(pod), body.copies, at=moment(request, session)))


def moment(request: Request, session: Session) -> int | None:
    """The event of `?at=`; None for the newest state, so that equal requests share one result.

    Raises `Unchanged` if the client already has the result for this moment.
    """
    event = optional_number(request, "at")
    if request.method == "GET":
        versions.set_etag(request, versions.etag_of_moment(session, event))
    return event if event is not None and event < session.event else None


def card_format(request: Request) -> CardFormat | None:
    """The format of `?format=`; None for JSON."""
    form = one_of(request, "format", _FORMATS)
    return None if form == "json" else cast("CardFormat", form)


def theme_of(request: Request) -> ThemeName:
    """The theme of `?theme=`."""
    return cast("ThemeName", one_of(request, "theme", THEME_NAMES))


def _card(response: HttpResponse, form: CardFormat) -> HttpResponse:
    return card_response(msgspec.json.decode(response.content, type=bytes), form)


def card_response(card: bytes, form: CardFormat) -> HttpResponse:
    """A card with its media type and its policy."""
    response = HttpResponse(card, content_type=MEDIA_TYPES[form])
    if form == "html":
        response["Content-Security-Policy"] = HTML_POLICY
    return response


def analyse(session: Session, analysis: requests.AnyAnalysisRequest, *, path: str = "") -> HttpResponse:
    """The response with the result of an analysis. Raises `ApiError` as `analysis_result`."""
    return HttpResponse(analysis_result(session, analysis, path=path), content_type="application/json")


def analysis_result(session: Session, analysis: requests.AnyAnalysisRequest, *, path: str = "", unavailable_status: int = 409) -> bytes:
    """The result of an analysis as JSON. Raises `ApiError` 400 (with the `path` of the invalid member), 404, 409 or 503;
    `unavailable_status` if the moment is no longer stored.
    """

    def wait(seconds: float) -> bytes:
        return requests.request_result(session, analysis, timeout_seconds=seconds, sender=requester.get())

    try:
        if (stored := requests.stored_result(session, analysis)) is not None:
            return stored
        with late_results():
            return coalesce(requests.result_key(session, analysis), wait, late=requests.ResultLate)
    except requests.InvalidRequest as error:
        raise ApiError(400, error.code, str(error), path=path) from error
    except requests.SubjectNotFound as error:
        raise ApiError(404, error.code, str(error)) from error
    except HistoryUnavailable as error:
        raise ApiError(unavailable_status, error.code, str(error)) from error
    except (requests.AnalysisFailed, requests.ResultTooLarge) as error:
        raise ApiError(409, error.code, str(error)) from error
