"""The base class of all REST resources, which enforces the query parameters of the OpenAPI document.

`extend_schema(parameters=[query(…)])` of a method is both the documentation and the check.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from drf_spectacular.utils import OpenApiParameter
from rest_framework.exceptions import AuthenticationFailed, PermissionDenied
from rest_framework.request import Request
from rest_framework.views import APIView

from schedviz.sessions.senders import sender_group_of
from schedviz.web.addresses import client_network
from schedviz.web.api.errors import ApiError
from schedviz.web.api.openapi_reader import query_parameters
from schedviz.web.api.rate_limit import RequestRate
from schedviz.web.auth.actors import Actor
from schedviz.web.auth.permissions import actor_of
from schedviz.web.redaction import printable
from schedviz.web.server.waiting_requests import requester

#: The largest integer that JSON numbers represent exactly.
MAX_NUMBER = (1 << 53) - 1
_MAX_FOUND_LENGTH = 80


def query(
    name: str,
    kind: type,
    description: str,
    *,
    maximum: int | None = None,
    choices: tuple[str, ...] = (),
    pattern: str = "",
    required: bool = False,
) -> OpenApiParameter:
    """A query parameter: a text, or a whole number from 0 to `maximum`.

    The view itself checks a `pattern`, and that a `required` parameter is present, so that it can word the error.
    """
    schema: dict[str, Any] = {"type": "string"}
    if kind is int:
        schema = {"type": "integer", "minimum": 0, "maximum": MAX_NUMBER if maximum is None else maximum}
    elif choices:
        schema["enum"] = list(choices)
    elif pattern:
        schema["pattern"] = pattern
    elif required:
        schema["minLength"] = 1
    return OpenApiParameter(name, schema, OpenApiParameter.QUERY, description=description, required=required)


class Resource(APIView):
    """A resource."""

    def perform_authentication(self, request: Request) -> None:
        """Authenticate the client. Refused credentials count as an anonymous request, because each costs queries."""
        try:
            super().perform_authentication(request)
        except (AuthenticationFailed, PermissionDenied):
            RequestRate().count_refused(request)
            raise

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Checks before the method runs. Raises `ApiError` 400 for undocumented or invalid query parameters."""
        super().initial(request, *args, **kwargs)
        actor = actor_of(request)
        requester.set(_requester(actor, request))
        declared = query_parameters(self, request.method)
        if declared is not None:
            _validate_parameters(request, declared)


def _requester(actor: Actor, request: Request) -> str:
    """The sender for whom limits count a request (`schedviz.sessions.senders`). Holders of share links are those of their address, because
    anybody with an account can make links, and many people can hold one.
    """
    network = client_network(request)
    if actor.user_id is not None:
        return sender_group_of(actor.identity).sender
    return f"guest {network} {actor.guest}" if actor.guest else f"address {network}"


def _validate_parameters(request: Request, declared: Mapping[str, OpenApiParameter]) -> None:
    for name, values in request.query_params.lists():
        if name not in declared:
            expected = ", ".join(declared) or "no parameter"
            shown = printable(name, _MAX_FOUND_LENGTH)
            raise _wrong(shown, f"this address has no such parameter; it has {expected}", expected, shown)
        if len(values) > 1:
            raise _wrong(name, "is given more than once", "one value", f"{len(values)} values")
        # An empty value counts as missing.
        if values[0]:
            _validate_value(name, values[0], declared[name].type)


def _validate_value(name: str, value: str, schema: Any) -> None:
    shown = printable(value, _MAX_FOUND_LENGTH)
    if schema["type"] == "integer":
        if not re.fullmatch("[0-9]{1,18}", value):
            raise _wrong(name, f"a whole number of 0 or more is expected, found {shown}", "int", shown)
        if int(value) > schema["maximum"]:
            expected = f"at most {schema['maximum']}"
            raise _wrong(name, f"{expected} is expected, found {shown}", expected, shown)
    elif value not in schema.get("enum", (value,)):
        expected = ", ".join(schema["enum"])
        raise _wrong(name, f"one of {expected} is expected, found {shown}", expected, shown)


def _wrong(name: str, message: str, expected: str, found: str) -> ApiError:
    return ApiError(400, "invalid", f"?{name}: {message}.", path=f"?{name}", expected=expected, found=found)
