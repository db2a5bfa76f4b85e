"""`/api/v1/sessions/{id}/stories/`: the history of one pod or one node (the path keeps its name in v1)."""

from __future__ import annotations

from typing import Final
from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from schedviz.sessions.history import object_history
from schedviz.sessions.history.object_index import Kind
from schedviz.web.api import schemas, versions
from schedviz.web.api.access import optional_number, session_for
from schedviz.web.api.openapi import NOT_MODIFIED, error_responses, response
from schedviz.web.api.paging import Paging, link_pages
from schedviz.web.api.resource import Resource, query
from schedviz.web.auth.actors import Verb

PAGING: Final = Paging("an event", default=200, maximum=1000)

_PARAMETERS = [
    query("at", int, "An event number: the history ends after that event. By default, now."),
    *PAGING.parameters(),
]


class PodHistory(Resource):
    """The history of a pod."""

    @extend_schema(
        operation_id="getPodStory",
        parameters=_PARAMETERS,
        responses={200: response(schemas.StoryBody), 304: NOT_MODIFIED, **error_responses(400, 404)},
    )
    def get(self, request: Request, session_id: UUID, namespace: str, name: str) -> Response:
        """Read the history of a pod, in order. Pods with the same name are distinguished by uid. The list is empty for a pod that never
        existed.
        """
        return _history(request, session_id, "pods", f"{namespace}/{name}")


class NodeHistory(Resource):
    """The history of a node."""

    @extend_schema(
        operation_id="getNodeStory",
        parameters=_PARAMETERS,
        responses={200: response(schemas.StoryBody), 304: NOT_MODIFIED, **error_responses(400, 404)},
    )
    def get(self, request: Request, session_id: UUID, name: str) -> Response:
        """Read the history of a node, in order. Of the nodes that a plugin rejects for one reason, three are named."""
        return _history(request, session_id, "nodes", name)


def _history(request: Request, session_id: UUID, kind: Kind, name: str) -> Response:
    session = session_for(request, session_id, Verb.SEE)
    until = optional_number(request, "at")
    event = session.event if until is None else min(until, session.event)
    page = PAGING.page_of(request)
    versions.set_etag(request, versions.etag_of_moment(session, until))
    before = event + 1 if page.before is None else min(page.before, event + 1)
    entries_page = object_history.read(session, kind, name, after=page.after, before=before, limit=page.limit, tail=page.tail)
    entries = entries_page.entries
    following = entries[-1].event if entries_page.more and not page.tail else None
    previous = entries[0].event if entries_page.more and page.tail else None
    link_pages(request, following=following, previous=previous)
    return Response(
        schemas.StoryBody(kind=kind, name=name, at=event, lives=entries_page.lives, results=entries, next=following, previous=previous)
    )
