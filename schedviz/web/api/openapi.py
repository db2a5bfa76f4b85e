"""OpenAPI schemas of msgspec structs: `ref(Struct)` for `extend_schema`, and the hook that adds the definitions to the document."""

from __future__ import annotations

import hashlib
from threading import Lock
from typing import Any, get_args

import msgspec
from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.utils import translation
from django.utils.cache import get_conditional_response
from django.utils.encoding import force_bytes
from drf_spectacular.renderers import OpenApiJsonRenderer, OpenApiYamlRenderer
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse
from drf_spectacular.views import SpectacularAPIView
from msgspec.json import schema_components
from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.request import Request

from schedviz.experiments.results.columnar import ColumnarResults
from schedviz.experiments.results.document import Results
from schedviz.trace.commands import AnyCommand
from schedviz.trace.comparing import Comparison
from schedviz.web.accounts import schemas as accounts
from schedviz.web.api import schemas
from schedviz.web.api.problem_details import MEDIA_TYPE, ProblemBody, ProblemList
from schedviz.web.api.schemas import lessons
from schedviz.web.member_descriptions import describe_members
from schedviz.web.rooms import schemas as rooms

#: The prefix of the schema names of sent commands.
_SENT = "Send"
_TEMPLATE = "#/components/schemas/{name}"
#: All structs that paths refer to. Nested structs are found from them.
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
    schemas.NewExperiment,
    schemas.ExperimentBody,
    schemas.ExperimentList,
    Results,
    ColumnarResults,
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
    schemas.CaseList,
    schemas.SampleList,
    schemas.MessageBody,
    schemas.PastedTextBody,
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
    """A reference to the schema of a struct in `_ROOTS`, or of one nested in it."""
    return {"$ref": _TEMPLATE.format(name=struct.__name__)}


def command_request() -> dict[str, Any]:
    """A command with its optional key, in one object."""
    definitions, _ = schema_components([AnyCommand], ref_template=_TEMPLATE)
    schema: dict[str, Any] = next(iter(definitions))
    sent = {name: reference.replace("/schemas/", f"/schemas/{_SENT}") for name, reference in schema["discriminator"]["mapping"].items()}
    discriminator = {**schema["discriminator"], "mapping": sent}
    return {"oneOf": [{"$ref": reference} for reference in sent.values()], "discriminator": discriminator}


def _sent_commands(components: dict[str, Any]) -> dict[str, Any]:
    """Each kind of command with its optional key, as clients send it."""
    key = {
        "type": "string",
        "minLength": 1,
        "maxLength": 200,
        "description": "A command that is sent again with the same key is stored once.",
    }
    names = [kind.__name__ for kind in get_args(AnyCommand)]
    return {
        f"{_SENT}{name}": {**components[name], "properties": {**components[name]["properties"], "key": key}, "additionalProperties": False}
        for name in names
    }


def commands_request(maximum: int) -> dict[str, Any]:
    """A list of commands."""
    commands = {"type": "array", "items": command_request(), "minItems": 1, "maxItems": maximum}
    return {"type": "object", "properties": {"commands": commands}, "required": ["commands"], "additionalProperties": False}


def add_components(result: dict[str, Any], **_kwargs: Any) -> dict[str, Any]:
    """A drf-spectacular hook: the definitions of all structs."""
    _, components = schema_components(_ROOTS, ref_template=_TEMPLATE)
    describe_members(components, _ROOTS)
    definitions = result.setdefault("components", {}).setdefault("schemas", {})
    definitions.update(components)
    definitions.update(_sent_commands(components))
    for methods in result.get("paths", {}).values():
        for operation in methods.values():
            _require_body(operation, definitions)
    return result


def _require_body(operation: dict[str, Any], definitions: dict[str, Any]) -> None:
    """Mark a body as required if it has required members."""
    body = operation.get("requestBody", {})
    for content in body.get("content", {}).values():
        schema = content["schema"]
        schema = definitions[schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema
        if schema.get("required") or "oneOf" in schema:
            body["required"] = True


def error_responses(*statuses: int) -> dict[Any, OpenApiResponse]:
    """The error responses of an operation, besides those of every operation. Repeated statuses count once."""
    body = ref(ProblemBody)
    everywhere = (400, 401, 406, 429, 503)
    return {(status, MEDIA_TYPE): OpenApiResponse(response=body, description=_DESCRIPTIONS[status]) for status in (*statuses, *everywhere)}


IF_MATCH = OpenApiParameter(
    "If-Match", str, OpenApiParameter.HEADER, description="The ETag that you read; 412 if the resource has changed since."
)
NOT_MODIFIED = OpenApiResponse(description="Not modified: the ETag equals If-None-Match.")
_DESCRIPTIONS = {
    400: "The request is invalid; `path` names the member.",
    401: "This request requires a login or a token.",
    403: "Your permissions do not allow this.",
    404: "Not found, or you do not have access.",
    406: "Accept allows none of the media types of this address.",
    409: "Not possible in the current state.",
    412: "If-Match: it has changed since you read it.",
    413: "Too large; the message names the limit.",
    415: "The Content-Type is not supported.",
    429: "Too many requests or commands; Retry-After says when to try again.",
    503: "The database or the workers are unavailable.",
    507: "A disk is full; the message says which.",
}


def response(struct: type[msgspec.Struct], description: str = "") -> OpenApiResponse:
    """A response with this struct."""
    return OpenApiResponse(response=ref(struct), description=description or (struct.__doc__ or "").splitlines()[0])


#: By media type, the rendered documents with their ETags.
_documents: dict[str, tuple[bytes, str]] = {}
_documents_lock = Lock()


class SchemaView(SpectacularAPIView):
    """The OpenAPI document of this API."""

    renderer_classes = [OpenApiJsonRenderer, OpenApiYamlRenderer]  # noqa: RUF012 - as DRF has it
    content_negotiation_class = DefaultContentNegotiation

    def _get_schema_response(self, request: Request) -> HttpResponseBase | None:
        """The document, which is made once for each process and media type. Upstream: drf_spectacular/views.py"""
        renderer = request.accepted_renderer
        with _documents_lock:
            if renderer.media_type not in _documents:
                # Without the request, whose parameters must not be part of what others get.
                with translation.override(None):
                    schema: Any = self.generator_class().get_schema(public=True)  # type: ignore[no-untyped-call]  # drf-spectacular's
                rendered = force_bytes(renderer.render(schema, renderer_context={}))
                _documents[renderer.media_type] = rendered, f'"{hashlib.sha256(rendered).hexdigest()[:32]}"'
        content, etag = _documents[renderer.media_type]
        headers = {"Content-Disposition": f'inline; filename="schedviz.{renderer.format}"', "ETag": etag}
        found = HttpResponse(content, content_type=renderer.media_type, headers=headers)
        return get_conditional_response(request, etag=etag, response=found)
