"""The audit log: each action with its user, time and address, kept for SCHEDVIZ_AUDIT_DAYS days."""

from __future__ import annotations

from datetime import timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Any
from uuid import UUID

import structlog
from django.conf import settings
from django.utils import timezone

from schedviz.sessions.interval import Interval
from schedviz.sessions.models import Session, ShareLink
from schedviz.web.accounts.models import AuditEntry
from schedviz.web.addresses import client_address
from schedviz.web.models import Token
from schedviz.web.redaction import printable

if TYPE_CHECKING:
    from django.http import HttpRequest
    from rest_framework.request import Request

#: The maximum number of characters of a user name in Django.
MAX_NAME_LENGTH = 150

log = structlog.get_logger(__name__)

#: The interval between deletions of expired entries.
_deletion_interval = Interval(3600.0)
_ONCE_AN_HOUR = timedelta(hours=1)


class Action(StrEnum):
    """The logged actions. A value never changes its meaning; new ones may be added."""

    LOGIN = "login"
    LOGIN_FAILED = "login_failed"
    LOGOUT = "logout"
    PASSWORD_CHANGED = "password_changed"  # noqa: S105
    ACCOUNT_MADE = "account_made"
    LINK_MADE = "link_made"
    LINK_REVOKED = "link_revoked"
    INVITE_MADE = "invite_made"
    INVITE_ACCEPTED = "invite_accepted"
    INVITE_REVOKED = "invite_revoked"
    MEMBER_ADDED = "member_added"
    MEMBER_CHANGED = "member_changed"
    MEMBER_REMOVED = "member_removed"
    MEMBER_LEFT = "member_left"
    SESSION_DELETED = "session_deleted"
    SESSION_EXPORTED = "session_exported"
    STAFF_CHANGED = "staff_changed"
    ADMIN_CANCELLED = "admin_cancelled"
    ADMIN_DELETED = "admin_deleted"
    ADMIN_CHANGED = "admin_changed"
    SANDBOX_MADE = "sandbox_made"


def record(
    action: Action,
    request: HttpRequest | Request | None,
    *,
    session: Session | None = None,
    user: Any = None,
    user_name: str = "",
    **facts: Any,
) -> None:
    """Log an action. `user` is its user, if not the one of the request; `user_name` is the claimed name, if there is no user.

    `facts` must not contain secrets or session names: staff reads the log but may not see into sessions.
    """
    account = user if user is not None else getattr(request, "user", None)
    known_user = account if account is not None and account.is_authenticated else None
    entry = AuditEntry.objects.create(
        action=action,
        user_id=None if known_user is None else known_user.pk,
        user_name=printable(user_name, MAX_NAME_LENGTH) if known_user is None else known_user.get_username(),
        by_way_of=_by_way_of(request),
        address="" if request is None else client_address(request),
        session=None if session is None else session.pk,
        facts=facts,
    )
    log.info("audit", action=str(action), user=entry.user_name, address=entry.address, session=str(entry.session or ""))


def record_once_an_hour(action: Action, request: Request, session: Session, **facts: Any) -> None:
    """Log an action unless it was logged within an hour: of this session, by this user with these credentials, or from this address
    if there is no user.
    """
    user = request.user
    actor = {"user_id": user.pk} if user.is_authenticated else {"user_id": None, "address": client_address(request)}
    recent = entries(action=action, session=session.pk).filter(
        at__gt=timezone.now() - _ONCE_AN_HOUR, by_way_of=_by_way_of(request), **actor
    )
    if not recent.exists():
        record(action, request, session=session, **facts)


def _by_way_of(request: HttpRequest | Request | None) -> str:
    credentials = getattr(request, "auth", None)
    if isinstance(credentials, Token):
        return f"token {credentials.name}"
    if isinstance(credentials, ShareLink):
        return f"link {credentials.pk}"
    return "" if request is None else "cookie"


def entries(*, action: str = "", user: str = "", session: UUID | None = None) -> Any:
    """Entries, newest first."""
    rows = AuditEntry.objects.order_by("-pk")
    if action:
        rows = rows.filter(action=action)
    if user:
        rows = rows.filter(user_name=user)
    return rows if session is None else rows.filter(session=session)


def delete_expired(*, now: bool = False) -> int:
    """Delete expired entries, at most once an hour unless `now`. Returns how many."""
    if not settings.AUDIT_DAYS or not _deletion_interval.is_due(force=now):
        return 0
    return AuditEntry.objects.filter(at__lt=timezone.now() - timedelta(days=settings.AUDIT_DAYS)).delete()[0]
