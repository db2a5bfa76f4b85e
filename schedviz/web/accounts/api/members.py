"""`/api/v1/sessions/{id}/members/`: the members of a session and their roles."""

from __future__ import annotations

from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from schedviz.sessions.models import Membership, Session
from schedviz.web.accounts import members, schemas
from schedviz.web.accounts.audit import Action, record
from schedviz.web.api import versions
from schedviz.web.api.access import body_as, forbidden, session_for
from schedviz.web.api.errors import ApiError, not_found
from schedviz.web.api.openapi import NOT_MODIFIED, error_responses, ref, response
from schedviz.web.api.resource import Resource
from schedviz.web.auth.actors import Verb
from schedviz.web.auth.permissions import actor_of, may


class Members(Resource):
    """The members of a session."""

    @extend_schema(
        operation_id="listMembers", responses={200: response(schemas.MemberList), 304: NOT_MODIFIED, **error_responses(403, 404)}
    )
    def get(self, request: Request, session_id: UUID) -> Response:
        """List the owner and the members."""
        session = session_for(request, session_id, Verb.MANAGE)
        body = schemas.MemberList(results=[*_owner(session), *(_body(membership) for membership in members.members_of(session))])
        return versions.versioned(request, body)

    @extend_schema(
        operation_id="addMember",
        request={"application/json": ref(schemas.NewMember)},
        responses={
            201: response(schemas.MemberBody, "A new member."),
            200: response(schemas.MemberBody, "The user was a member before, and has this role now."),
            **error_responses(400, 403, 404),
        },
    )
    def post(self, request: Request, session_id: UUID) -> Response:
        """Add a user with an account as a member. Where users cannot be found by name (`SCHEDVIZ_FIND_USERS`), send them an invite."""
        session = session_for(request, session_id, Verb.MANAGE)
        new = body_as(schemas.NewMember, request)
        try:
            membership, made = members.add(session, new.user, new.role)
        except members.NotFindable as error:
            message = "This server does not allow finding users by name (SCHEDVIZ_FIND_USERS)."
            raise ApiError(403, "forbidden", message, hint="POST invites/ creates a link that you can send them.") from error
        except members.NoSuchUser as error:
            raise ApiError(400, "invalid", "$.user: there is no such user who can become a member.", path="$.user") from error
        record(Action.MEMBER_ADDED if made else Action.MEMBER_CHANGED, request, session=session, member=new.user, role=new.role)
        return Response(_body(membership), status=201 if made else 200)


class OneMember(Resource):
    """One member of a session."""

    @extend_schema(
        operation_id="changeMember",
        request={"application/json": ref(schemas.MemberChange)},
        responses={200: response(schemas.MemberBody), **error_responses(400, 403, 404)},
    )
    def patch(self, request: Request, session_id: UUID, user: str) -> Response:
        """Change the role of a member."""
        session = session_for(request, session_id, Verb.MANAGE)
        role = body_as(schemas.MemberChange, request).role
        membership = members.change(session, user, role)
        if membership is None:
            raise not_found("member")
        record(Action.MEMBER_CHANGED, request, session=session, member=user, role=role)
        return Response(_body(membership))

    @extend_schema(operation_id="removeMember", responses={204: None, **error_responses(403, 404)})
    def delete(self, request: Request, session_id: UUID, user: str) -> Response:
        """Remove a member. Every member may leave the session with their own name."""
        session = session_for(request, session_id, Verb.SEE)
        actor = actor_of(request)
        own = actor.has_account and user == request.user.get_username()
        if actor.read_only or not (own or may(actor, Verb.MANAGE, session)):
            raise forbidden(actor, Verb.MANAGE)
        if not members.remove(session, user):
            raise not_found("member")
        record(Action.MEMBER_LEFT if own else Action.MEMBER_REMOVED, request, session=session, member=user)
        return Response(status=204)


def _owner(session: Session) -> list[schemas.MemberBody]:
    return [] if session.owner is None else [schemas.MemberBody(user=session.owner.get_username(), role="owner")]


def _body(membership: Membership) -> schemas.MemberBody:
    role: schemas.MemberRole = "editor" if membership.role == Membership.Role.EDITOR else "viewer"
    return schemas.MemberBody(user=membership.user.get_username(), role=role, since=membership.created_at)
