"""`/api/v1/sessions/{id}/observations/`: events of a real cluster, pushed so that the session follows it."""

from __future__ import annotations

import hashlib
from typing import Any
from uuid import UUID

import msgspec
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from schedviz.sessions.errors import SessionError
from schedviz.sessions.observing import observations
from schedviz.sessions.observing.observations import CannotFollow, WrongBatch
from schedviz.web.api import schemas, versions
from schedviz.web.api.access import body_as, session_for, whole_number
from schedviz.web.api.endpoints.commands import command_refused
from schedviz.web.api.errors import ApiError
from schedviz.web.api.openapi import NOT_MODIFIED, error_responses, ref, response
from schedviz.web.api.resource import Resource, query
from schedviz.web.auth.actors import Verb

_OBJECTS_AT_ONCE = 5000


class Observations(Resource):
    """The observations of a followed cluster."""

    @extend_schema(
        operation_id="getObserver",
        parameters=[
            query("after", int, "`next` of the previous page of objects."),
            query("limit", int, f"Objects, at most {_OBJECTS_AT_ONCE} (1000); 0: none.", maximum=_OBJECTS_AT_ONCE),
        ],
        responses={200: response(schemas.ObserverBody), 304: NOT_MODIFIED, **error_responses(400, 404)},
    )
    def get(self, request: Request, session_id: UUID) -> Response:
        """Read which source the session follows, which batch is expected, and what was observed last."""
        session = session_for(request, session_id, Verb.SEE)
        limit = whole_number(request, "limit", default=1000, maximum=_OBJECTS_AT_ONCE)
        rows = observations.known_objects(session.pk, after=whole_number(request, "after", default=0), limit=limit)
        found = observations.observer_of(session.pk)
        return versions.versioned(
            request,
            schemas.ObserverBody(
                source=None if found is None else found.source,
                expected=1 if found is None else found.n + 1,
                events=0 if found is None else found.events,
                seq=0 if found is None else found.last_seq,
                pushed_at=None if found is None else found.pushed_at,
                objects=[schemas.ObservedObject(kind=row.kind, key=row.key, uid=row.uid, version=row.version) for row in rows],
                next=rows[-1].pk if rows and len(rows) == limit else None,
            ),
        )

    @extend_schema(
        operation_id="pushObservations",
        request={"application/json": ref(schemas.NewObservations)},
        responses={
            201: response(schemas.ObservationsTaken),
            200: response(schemas.ObservationsTaken, "The same batch was accepted before."),
            **error_responses(400, 403, 404, 409, 413, 415),
        },
    )
    def post(self, request: Request, session_id: UUID) -> Response:
        """Push the next batch. It is accepted as a whole or not at all. The last batch may be repeated. A 409 names the expected batch."""
        session = session_for(request, session_id, Verb.COMMAND)
        new = body_as(schemas.NewObservations, request)
        content: Any = [new.events, new.decisions] if new.decisions else new.events
        digest = hashlib.sha256(msgspec.json.encode(content, order="sorted")).hexdigest()
        try:
            taken = observations.accept_batch(
                session.pk, new.source, new.n, new.events, digest=digest, version=new.version, times=new.decisions
            )
        except WrongBatch as error:
            raise ApiError(
                409,
                error.code,
                f"$.{error}",
                path="$.n",
                expected=error.expected,
                found=new.n,
                hint="Send the expected batch; GET returns its number.",
            ) from error
        except CannotFollow as error:
            raise ApiError(409, error.code, str(error)) from error
        except SessionError as error:
            raise command_refused(error) from error
        body = schemas.ObservationsTaken(n=taken.n, expected=taken.n + 1, seq=taken.seq, duplicate=taken.duplicate)
        return Response(body, status=200 if taken.duplicate else 201)
