"""`/api/v1/sessions/{id}/timeline/`: the history of a session, summed up in buckets."""

from __future__ import annotations

from uuid import UUID

import msgspec
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from schedviz.sessions.history import reading, timeline
from schedviz.web.api import schemas, versions
from schedviz.web.api.access import session_for, whole_number
from schedviz.web.api.openapi import NOT_MODIFIED, error_responses, response
from schedviz.web.api.resource import Resource, query
from schedviz.web.auth.actors import Verb

BUCKETS = 200
MAX_BUCKETS = 2000


class Timeline(Resource):
    """A summary of a session's history."""

    @extend_schema(
        operation_id="getTimeline",
        parameters=[
            query("from", int, "An event number: events after it are counted. 0: from the beginning."),
            query("to", int, "The number of the last event that is counted; by default, the newest."),
            query("buckets", int, f"Maximum number of buckets: {BUCKETS} by default, at most {MAX_BUCKETS}.", maximum=MAX_BUCKETS),
        ],
        responses={200: response(schemas.TimelineBody), 304: NOT_MODIFIED, **error_responses(400, 404)},
    )
    def get(self, request: Request, session_id: UUID) -> Response:
        """Read the event counts in buckets of about equal size. Ranges that are no longer stored have no bucket."""
        session = session_for(request, session_id, Verb.SEE)
        versions.set_etag(request, versions.etag_of_head(session))
        after = whole_number(request, "from", default=0)
        until = whole_number(request, "to", default=session.event, maximum=session.event)
        maximum = max(1, whole_number(request, "buckets", default=BUCKETS, maximum=MAX_BUCKETS))
        buckets = timeline.buckets(session, after=after, until=until, max_buckets=maximum) if after < until else []
        first = reading.first_moment(session)
        return Response(schemas.TimelineBody(after=after, until=until, first_event=first, buckets=[_body(bucket) for bucket in buckets]))


def _body(bucket: timeline.Bucket) -> schemas.TimelineBucket:
    levels = bucket.levels
    return schemas.TimelineBucket(
        first_event=bucket.first_event,
        event=bucket.event,
        clock_seconds=bucket.clock_seconds,
        **msgspec.structs.asdict(bucket.counts),
        pods=schemas.PodLevels(
            active_q=levels.active_q, backoff_q=levels.backoff_q, unschedulable=levels.unschedulable_pods, all=levels.pods
        ),
        nodes=levels.nodes,
    )
