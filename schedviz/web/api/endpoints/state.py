"""`/api/v1/sessions/{id}/state/`: the state at any moment, folded from a stored view and stored events."""

from __future__ import annotations

from typing import Any, cast
from uuid import UUID

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request

from schedviz.sessions.history import reading
from schedviz.sessions.models import Session
from schedviz.trace import observed
from schedviz.trace.releases import release_in
from schedviz.trace.view import CacheView, QueueView
from schedviz.web.api import schemas, versions
from schedviz.web.api.access import session_for
from schedviz.web.api.endpoints import moments
from schedviz.web.api.openapi import NOT_MODIFIED, error_responses, response
from schedviz.web.api.resource import Resource
from schedviz.web.auth.actors import Verb


class State(Resource):
    """The state of a session."""

    @extend_schema(
        operation_id="getState",
        parameters=[moments.AT],
        responses={200: response(schemas.StateBody), 304: NOT_MODIFIED, **error_responses(400, 404, 503)},
    )
    def get(self, request: Request, session_id: UUID) -> HttpResponse:
        """Read the state now or at a past event. During an import the lists are empty, and `progress` shows how far it is."""
        session = session_for(request, session_id, Verb.SEE)
        # The response also contains the current status of the session, whatever moment is requested.
        versions.set_etag(request, versions.etag_of_head(session))
        return moments.moment_response(request, session, state_body)


def state_body(session: Session, moment: reading.Moment) -> schemas.StateBody:
    """The state of a session in its API form. The view may be newer than the session row that was read before it."""
    view, release = moment.view, release_in(session.settings)
    # The structs describe the members of these dicts for the OpenAPI document.
    return schemas.StateBody(
        id=str(session.pk),
        status=cast("schemas.SessionStatus", session.shown_status),
        message=session.message,
        progress=session.progress,
        clock_seconds=view.clock_seconds,
        event=view.event,
        cycle=view.cycle.cycle if view.cycle else 0,
        chunk=moment.chunk,
        applied_seq=session.applied_seq,
        last_seq=session.last_seq,
        cache=cast("schemas.CacheBody", _cache(view.cache, release)),
        snapshot=cast("schemas.SnapshotBody", observed.snapshot_state(view.snapshot)),
        queue=cast("schemas.QueueBody", _queue(view.queue, release)),
        last_cycle=view.cycle,
        pod_group=view.pod_group,
        bindings=view.bindings,
        preemptions=view.preemptions,
        api_calls=view.api_calls,
        api=view.api,
        next_start_node_index=view.next_start_node_index,
    )


def _cache(cache: CacheView, release: str) -> dict[str, Any]:
    """The cache as recordings of the release have it, except that every release has `bindingFinished` and `deadlineSeconds`."""
    state = observed.cache_state(cache, release)
    for pod in state["podStates"].values():
        pod.setdefault("bindingFinished", False)
        pod.setdefault("deadlineSeconds", None)
    return state


def _queue(queue: QueueView, release: str) -> dict[str, Any]:
    """The queue as recordings of the release have it, except that a pod without backoff has the expiry 0 in every release."""
    state = observed.queue_state(queue, release)
    waiting = (pod for name in ("backoffQ", "errorBackoffQ", "unschedulable") for pod in state.get(name, ()))
    for pod in waiting:
        pod["backoffExpirySeconds"] = pod["backoffExpirySeconds"] or 0.0
    return state
