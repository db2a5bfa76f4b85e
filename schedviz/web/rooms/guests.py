"""The cookie that identifies a participant's browser: 128 random bits, signed. Only their SHA-256 is stored."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Final

from django.conf import settings
from django.core import signing
from django.http.response import HttpResponseBase

from schedviz.web.auth.authentication import hashed

_SALT: Final = "schedviz.rooms.guest"


def new_secret() -> str:
    return secrets.token_urlsafe(16)


def secret_in(cookie: str) -> str:
    """The secret of a cookie; "" if its signature is invalid or too old."""
    try:
        return signing.TimestampSigner(salt=_SALT).unsign(cookie, max_age=settings.ROOM_GUEST_SECONDS)
    except signing.BadSignature:
        return ""


def guest_of(cookies: Mapping[str, str]) -> str:
    """The digest of the participant cookie; "" if there is none."""
    secret = secret_in(cookies.get(settings.ROOM_GUEST_COOKIE, ""))
    return hashed(secret) if secret else ""


def active_guest(guest: str) -> str:
    """The digest of a participant cookie if its owner is in a room that has not ended, otherwise "". Queries the database.

    Limits count by participant. Otherwise a client with a room code could multiply its limits by joining and leaving.
    """
    from schedviz.web.rooms.models import LIVE, Participant

    present = Participant.objects.filter(digest=guest, removed=False, room__status__in=LIVE) if guest else Participant.objects.none()
    return guest if present.exists() else ""


def set_cookie(response: HttpResponseBase, secret: str, *, secure: bool) -> None:
    """Set the cookie, or renew it with the same secret."""
    response.set_cookie(
        settings.ROOM_GUEST_COOKIE,
        signing.TimestampSigner(salt=_SALT).sign(secret),
        max_age=settings.ROOM_GUEST_SECONDS,
        secure=secure or settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Lax",
    )
