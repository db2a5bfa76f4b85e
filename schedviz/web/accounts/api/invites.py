"""`/api/v1/sessions/{id}/invites/` and, for staff, `/api/v1/invites/`: invites for members and for new accounts."""

from __future__ import annotations

from typing import cast
from uuid import UUID

from django.contrib.auth.models import User
from django.urls import reverse
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from schedviz.sessions.models import Membership, Session
from schedviz.web.accounts import invites, schemas
from schedviz.web.accounts.audit import Action, record
from schedviz.web.accounts.models import Invite
from schedviz.web.api import versions
from schedviz.web.api.access import body_as, require_staff, session_for
from schedviz.web.api.errors import ApiError, not_found
from schedviz.web.api.openapi import NOT_MODIFIED, error_responses, ref, response
from schedviz.web.api.resource import Resource
from schedviz.web.auth.actors import Verb


class Invites(Resource):
    """The invites of a session."""

    @extend_schema(
        operation_id="listInvites", responses={200: response(schemas.InviteList), 304: NOT_MODIFIED, **error_responses(403, 404)}
    )
    def get(self, request: Request, session_id: UUID) -> Response:
        """List the open invites. Their secrets are not stored."""
        session = session_for(request, session_id, Verb.MANAGE)
        return versions.versioned(request, schemas.InviteList(results=[_body(invite) for invite in invites.open_invites(session)]))

    @extend_schema(
        operation_id="createInvite",
        request={"application/json": ref(schemas.NewInvite)},
        responses={201: response(schemas.InviteBody, "The only response with the `url`."), **error_responses(400, 403, 404, 409)},
    )
    def post(self, request: Request, session_id: UUID) -> Response:
        """Create an invite. A user who opens its `url` and signs in, or creates an account, becomes a member."""
        session = session_for(request, session_id, Verb.MANAGE)
        if not invites.may_invite(cast("User", request.user).pk):
            raise ApiError(403, "forbidden", "Visitors of the public demo cannot invite others.", hint="Sign in with an account.")
        new = body_as(schemas.NewInvite, request)
        return _create(request, session, role=new.role, days=new.days, uses=new.uses, note=new.note)


class OneInvite(Resource):
    """One invite of a session."""

    @extend_schema(operation_id="revokeInvite", responses={204: None, **error_responses(403, 404)})
    def delete(self, request: Request, session_id: UUID, invite_id: int) -> Response:
        """Revoke an invite. Users who accepted it stay members."""
        return _revoked(request, session_for(request, session_id, Verb.MANAGE), invite_id)


class AccountInvites(Resource):
    """Invites for new accounts."""

    @extend_schema(
        operation_id="listAccountInvites", responses={200: response(schemas.InviteList), 304: NOT_MODIFIED, **error_responses(401, 403)}
    )
    def get(self, request: Request) -> Response:
        """List the open invites for new accounts. For staff."""
        require_staff(request)
        return versions.versioned(request, schemas.InviteList(results=[_body(invite) for invite in invites.open_invites(None)]))

    @extend_schema(
        operation_id="createAccountInvite",
        request={"application/json": ref(schemas.NewAccountInvite)},
        responses={201: response(schemas.InviteBody, "The only response with the `url`."), **error_responses(400, 401, 403, 409)},
    )
    def post(self, request: Request) -> Response:
        """Create an invite for a new account. For staff."""
        require_staff(request, changing=True)
        new = body_as(schemas.NewAccountInvite, request)
        return _create(request, None, role=Membership.Role.VIEWER, days=new.days, uses=new.uses, note=new.note)


class OneAccountInvite(Resource):
    """One invite for a new account."""

    @extend_schema(operation_id="revokeAccountInvite", responses={204: None, **error_responses(401, 403, 404)})
    def delete(self, request: Request, invite_id: int) -> Response:
        """Revoke an invite for a new account. For staff."""
        require_staff(request, changing=True)
        return _revoked(request, None, invite_id)


def _create(request: Request, session: Session | None, *, role: str, days: int, uses: int, note: str) -> Response:
    try:
        invite, secret = invites.make(session, cast("User", request.user), role=role, days=days, uses=uses, note=note)
    except invites.TooManyInvites as error:
        message = f"{invites.MAX_OPEN_INVITES} invites are open, which is the limit. Revoke one to create another."
        raise ApiError(409, "quota_reached", message, expected=f"at most {invites.MAX_OPEN_INVITES}") from error
    record(Action.INVITE_MADE, request, session=session, invite=invite.pk, role=role, uses=uses)
    return Response(_body(invite, url=request.build_absolute_uri(reverse("invite-page", args=[secret]))), status=201)


def _revoked(request: Request, session: Session | None, number: int) -> Response:
    if not invites.revoke(session, number):
        raise not_found("invite")
    record(Action.INVITE_REVOKED, request, session=session, invite=number)
    return Response(status=204)


def _body(invite: Invite, *, url: str | None = None) -> schemas.InviteBody:
    return schemas.InviteBody(
        id=invite.pk,
        role="editor" if invite.role == Membership.Role.EDITOR else "viewer",
        uses_left=invite.uses_left,
        expires_at=invite.expires_at,
        created_at=invite.created_at,
        note=invite.note,
        url=url,
    )
