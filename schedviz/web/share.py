"""Share links: read access to a session, or also the right to send commands, without an account."""

from __future__ import annotations

import base64
import secrets
from typing import TYPE_CHECKING

from django.utils import timezone
from django.utils.crypto import salted_hmac

from schedviz.sessions.models import Session, ShareLink
from schedviz.web.authentication import hashed

if TYPE_CHECKING:
    from django.contrib.auth.models import AbstractBaseUser


def make_link(session: Session, role: str, by: AbstractBaseUser, *, key: str = "") -> tuple[ShareLink, str, bool]:
    """A link, its secret (128 bits, stored nowhere else), and whether it is new: the same `key` of a user returns the same link."""
    secret = _secret_of(session, role, by, key) if key else secrets.token_urlsafe(16)
    members = {"session": session, "role": role, "created_by_id": by.pk}
    link, made = ShareLink.objects.get_or_create(digest=hashed(secret), defaults=members)
    # The time of the database.
    link.refresh_from_db()
    return link, secret, made


def _secret_of(session: Session, role: str, by: AbstractBaseUser, key: str) -> str:
    """A secret that can be derived again instead of being stored. Deriving it needs both the server's secret key and `key`."""
    made_of = f"{session.pk} {role} {by.pk} {key}"
    return base64.urlsafe_b64encode(salted_hmac("schedviz.share", made_of, algorithm="sha256").digest()[:16]).decode().rstrip("=")


def live_links(session: Session) -> list[ShareLink]:
    """The active share links of a session, oldest first."""
    return list(ShareLink.objects.filter(session=session, revoked_at=None).order_by("pk"))


def revoke_link(session: Session, link_id: int) -> bool:
    """Revoke a link: immediately for commands, within a minute for open viewers. False if there is no such link."""
    return ShareLink.objects.filter(session=session, pk=link_id, revoked_at=None).update(revoked_at=timezone.now()) == 1
