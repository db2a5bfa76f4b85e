"""Parses JSON bodies, and limits their size and nesting."""

from __future__ import annotations

from typing import IO, Any

import msgspec
from django.conf import settings
from rest_framework.parsers import BaseParser

from schedviz.kube.nesting import NESTING_DEPTH, TOO_DEEP, is_nested_deeper
from schedviz.web.api.errors import ApiError


class JsonParser(BaseParser):
    """A JSON body of at most BODY_BYTES."""

    media_type = "application/json"

    def parse(self, stream: IO[Any], _media_type: str | None = None, _parser_context: Any = None) -> Any:
        data = read_body(stream)
        try:
            document = msgspec.json.decode(data)
        except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
            raise ApiError(
                400, "bad_json", f"The body is not JSON: {error}.", hint="Send one JSON object with Content-Type: application/json."
            ) from error
        if is_nested_deeper(document):
            raise ApiError(400, "invalid", f"$: {TOO_DEEP}", path="$", expected=f"at most {NESTING_DEPTH} levels")
        return document


def read_body(stream: IO[Any]) -> bytes:
    """The body, read up to the limit. Raises `ApiError` 413."""
    limit: int = settings.BODY_BYTES
    data: bytes = stream.read(limit + 1)
    if len(data) > limit:
        raise too_large("The body", limit, "SCHEDVIZ_BODY_BYTES")
    return data


def too_large(what: str, limit: int, setting: str, hint: str = "") -> ApiError:
    """A 413 that names the limit."""
    return ApiError(
        413,
        "too_large",
        f"{what} is larger than {limit:,} bytes, the limit {setting} of this server.",
        expected=f"at most {limit} bytes",
        hint=hint or f"If you operate this server, raise {setting}.",
    )
