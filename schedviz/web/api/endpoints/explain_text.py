"""`/api/v1/explain/message/`: the scheduler's messages in a pasted text, explained without a session."""

from __future__ import annotations

from typing import Any, ClassVar, Final

import msgspec
import redis
from django.http import HttpResponse
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework.request import Request

from schedviz.sessions.redis import wakeups, worker_calls
from schedviz.web.api import schemas
from schedviz.web.api.access import actor_for, body_as
from schedviz.web.api.endpoints.explain import CARD_PARAMETERS, CARDS, card_format, card_response, theme_of
from schedviz.web.api.errors import ApiError
from schedviz.web.api.late_results import late_results, not_ready
from schedviz.web.api.openapi import error_responses, ref
from schedviz.web.api.rate_limit import Scope
from schedviz.web.api.resource import Resource
from schedviz.web.auth.actors import Verb
from schedviz.web.server.waiting_requests import requester, worker_waits

_TIMEOUT_SECONDS: Final = 15.0
_NO_MESSAGE: Final = (
    "text has no message of the scheduler. Expected one such as `0/5 nodes are available: …`. Paste the output of `kubectl describe pod`."
)
_RESULT: Any = {"type": "object", "additionalProperties": True}


class _Card(msgspec.Struct):
    card: bytes | None = None


class ExplainText(Resource):
    """The explanation of a pasted text."""

    rates: ClassVar[dict[str, Scope]] = {"POST": "questions"}

    @extend_schema(
        operation_id="explainText",
        request={"application/json": ref(schemas.PastedTextBody)},
        parameters=CARD_PARAMETERS,
        responses={200: OpenApiResponse(_RESULT, "Its messages: docs/explain.md."), **CARDS, **error_responses(400, 401, 503)},
    )
    def post(self, request: Request) -> HttpResponse:
        """Find the scheduler's messages in a text, such as the output of `kubectl describe pod`, and explain their clauses.

        A card is that of the first message.
        """
        actor_for(request, Verb.LIST)
        body = body_as(schemas.PastedTextBody, request)
        if [bool(body.text), any(body.texts), bool(body.file)].count(True) != 1:
            raise ApiError(400, "invalid", "Send either text, texts or file.", path="$.text")
        pasted: dict[str, Any] = {"text": body.text, "texts": body.texts, "file": body.file, "pod": body.pod}
        if (form := card_format(request)) is None:
            return HttpResponse(_explained(pasted), content_type="application/json")
        card = msgspec.json.decode(_explained(pasted | {"form": form, "theme": theme_of(request)}), type=_Card).card
        if card is None:
            raise ApiError(400, "invalid", _NO_MESSAGE, path="$.text")
        return card_response(card, form)


def _explained(pasted: dict[str, Any]) -> bytes:
    pasted = {**pasted, "sender": requester.get()}
    try:
        with late_results(), worker_waits.slot():
            explained = worker_calls.call(
                wakeups.EXPLAIN_TEXT, msgspec.json.encode(pasted), queue=wakeups.IO_QUEUE, timeout_seconds=_TIMEOUT_SECONDS
            )
    except (worker_calls.EnqueueFailed, redis.RedisError) as error:
        raise not_ready("The workers cannot be reached. Try again in a moment.") from error
    except worker_calls.NoWorker as error:
        raise not_ready("No io worker is running. Start one (`schedviz up` does), then send the request again.") from error
    if explained is None:
        raise not_ready(f"The text was not read within {_TIMEOUT_SECONDS:g} s, because all io workers are busy. Try again later.")
    return explained
