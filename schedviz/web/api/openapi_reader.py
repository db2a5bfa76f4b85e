"""Reads from the OpenAPI annotations (`extend_schema`) of a view what its methods accept and return, so that requests can be checked
against it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec
from drf_spectacular.utils import OpenApiParameter


class _Documented(msgspec.Struct, frozen=True):
    """The documented query parameters of a method by name, and the media types of its responses."""

    parameters: Mapping[str, OpenApiParameter]
    media_types: list[str]


#: Results by method. They do not change while a server runs.
_read: dict[Callable[..., Any], _Documented] = {}


def query_parameters(view: Any, method: str | None) -> Mapping[str, OpenApiParameter] | None:
    """The query parameters of a method by name; None if the view does not define the method itself."""
    documented = _of(view, method)
    return None if documented is None else documented.parameters


def media_types(view: Any, method: str | None) -> list[str]:
    """The media types of a method's responses; JSON by default."""
    documented = _of(view, method)
    return ["application/json"] if documented is None else documented.media_types


def _of(view: Any, method: str | None) -> _Documented | None:
    handler = getattr(type(view), "get" if method == "HEAD" else (method or "").lower(), None)
    described = getattr(handler, "kwargs", {}).get("schema")
    if handler is None or method == "OPTIONS":
        return None
    if handler not in _read:
        if described is None:
            _read[handler] = _Documented({}, ["application/json"])
        else:
            schema = described()
            schema.view, schema.method = view, method
            _read[handler] = _Documented(_parameters(schema), _media_types(schema))
    return _read[handler]


def _parameters(schema: Any) -> Mapping[str, OpenApiParameter]:
    return {parameter.name: parameter for parameter in schema.get_override_parameters() if parameter.location == OpenApiParameter.QUERY}


def _media_types(schema: Any) -> list[str]:
    responses = schema.get_response_serializers()
    result = [key[1] for key in responses if isinstance(key, tuple) and str(key[0]).startswith("2")]
    has_json = any(not isinstance(key, tuple) and str(key).startswith("2") for key in responses)
    return [*result, "application/json"] if has_json or not result else result
