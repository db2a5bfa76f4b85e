"""Share links: who has one may look at a session, or also command it, without an account."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

from django.utils import timezone

from schedviz.sessions.models import Session, ShareLink
from schedviz.web.authentication import hashed

if TYPE_CHECKING:
    from django.contrib.auth.models import AbstractBaseUser


def make_link(session: Session, role: str, by: AbstractBaseUser) -> tuple[ShareLink, str]:
    """A new link and its secret (128 bits), which is nowhere else."""
    secret = secrets.token_urlsafe(16)
    link = ShareLink.objects.create(session=session, digest=hashed(secret), role=role, created_by_id=by.pk)
    # Its time is the database's.
    link.refresh_from_db()
    return link, secret


def live_links(session: Session) -> list[ShareLink]:
    """The links of a session that work, oldest first."""
    return list(ShareLink.objects.filter(session=session, revoked_at=None).order_by("pk"))


def revoke_link(session: Session, link_id: int) -> bool:
    """Revoke a link: it stops to work at once, for commands, and within a minute for who is looking. False: there is none."""
    return ShareLink.objects.filter(session=session, pk=link_id, revoked_at=None).update(revoked_at=timezone.now()) == 1
