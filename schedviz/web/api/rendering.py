"""Answers are JSON, written by msgspec: they may hold its structs, and a state of 5,000 nodes is written in milliseconds."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.parsers import BaseParser
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request

_encoder = msgspec.json.Encoder(enc_hook=str)


class JsonRenderer(BaseRenderer):
    """JSON in UTF-8."""

    media_type = "application/json"
    format = "json"
    charset = None
    render_style = "binary"

    def render(self, data: Any, _accepted_media_type: str | None = None, _renderer_context: Any = None) -> bytes:
        return b"" if data is None else _encoder.encode(data)


class AlwaysJson(BaseContentNegotiation):
    """JSON whatever the Accept header says: nobody types an Accept header for curl, and there is nothing else to choose."""

    def select_parser(self, request: Request, parsers: Iterable[BaseParser]) -> BaseParser | None:
        from rest_framework.utils.mediatypes import media_type_matches

        for parser in parsers:
            if media_type_matches(parser.media_type, request.content_type):
                return parser
        return None

    def select_renderer(self, _request: Request, renderers: Iterable[BaseRenderer], _format_suffix: str | None = None) -> Any:
        first = next(iter(renderers))
        return first, first.media_type
