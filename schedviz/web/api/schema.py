"""The OpenAPI schema of our structs: `ref(Struct)` in an `extend_schema`, and the hook that puts their definitions in the document."""

from __future__ import annotations

from typing import Any

import msgspec
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse
from drf_spectacular.views import SpectacularAPIView
from msgspec.json import schema_components

from schedviz.trace.commands import AnyCommand
from schedviz.trace.comparing import Comparison
from schedviz.web.accounts import bodies as accounts
from schedviz.web.api import bodies
from schedviz.web.api.bodies import lessons
from schedviz.web.api.problems import MEDIA_TYPE, ProblemBody, ProblemList
from schedviz.web.rooms import bodies as rooms

_TEMPLATE = "#/components/schemas/{name}"
#: Every struct that a path refers to; those inside them follow by themselves.
_ROOTS: tuple[Any, ...] = (
    bodies.SessionBody,
    bodies.SessionList,
    bodies.NewSession,
    bodies.NewSessionFiles,
    bodies.SessionChange,
    bodies.NewFork,
    bodies.ForkList,
    Comparison,
    *rooms.ROOTS,
    *accounts.ROOTS,
    bodies.CommandBody,
    bodies.CommandList,
    bodies.CommandsTaken,
    bodies.StateBody,
    bodies.ViewBody,
    bodies.TimelineBody,
    bodies.CycleList,
    bodies.EventList,
    bodies.StoryBody,
    bodies.NewBreakpoint,
    bodies.BreakpointChange,
    bodies.BreakpointList,
    bodies.NewObservations,
    bodies.ObservationsTaken,
    bodies.NamesBody,
    bodies.ObserverBody,
    bodies.AgreementBody,
    bodies.QuotaList,
    bodies.SampleLine,
    bodies.SampleList,
    bodies.MessageBody,
    bodies.WhatIfBody,
    lessons.CourseBody,
    lessons.LessonBody,
    lessons.LessonHints,
    lessons.LessonProgress,
    lessons.LessonVersion,
    bodies.NewLink,
    bodies.LinkList,
    ProblemBody,
    ProblemList,
    AnyCommand,
)


def ref(struct: type[msgspec.Struct]) -> dict[str, Any]:
    """A reference to the schema of a struct that is in `_ROOTS` or inside one of them."""
    return {"$ref": _TEMPLATE.format(name=struct.__name__)}


def command_request() -> dict[str, Any]:
    """A command with its optional key, flat."""
    schemas, _ = schema_components([AnyCommand], ref_template=_TEMPLATE)
    schema: dict[str, Any] = next(iter(schemas))
    key = {
        "type": "object",
        "properties": {"key": {"type": "string", "minLength": 1, "maxLength": 200, "description": "The same key is the same command."}},
    }
    return {"allOf": [{"anyOf": schema["anyOf"], "discriminator": schema["discriminator"]}, key]}


def commands_request(most: int) -> dict[str, Any]:
    """Many of them."""
    commands = {"type": "array", "items": command_request(), "minItems": 1, "maxItems": most}
    return {"type": "object", "properties": {"commands": commands}, "required": ["commands"], "additionalProperties": False}


def add_components(result: dict[str, Any], **_kwargs: Any) -> dict[str, Any]:
    """A drf-spectacular hook: the definitions of all structs."""
    _, components = schema_components(_ROOTS, ref_template=_TEMPLATE)
    schemas = result.setdefault("components", {}).setdefault("schemas", {})
    for name, schema in components.items():
        # A command's struct forbids unknown members; beside a key, which is not one of them, it must not.
        schemas[name] = {k: v for k, v in schema.items() if k != "additionalProperties" or v is not False}
    return result


def refused(*statuses: int) -> dict[Any, OpenApiResponse]:
    """The answers of a refused request, all of one shape. A status twice is one."""
    body = ref(ProblemBody)
    return {(status, MEDIA_TYPE): OpenApiResponse(response=body, description=_REASONS[status]) for status in (*statuses, 429, 503)}


IF_MATCH = OpenApiParameter(
    "If-Match", str, OpenApiParameter.HEADER, description="Its ETag as you saw it: 412 where it is another one now."
)
NOT_MODIFIED = OpenApiResponse(description="If-None-Match: it is as you have it.")
_REASONS = {
    400: "Something in the request is wrong; `path` says where.",
    401: "A login or a token is needed.",
    403: "You may look at this, and not do this.",
    404: "It does not exist, or you may not know that it does.",
    409: "Not in this state.",
    413: "Too large; the message names the limit.",
    412: "If-Match: it is not as you saw it any more.",
    415: "Another Content-Type is needed.",
    429: "Too many requests or commands; Retry-After says when to try again.",
    503: "The database or the workers do not answer.",
}


def answer(struct: type[msgspec.Struct], description: str = "") -> OpenApiResponse:
    """An answer with this struct."""
    return OpenApiResponse(response=ref(struct), description=description or (struct.__doc__ or "").splitlines()[0])


def query(name: str, kind: type, description: str) -> OpenApiParameter:
    """A member of the query string."""
    return OpenApiParameter(name, kind, OpenApiParameter.QUERY, description=description)


class SchemaView(SpectacularAPIView):
    """The OpenAPI document of this API."""

    from drf_spectacular.renderers import OpenApiJsonRenderer, OpenApiYamlRenderer
    from rest_framework.negotiation import DefaultContentNegotiation

    renderer_classes = [OpenApiJsonRenderer, OpenApiYamlRenderer]  # noqa: RUF012 - as DRF has it
    content_negotiation_class = DefaultContentNegotiation
