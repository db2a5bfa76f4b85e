"""The members of a session: who besides its owner may look, or also command it."""

from __future__ import annotations

from django.conf import settings
from django.contrib.auth import get_user_model
from django.contrib.auth.models import User
from django.db.models import QuerySet

from schedviz.sessions.models import Membership, Session


class NotFindable(Exception):  # noqa: N818 -- says what is the matter.
    """On this server nobody can look for users by their names."""


class NoSuchUser(Exception):  # noqa: N818
    """There is no user of this name who could be a member."""


def members_of(session: Session) -> QuerySet[Membership]:
    """Everybody but the owner, those who came first first."""
    return Membership.objects.filter(session=session).select_related("user").order_by("pk")


def add(session: Session, name: str, role: str) -> tuple[Membership, bool]:
    """Make a user a member, or give a member another role; and whether they are new. Raises `NotFindable` or `NoSuchUser`."""
    if not settings.FIND_USERS:
        raise NotFindable
    user = User.objects.filter(username=name, is_active=True).first()
    if user is None or user.pk == session.owner_id:
        raise NoSuchUser
    return join(session, user, role, may_lower=True)


def join(session: Session, user: User, role: str, *, may_lower: bool = False) -> tuple[Membership, bool]:
    """The membership of a user, made where it is missing, with this role or, unless it may be lowered, the higher one that they have."""
    membership, made = Membership.objects.get_or_create(session=session, user=user, defaults={"role": role})
    if not made and membership.role != role and (may_lower or role == Membership.Role.EDITOR):
        membership.role = role
        membership.save(update_fields=["role"])
    if made:
        # Its time is the database's.
        membership.refresh_from_db()
    return membership, made


def change(session: Session, name: str, role: str) -> Membership | None:
    """A member with another role; None: there is no such member."""
    membership = members_of(session).filter(user__username=name).first()
    if membership is not None and membership.role != role:
        membership.role = role
        membership.save(update_fields=["role"])
    return membership


def remove(session: Session, name: str) -> bool:
    """Take somebody's rights away: for commands at once, within a minute for who is looking. False: there is no such member."""
    user = get_user_model().objects.filter(username=name).first()
    return user is not None and Membership.objects.filter(session=session, user_id=user.pk).delete()[0] > 0
