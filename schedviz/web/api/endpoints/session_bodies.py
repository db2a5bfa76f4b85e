"""Sessions in their API form."""

from __future__ import annotations

from collections.abc import Collection
from collections.abc import Set as AbstractSet
from datetime import datetime
from typing import cast
from uuid import UUID

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.urls import reverse
from rest_framework.request import Request

from schedviz.sessions import storage
from schedviz.sessions.commands import inbox
from schedviz.sessions.models import Membership, Session
from schedviz.trace.releases import gates_in, release_in
from schedviz.web.api import schemas
from schedviz.web.api.access import role_for
from schedviz.web.auth.actors import Verb
from schedviz.web.auth.permissions import actor_of, may


def session_body(request: Request, session: Session) -> schemas.SessionBody:
    """A session in its API form."""
    return session_bodies(request, [session])[0]


def session_bodies(request: Request, sessions: Collection[Session], *, with_sizes: bool = False) -> list[schemas.SessionBody]:
    """Sessions in their API form, in the same order.

    Sizes, times of commands and memberships are each read with one query for all sessions; the role in a shared session with some for each.
    """
    ids = [session.pk for session in sessions]
    sizes = storage.stored_bytes(ids) if with_sizes else {}
    command_times = inbox.last_command_times(ids)
    joined = _joined_by(request.user, sessions)
    return [
        _session_body(
            request,
            session,
            last_command_at=command_times.get(session.pk),
            stored_bytes=sizes.get(session.pk),
            is_member=session.pk in joined,
        )
        for session in sessions
    ]


def _session_body(
    request: Request, session: Session, *, last_command_at: datetime | None, stored_bytes: int | None, is_member: bool
) -> schemas.SessionBody:
    forked_from = _forked_from(request, session)
    return schemas.SessionBody(
        id=str(session.pk),
        url=request.build_absolute_uri(reverse("session", args=[session.pk])),
        page=request.build_absolute_uri(reverse("session-page", args=[session.pk])),
        name=session.name,
        status=cast("schemas.SessionStatus", session.shown_status),
        message=session.message,
        progress=session.progress,
        role=role_for(request, session).value,
        clock_seconds=session.clock_seconds,
        event=session.event,
        cycle=session.cycle,
        nodes=session.nodes,
        pods=session.pods,
        chunk=session.chunk,
        applied_seq=session.applied_seq,
        last_seq=session.last_seq,
        created_at=session.created_at,
        updated_at=session.updated_at,
        last_command_at=last_command_at,
        owner=_owner_name(request, session),
        stored_bytes=stored_bytes,
        source=session.source if forked_from is None or forked_from.id is not None else session.source_without_origin,
        report=session.report,
        forked_from=forked_from,
        follows=schemas.Follows(source=session.follows, detached="fork" in session.source) if session.follows else None,
        hit=None if session.hit is None else schemas.HitBody(**session.hit),
        release=release_in(session.settings),
        feature_gates=gates_in(session.settings),
        calls_extenders=session.calls_extenders,
        member=request.user.get_username() if is_member else None,
    )


def _joined_by(user: AbstractBaseUser | AnonymousUser, sessions: Collection[Session]) -> AbstractSet[UUID]:
    """The sessions of others that a user is a member of."""
    if not user.is_authenticated:
        return frozenset()
    of_others = [session.pk for session in sessions if session.owner_id != user.pk]
    if not of_others:
        return frozenset()
    return set(Membership.objects.filter(session__in=of_others, user_id=cast("int", user.pk)).values_list("session_id", flat=True))


def _owner_name(request: Request, session: Session) -> str | None:
    # Usually the owner is the client, whose user is already loaded.
    owner = request.user if session.owner_id == request.user.pk else session.owner
    return None if session.owner_id is None or owner is None else owner.get_username()


def _forked_from(request: Request, session: Session) -> schemas.ForkedFrom | None:
    if "fork" not in session.source:
        return None
    # A fork to another release has no history before its own, so its `fork_event` is 0. For others the exact event is known when the
    # fork is ready: it can be later than the requested one, at the end of a stage.
    event = session.source["fork"]["event"] if "release" in session.source["fork"] else session.fork_event
    parent = session.origin
    if parent is None:
        return schemas.ForkedFrom(id=None, name=session.source["fork"]["name"], event=event)
    if not may(actor_of(request), Verb.SEE, parent):
        # A client with access to the fork only must not learn about the original session.
        return schemas.ForkedFrom(id=None, name="", event=event)
    return schemas.ForkedFrom(id=str(parent.pk), name=session.source["fork"]["name"], event=event)
