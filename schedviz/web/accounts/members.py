"""The members of a session: users other than its owner who may see it, or also command it."""

from __future__ import annotations

from django.conf import settings
from django.contrib.auth import get_user_model
from django.contrib.auth.models import User
from django.db.models import QuerySet

from schedviz.sessions.models import Membership, Session


class NotFindable(Exception):
    """This server does not allow finding users by name."""


class NoSuchUser(Exception):
    """There is no user of this name who can become a member."""


def members_of(session: Session) -> QuerySet[Membership]:
    """The members without the owner, in the order in which they were added."""
    return Membership.objects.filter(session=session).select_related("user").order_by("pk")


def add(session: Session, name: str, role: str) -> tuple[Membership, bool]:
    """Add a member, or change a member's role. Returns the membership and whether it is new. Raises `NotFindable` or `NoSuchUser`."""
    if not settings.FIND_USERS:
        raise NotFindable
    user = User.objects.filter(username=name, is_active=True).first()
    if user is None or user.pk == session.owner_id:
        raise NoSuchUser
    return join(session, user, role, may_lower=True)


def join(session: Session, user: User, role: str, *, may_lower: bool = False) -> tuple[Membership, bool]:
    """The membership of a user with this role, created if missing. Without `may_lower`, a higher existing role is kept."""
    membership, made = Membership.objects.get_or_create(session=session, user=user, defaults={"role": role})
    if not made and membership.role != role and (may_lower or role == Membership.Role.EDITOR):
        membership.role = role
        membership.save(update_fields=["role"])
    if made:
        # The time of the database.
        membership.refresh_from_db()
    return membership, made


def change(session: Session, name: str, role: str) -> Membership | None:
    """Change the role of a member; None if there is no such member."""
    membership = members_of(session).filter(user__username=name).first()
    if membership is not None and membership.role != role:
        membership.role = role
        membership.save(update_fields=["role"])
    return membership


def remove(session: Session, name: str) -> bool:
    """Remove a member. Commands are refused immediately, open viewers are closed within a minute. False if there is no such member."""
    user = get_user_model().objects.filter(username=name).first()
    return user is not None and Membership.objects.filter(session=session, user_id=user.pk).delete()[0] > 0
