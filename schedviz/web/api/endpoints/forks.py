"""`/api/v1/sessions/{id}/branches/`: forks, sessions that continue from a moment of this one (the path keeps its name in v1)."""

from __future__ import annotations

from typing import ClassVar, Final
from uuid import UUID

import msgspec
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from schedviz.sessions.errors import HistoryUnavailable, KeyReused
from schedviz.sessions.forks.requests import NotForkable, OtherRelease, fork, known_fork, size_at
from schedviz.sessions.models import Session
from schedviz.sessions.transfer.validation import validate_settings
from schedviz.trace.releases import gates_in, release_in
from schedviz.web.api import schemas, versions
from schedviz.web.api.access import actor_for, body_as, session_for
from schedviz.web.api.endpoints.new_session import validating
from schedviz.web.api.endpoints.session_bodies import session_bodies, session_body
from schedviz.web.api.endpoints.sessions import NEWEST_FIRST, when_imported
from schedviz.web.api.errors import ApiError
from schedviz.web.api.idempotency import IDEMPOTENCY_KEY, key_of
from schedviz.web.api.openapi import NOT_MODIFIED, error_responses, ref, response
from schedviz.web.api.paging import Paging
from schedviz.web.api.prefer_wait import PREFER, wait_seconds
from schedviz.web.api.quota_errors import require_session_quota, within_quotas
from schedviz.web.api.rate_limit import Scope
from schedviz.web.api.resource import Resource
from schedviz.web.auth.actors import Verb
from schedviz.web.auth.permissions import actor_of, user_of, visible_sessions
from schedviz.web.server.waiting_requests import requester

PAGING: Final = Paging(None, default=50, maximum=1000)


class Forks(Resource):
    """The forks of a session."""

    rates: ClassVar[dict[str, Scope]] = {"POST": "sessions"}

    @extend_schema(
        operation_id="listBranches",
        parameters=PAGING.parameters(),
        responses={200: response(schemas.ForkList), 304: NOT_MODIFIED, **error_responses(400, 404)},
    )
    def get(self, request: Request, session_id: UUID) -> Response:
        """List the forks that you may see, newest first."""
        session = session_for(request, session_id, Verb.SEE)
        forks = visible_sessions(actor_of(request)).filter(origin=session).select_related("owner", "origin")
        page = PAGING.rows_of(request, forks, NEWEST_FIRST)
        body = schemas.ForkList(results=session_bodies(request, page.rows), next=page.next, previous=page.previous)
        versions.set_etag(request, versions.etag_of_content(body))
        return Response(body)

    @extend_schema(
        operation_id="createBranch",
        request={"application/json": ref(schemas.NewFork)},
        parameters=[PREFER, IDEMPOTENCY_KEY],
        responses={
            201: response(schemas.SessionBody, "The fork, a session of yours. Its status is `importing` until its engine is ready."),
            200: response(schemas.SessionBody, "The fork that was created before with this key."),
            **error_responses(400, 401, 403, 404, 409),
        },
    )
    def post(self, request: Request, session_id: UUID) -> Response:
        """Fork a session at a moment. Requires a login and read access. The fork belongs to you."""
        session = session_for(request, session_id, Verb.SEE)
        actor = actor_for(request, Verb.CREATE)
        wait = wait_seconds(request)
        new = body_as(schemas.NewFork, request)
        if not new.key:
            new = msgspec.structs.replace(new, key=key_of(request))
        owner = user_of(request)
        other = _other_release(session, new)
        try:
            if known_fork(session, owner, at=new.at, key=new.key, other=other) is None:
                require_session_quota(actor, **size_at(session, new.at))
            with within_quotas():
                forked = fork(session, owner, at=new.at, name=new.name, key=new.key, other=other)
        except HistoryUnavailable as error:
            raise ApiError(404, error.code, str(error), path="$.at", found=str(new.at)) from error
        except (NotForkable, KeyReused) as error:
            raise ApiError(409, error.code, str(error), path=f"$.{error.path}" if isinstance(error, KeyReused) else "") from error
        body = session_body(request, when_imported(forked.session, wait))
        return Response(body, status=200 if forked.duplicate else 201, headers={"Location": body.url})


def _other_release(session: Session, new: schemas.NewFork) -> OtherRelease | None:
    """What the fork simulates, if that differs from the session. Raises `ApiError` 400."""
    if new.release is None and new.feature_gates is None:
        return None
    other = OtherRelease(new.release or release_in(session.settings), new.feature_gates or {})
    if (other.release, other.feature_gates) == (release_in(session.settings), gates_in(session.settings)):
        return None
    with validating("$"):
        validate_settings({"release": other.release, "featureGates": other.feature_gates}, sender=requester.get())
    return other
