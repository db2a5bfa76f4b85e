"""`/api/v1/sessions/{id}/links/`: creates, lists and revokes share links."""

from __future__ import annotations

from uuid import UUID

from django.urls import reverse
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from schedviz.sessions.models import ShareLink
from schedviz.web.accounts.audit import Action, record
from schedviz.web.api import schemas, versions
from schedviz.web.api.access import body_as, session_for
from schedviz.web.api.errors import ApiError, not_found
from schedviz.web.api.idempotency import IDEMPOTENCY_KEY, key_of
from schedviz.web.api.openapi import NOT_MODIFIED, error_responses, ref, response
from schedviz.web.api.resource import Resource
from schedviz.web.auth import share_links
from schedviz.web.auth.actors import Verb
from schedviz.web.auth.permissions import user_of


class Links(Resource):
    """The share links of a session."""

    @extend_schema(operation_id="listLinks", responses={200: response(schemas.LinkList), 304: NOT_MODIFIED, **error_responses(403, 404)})
    def get(self, request: Request, session_id: UUID) -> Response:
        """List the active share links. Their secrets are not stored."""
        session = session_for(request, session_id, Verb.MANAGE)
        return versions.versioned(request, schemas.LinkList(results=[_body(link) for link in share_links.active_links(session)]))

    @extend_schema(
        operation_id="createLink",
        request={"application/json": ref(schemas.NewLink)},
        parameters=[IDEMPOTENCY_KEY],
        responses={
            201: response(schemas.LinkBody, "The only response with the `url`."),
            200: response(schemas.LinkBody, "The link that was created before with this `Idempotency-Key`."),
            **error_responses(400, 403, 404, 409),
        },
    )
    def post(self, request: Request, session_id: UUID) -> Response:
        """Create a share link. It gives read access or, with the role editor, also the right to send commands.

        A session has at most 100 active share links.
        """
        session = session_for(request, session_id, Verb.MANAGE)
        new = body_as(schemas.NewLink, request)
        try:
            link, secret, made = share_links.make_link(session, new.role, user_of(request), key=key_of(request))
        except share_links.TooManyLinks as error:
            message = (
                f"This session has {share_links.MAX_ACTIVE_LINKS} active share links, which is the limit. Revoke one to create another."
            )
            raise ApiError(409, "quota_reached", message, expected=f"at most {share_links.MAX_ACTIVE_LINKS}") from error
        if link.revoked_at is not None:
            message = "The link of this Idempotency-Key was revoked. Use a new key to create another link."
            raise ApiError(409, "key_reused", message, path="Idempotency-Key")
        if made:
            record(Action.LINK_MADE, request, session=session, link=link.pk, role=new.role)
        page = request.build_absolute_uri(reverse("session-page", args=[session.pk]))
        return Response(_body(link, url=f"{page}?link={secret}"), status=201 if made else 200)


class OneLink(Resource):
    """One share link."""

    @extend_schema(operation_id="revokeLink", responses={204: None, **error_responses(403, 404)})
    def delete(self, request: Request, session_id: UUID, link_id: int) -> Response:
        """Revoke a link."""
        session = session_for(request, session_id, Verb.MANAGE)
        if not share_links.revoke_link(session, link_id):
            raise not_found("link")
        record(Action.LINK_REVOKED, request, session=session, link=link_id)
        return Response(status=204)


def _body(link: ShareLink, *, url: str | None = None) -> schemas.LinkBody:
    role: schemas.LinkRole = "editor" if link.role == "editor" else "viewer"
    return schemas.LinkBody(id=link.pk, role=role, created_at=link.created_at, url=url)
