"""`/api/v1/samples/`: the samples that ship with schedviz, as trace files."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from schedviz import samples
from schedviz.web.api import schemas, versions
from schedviz.web.api.access import actor_for
from schedviz.web.api.errors import ApiError
from schedviz.web.api.openapi import NOT_MODIFIED, error_responses, response
from schedviz.web.api.resource import Resource
from schedviz.web.auth.actors import Verb

_TRACE: Any = {"type": "object", "additionalProperties": True}


class Samples(Resource):
    """The samples."""

    @extend_schema(operation_id="listSamples", responses={200: response(schemas.SampleList), 304: NOT_MODIFIED, **error_responses(401)})
    def get(self, request: Request) -> Response:
        """List the samples by name."""
        actor_for(request, Verb.LIST)
        body = schemas.SampleList(results=[schemas.SampleLine(sample.name, sample.description) for sample in samples.samples()])
        return versions.versioned(request, body)


class OneSample(Resource):
    """One sample."""

    @extend_schema(
        operation_id="getSample",
        responses={200: OpenApiResponse(_TRACE, "A schedviz-trace/1."), 304: NOT_MODIFIED, **error_responses(401, 404)},
    )
    def get(self, request: Request, name: str) -> HttpResponse:
        """Download the trace file of a sample. `POST sessions/ {"trace": …}` creates a session from it."""
        actor_for(request, Verb.LIST)
        try:
            sample = samples.sample(name)
        except LookupError as error:
            raise ApiError(404, "not_found", f"{str(error)[:1].upper()}{str(error)[1:]}.") from error
        versions.set_etag(request, versions.etag_of_content(sample))
        return HttpResponse(sample, content_type="application/json")
