"""Renders JSON with msgspec: responses may contain structs, and a state of 5,000 nodes is encoded in milliseconds."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.parsers import BaseParser
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request

from schedviz.web.api.errors import ApiError
from schedviz.web.api.openapi_reader import media_types
from schedviz.web.api.problem_details import MEDIA_TYPE
from schedviz.web.redaction import printable

_encoder = msgspec.json.Encoder(enc_hook=str)


class JsonRenderer(BaseRenderer):
    """JSON in UTF-8."""

    media_type = "application/json"
    format = "json"
    charset = None
    render_style = "binary"

    def render(self, data: Any, _accepted_media_type: str | None = None, _renderer_context: Any = None) -> bytes:
        return b"" if data is None else encoded(data)


def encoded(data: Any) -> bytes:
    """JSON, as `JsonRenderer` renders it."""
    return _encoder.encode(data)


class DocumentedTypes(BaseContentNegotiation):
    """Content negotiation by the OpenAPI document: 406 if `Accept` allows neither a documented media type nor a problem."""

    def select_parser(self, request: Request, parsers: Iterable[BaseParser]) -> BaseParser | None:
        from rest_framework.utils.mediatypes import media_type_matches

        for parser in parsers:
            if media_type_matches(parser.media_type, request.content_type):
                return parser
        return None

    def select_renderer(self, request: Request, renderers: Iterable[BaseRenderer], _format_suffix: str | None = None) -> Any:
        offered = media_types(request.parser_context["view"], request.method)
        if not any(request._request.accepts(media_type) for media_type in (*offered, MEDIA_TYPE)):  # noqa: SLF001 -- DRF has no other way to what it wraps.
            actual, expected = printable(request.headers.get("Accept", ""), 80), ", ".join(offered)
            message = f"Accept: {actual}: this address responds with {expected}."
            raise ApiError(406, "not_acceptable", message, path="Accept", expected=expected, found=actual, hint="Send Accept: */*.")
        first = next(iter(renderers))
        return first, first.media_type
