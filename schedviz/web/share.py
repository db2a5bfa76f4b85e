"""Share links: who has one may look at a session, or also command it, without an account."""

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
    """A link, its secret (128 bits), which is nowhere else, and whether it is new: the same `key` of a user gives the same link."""
    secret = _secret_of(session, role, by, key) if key else secrets.token_urlsafe(16)
    members = {"session": session, "role": role, "created_by_id": by.pk}
    link, made = ShareLink.objects.get_or_create(digest=hashed(secret), defaults=members)
    # Its time is the database's.
    link.refresh_from_db()
    return link, secret, made


def _secret_of(session: Session, role: str, by: AbstractBaseUser, key: str) -> str:
    """A secret that can be told again without being kept: who has neither our own secret nor the key cannot make it."""
    made_of = f"{session.pk} {role} {by.pk} {key}"
    return base64.urlsafe_b64encode(salted_hmac("schedviz.share", made_of, algorithm="sha256").digest()[:16]).decode().rstrip("=")


def live_links(session: Session) -> list[ShareLink]:
    """The links of a session that work, oldest first."""
    return list(ShareLink.objects.filter(session=session, revoked_at=None).order_by("pk"))


def revoke_link(session: Session, link_id: int) -> bool:
    """Revoke a link: it stops to work at once, for commands, and within a minute for who is looking. False: there is none."""
    return ShareLink.objects.filter(session=session, pk=link_id, revoked_at=None).update(revoked_at=timezone.now()) == 1
