"""The OpenAPI schema of our structs: `ref(Struct)` in an `extend_schema`, and the hook that puts their definitions in the document."""

from __future__ import annotations

from typing import Any, get_args

import msgspec
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse
from drf_spectacular.views import SpectacularAPIView
from msgspec.json import schema_components

from schedviz.trace.commands import AnyCommand
from schedviz.trace.comparing import Comparison
from schedviz.web.accounts import schemas as accounts
from schedviz.web.api import schemas
from schedviz.web.api.problems import MEDIA_TYPE, ProblemBody, ProblemList
from schedviz.web.api.schemas import lessons
from schedviz.web.rooms import schemas as rooms

#: What the name of a command's schema begins with, as it is sent.
_SENT = "Send"
_TEMPLATE = "#/components/schemas/{name}"
#: Every struct that a path refers to; those inside them follow by themselves.
_ROOTS: tuple[Any, ...] = (
    schemas.SessionBody,
    schemas.SessionList,
    schemas.NewSession,
    schemas.NewSessionFiles,
    schemas.SessionChange,
    schemas.NewFork,
    schemas.ForkList,
    Comparison,
    *rooms.ROOTS,
    *accounts.ROOTS,
    schemas.CommandBody,
    schemas.CommandList,
    schemas.CommandsTaken,
    schemas.StateBody,
    schemas.ViewBody,
    schemas.TimelineBody,
    schemas.CycleList,
    schemas.EventList,
    schemas.StoryBody,
    schemas.NewBreakpoint,
    schemas.BreakpointChange,
    schemas.BreakpointList,
    schemas.NewObservations,
    schemas.ObservationsTaken,
    schemas.NamesBody,
    schemas.ObserverBody,
    schemas.AgreementBody,
    schemas.QuotaList,
    schemas.SampleLine,
    schemas.SampleList,
    schemas.MessageBody,
    schemas.WhatIfBody,
    lessons.CourseBody,
    lessons.LessonBody,
    lessons.LessonHints,
    lessons.LessonProgress,
    lessons.LessonVersion,
    schemas.NewLink,
    schemas.LinkList,
    ProblemBody,
    ProblemList,
    AnyCommand,
)


def ref(struct: type[msgspec.Struct]) -> dict[str, Any]:
    """A reference to the schema of a struct that is in `_ROOTS` or inside one of them."""
    return {"$ref": _TEMPLATE.format(name=struct.__name__)}


def command_request() -> dict[str, Any]:
    """A command with its optional key, flat."""
    definitions, _ = schema_components([AnyCommand], ref_template=_TEMPLATE)
    schema: dict[str, Any] = next(iter(definitions))
    sent = {name: reference.replace("/schemas/", f"/schemas/{_SENT}") for name, reference in schema["discriminator"]["mapping"].items()}
    discriminator = {**schema["discriminator"], "mapping": sent}
    return {"oneOf": [{"$ref": reference} for reference in sent.values()], "discriminator": discriminator}


def _sent_commands(components: dict[str, Any]) -> dict[str, Any]:
    """Each command with its optional key, as it is sent."""
    key = {"type": "string", "minLength": 1, "maxLength": 200, "description": "The same key is the same command."}
    names = [kind.__name__ for kind in get_args(AnyCommand)]
    return {
        f"{_SENT}{name}": {**components[name], "properties": {**components[name]["properties"], "key": key}, "additionalProperties": False}
        for name in names
    }


def commands_request(most: int) -> dict[str, Any]:
    """Many of them."""
    commands = {"type": "array", "items": command_request(), "minItems": 1, "maxItems": most}
    return {"type": "object", "properties": {"commands": commands}, "required": ["commands"], "additionalProperties": False}


def add_components(result: dict[str, Any], **_kwargs: Any) -> dict[str, Any]:
    """A drf-spectacular hook: the definitions of all structs."""
    _, components = schema_components(_ROOTS, ref_template=_TEMPLATE)
    definitions = result.setdefault("components", {}).setdefault("schemas", {})
    definitions.update(components)
    definitions.update(_sent_commands(components))
    for methods in result.get("paths", {}).values():
        for operation in methods.values():
            _require_body(operation, definitions)
    return result


def _require_body(operation: dict[str, Any], definitions: dict[str, Any]) -> None:
    """Say that a body is needed where it has members that are."""
    body = operation.get("requestBody", {})
    for content in body.get("content", {}).values():
        schema = content["schema"]
        schema = definitions[schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema
        if schema.get("required") or "oneOf" in schema:
            body["required"] = True


def refused(*statuses: int) -> dict[Any, OpenApiResponse]:
    """The answers of a refused request, all of one shape. A status twice is one."""
    body = ref(ProblemBody)
    everywhere = (400, 401, 406, 429, 503)
    return {(status, MEDIA_TYPE): OpenApiResponse(response=body, description=_REASONS[status]) for status in (*statuses, *everywhere)}


IF_MATCH = OpenApiParameter(
    "If-Match", str, OpenApiParameter.HEADER, description="Its ETag as you saw it: 412 where it is another one now."
)
NOT_MODIFIED = OpenApiResponse(description="If-None-Match: it is as you have it.")
_REASONS = {
    400: "Something in the request is wrong; `path` says where.",
    401: "A login or a token is needed.",
    403: "You may look at this, and not do this.",
    406: "The address answers with none of the types in Accept.",
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


class SchemaView(SpectacularAPIView):
    """The OpenAPI document of this API."""

    from drf_spectacular.renderers import OpenApiJsonRenderer, OpenApiYamlRenderer
    from rest_framework.negotiation import DefaultContentNegotiation

    renderer_classes = [OpenApiJsonRenderer, OpenApiYamlRenderer]  # noqa: RUF012 - as DRF has it
    content_negotiation_class = DefaultContentNegotiation
