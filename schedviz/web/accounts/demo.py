"""The public demo (SCHEDVIZ_PUBLIC_DEMO): visitors see its sessions, and each gets a small sandbox that is deleted after a time."""

from __future__ import annotations

import secrets
from collections.abc import Collection
from datetime import timedelta
from typing import TYPE_CHECKING
from uuid import UUID

from django.conf import settings
from django.contrib.auth import get_user_model
from django.utils import timezone
from django.utils.crypto import salted_hmac

from schedviz.sessions.forks.requests import fork
from schedviz.sessions.models import Session
from schedviz.sessions.quotas import KINDS
from schedviz.sessions.transfer.deletion import delete_session
from schedviz.web.accounts.models import DemoSession, Visitor

if TYPE_CHECKING:
    from django.contrib.auth.models import User

#: The number of expired visitors that are deleted at a time, so that the sweeper is not blocked.
_SWEPT_AT_ONCE = 20
#: The name of the setting that has a visitor's quota.
_SETTING = "DEMO_{}_PER_VISITOR"


class DemoFull(Exception):
    """All sandboxes are in use."""


def is_shown(session_id: UUID) -> bool:
    """Whether a session belongs to the demo."""
    return bool(settings.PUBLIC_DEMO) and DemoSession.objects.filter(session_id=session_id).exists()


def is_visitor(user_id: int | None) -> bool:
    """Whether a user is a visitor of the demo, without an account."""
    return user_id is not None and bool(settings.PUBLIC_DEMO) and Visitor.objects.filter(user_id=user_id).exists()


def begin_sandbox(session: Session, user: User | None, *, network: str = "") -> tuple[User, Session]:
    """Fork a demo session for a visitor, who is created if necessary. Deletes the visitor's previous sandbox. `network`: of their address.

    Raises `DemoFull`, and what `schedviz.sessions.forks.requests.fork` raises.
    """
    if user is None:
        user = _new_visitor(network)
    else:
        _delete_sessions(user)
    try:
        return user, fork(session, user, at=None, name=session.name, key=secrets.token_urlsafe(8), enforces_quotas=False).session
    except Exception:
        if not Session.objects.filter(owner=user).exists():
            user.delete()
        raise


def limits_of(user_id: int) -> dict[str, int]:
    """The quotas of a visitor, which replace those of users; {} for other users."""
    if not is_visitor(user_id):
        return {}
    return {kind: getattr(settings, _SETTING.format(kind.upper())) for kind in KINDS}


def networks_of(user_ids: Collection[int]) -> dict[int, str]:
    """The visitors among users, each with a digest of the network of their address."""
    if not settings.PUBLIC_DEMO or not user_ids:
        return {}
    return dict(Visitor.objects.filter(user_id__in=user_ids).values_list("user_id", "network"))


def digest_of_network(network: str) -> str:
    """The stored form of a network: addresses are not kept."""
    return salted_hmac("schedviz.accounts.visitors", network, algorithm="sha256").hexdigest() if network else ""


def sweep_visitors() -> int:
    """Delete expired visitors with their sandboxes. Returns how many."""
    over = list(Visitor.objects.filter(expires_at__lte=timezone.now()).select_related("user")[:_SWEPT_AT_ONCE])
    for visitor in over:
        _delete_sessions(visitor.user)
        visitor.user.delete()
    return len(over)


def _new_visitor(network: str) -> User:
    if Visitor.objects.count() >= settings.DEMO_VISITORS:
        raise DemoFull
    user = get_user_model().objects.create_user(f"visitor-{secrets.token_hex(6)}")
    Visitor.objects.create(
        user=user, expires_at=timezone.now() + timedelta(minutes=settings.DEMO_MINUTES), network=digest_of_network(network)
    )
    return user


def _delete_sessions(user: User) -> None:
    for session_id in Session.objects.filter(owner=user).values_list("pk", flat=True):
        delete_session(session_id)
