"""Share links: read access to a session, or also the right to send commands, without an account."""

from __future__ import annotations

import base64
import secrets
from typing import TYPE_CHECKING

from django.db import transaction
from django.shortcuts import get_object_or_404
from django.utils import timezone
from django.utils.crypto import salted_hmac

from schedviz.sessions.models import Session, ShareLink
from schedviz.web.auth.authentication import hashed

if TYPE_CHECKING:
    from django.contrib.auth.models import AbstractBaseUser


#: The maximum number of active share links of a session.
MAX_ACTIVE_LINKS = 100


class TooManyLinks(Exception):
    """The session has the maximum number of active share links."""


def make_link(session: Session, role: str, by: AbstractBaseUser, *, key: str = "") -> tuple[ShareLink, str, bool]:
    """A link, its secret (128 bits, stored nowhere else), and whether it is new: the same `key` of a user returns the same link.

    Raises `TooManyLinks`, or `Http404` if the session was deleted meanwhile.
    """
    secret = _secret_of(session, role, by, key) if key else secrets.token_urlsafe(16)
    members = {"session": session, "role": role, "created_by_id": by.pk}
    with transaction.atomic():
        # Requests that create links of one session at the same time wait for each other.
        get_object_or_404(Session.objects.select_for_update(no_key=True).only("pk"), pk=session.pk)
        existing = ShareLink.objects.filter(digest=hashed(secret)).first()
        if existing is not None:
            return existing, secret, False
        if ShareLink.objects.filter(session=session, revoked_at=None).count() >= MAX_ACTIVE_LINKS:
            raise TooManyLinks
        link = ShareLink.objects.create(digest=hashed(secret), **members)
    # The time of the database.
    link.refresh_from_db()
    return link, secret, True


def _secret_of(session: Session, role: str, by: AbstractBaseUser, key: str) -> str:
    """A secret that can be derived again instead of being stored. Deriving it needs both the server's secret key and `key`."""
    made_of = f"{session.pk} {role} {by.pk} {key}"
    return base64.urlsafe_b64encode(salted_hmac("schedviz.share", made_of, algorithm="sha256").digest()[:16]).decode().rstrip("=")


def active_links(session: Session) -> list[ShareLink]:
    """The active share links of a session, oldest first."""
    return list(ShareLink.objects.filter(session=session, revoked_at=None).order_by("pk"))


def revoke_link(session: Session, link_id: int) -> bool:
    """Revoke a link. Commands are refused immediately, open viewers are closed within a minute. False if there is no such link."""
    return ShareLink.objects.filter(session=session, pk=link_id, revoked_at=None).update(revoked_at=timezone.now()) == 1
