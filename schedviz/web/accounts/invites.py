"""Invites: links that make a user a member of a session, or allow a visitor to create an account."""

from __future__ import annotations

import secrets
from datetime import timedelta
from typing import TYPE_CHECKING

from django.conf import settings
from django.db import transaction
from django.db.models import F
from django.utils import timezone

from schedviz.sessions.models import Membership, Session
from schedviz.web.accounts import members
from schedviz.web.accounts.models import Invite, Visitor
from schedviz.web.auth.authentication import hashed

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django.db.models import QuerySet

MAX_DAYS = 90
MAX_USES = 1000
#: The maximum number of open invites: of one session, and for accounts by one member of staff.
MAX_OPEN_INVITES = 100


class TooManyInvites(Exception):
    """The maximum number of open invites is reached."""


def make(
    session: Session | None, by: User, *, role: str = Membership.Role.VIEWER, days: int = 7, uses: int = 1, note: str = ""
) -> tuple[Invite, str]:
    """A new invite and its secret, which is stored nowhere else. Raises `TooManyInvites`."""
    if open_invites(session).count() >= MAX_OPEN_INVITES:
        raise TooManyInvites
    secret = secrets.token_urlsafe(16)
    invite = Invite.objects.create(
        session=session,
        digest=hashed(secret),
        role=role,
        note=note,
        created_by=by,
        uses_left=uses,
        expires_at=timezone.now() + timedelta(days=days),
    )
    invite.refresh_from_db()
    return invite, secret


def open_invites(session: Session | None) -> QuerySet[Invite]:
    """The open invites, oldest first."""
    return Invite.objects.filter(session=session, revoked_at=None, uses_left__gt=0, expires_at__gt=timezone.now()).order_by("pk")


def find(secret: str) -> Invite | None:
    """The invite with this secret, if it is open and its creator may still invite."""
    invite = (
        Invite.objects.filter(digest=hashed(secret), revoked_at=None, uses_left__gt=0, expires_at__gt=timezone.now())
        .select_related("session", "created_by")
        .first()
    )
    if invite is None or not invite.created_by.is_active:
        return None
    may_still = invite.created_by.is_staff if invite.session is None else invite.session.owner_id == invite.created_by_id
    return invite if may_still else None


def makes_accounts(invite: Invite) -> bool:
    """Whether a visitor without an account may create one with this invite."""
    return invite.session is None or (settings.INVITES_MAKE_ACCOUNTS and may_invite(invite.created_by_id))


def may_invite(user_id: int) -> bool:
    """Whether a user may invite others: visitors of the public demo, who have no account, may not."""
    return not Visitor.objects.filter(user_id=user_id).exists()


def accept(invite: Invite, user: User) -> bool:
    """Accept an invite: count one use, and make the user a member. False if no use was left. An existing member uses none."""
    session = invite.session
    if session is not None and (session.owner_id == user.pk or _has_joined(session, user, invite.role)):
        return True
    with transaction.atomic():
        if not Invite.objects.filter(pk=invite.pk, uses_left__gt=0, revoked_at=None).update(uses_left=F("uses_left") - 1):
            return False
        if session is not None:
            members.join(session, user, invite.role)
    return True


def _has_joined(session: Session, user: User, role: str) -> bool:
    """Whether a user is a member in this role, or in one that allows more."""
    roles = {Membership.Role.EDITOR} if role == Membership.Role.EDITOR else {Membership.Role.EDITOR, Membership.Role.VIEWER}
    return Membership.objects.filter(session=session, user=user, role__in=roles).exists()


def revoke(session: Session | None, number: int) -> bool:
    """Revoke an invite; users who accepted it stay members. False if there is no such invite."""
    return Invite.objects.filter(session=session, pk=number, revoked_at=None).update(revoked_at=timezone.now()) == 1
