"""The cookie with the share links that were opened in a browser without a login: their digests, signed.

It stores nothing on the server, so that opening a link again and again without cookies does not fill the database.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from django.conf import settings
from django.core import signing
from django.http.response import HttpResponseBase

#: The maximum number of share links that a browser keeps; the oldest are dropped.
MAX_LINKS: Final = 20
_SALT: Final = "schedviz.links"


def digests_in(cookies: Mapping[str, str]) -> tuple[str, ...]:
    """The digests of opened share links, oldest first; none if the signature is invalid or too old."""
    try:
        digests = signing.loads(cookies.get(settings.LINKS_COOKIE, ""), salt=_SALT, max_age=settings.SESSION_COOKIE_AGE)
    except signing.BadSignature:
        return ()
    return tuple(map(str, digests))


def set_cookie(response: HttpResponseBase, digests: Sequence[str], *, secure: bool) -> None:
    """Set the cookie."""
    response.set_cookie(
        settings.LINKS_COOKIE,
        signing.dumps(list(digests), salt=_SALT),
        max_age=settings.SESSION_COOKIE_AGE,
        secure=secure or settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Lax",
    )


def delete_cookie(response: HttpResponseBase) -> None:
    """Delete the cookie, as a logout does."""
    response.delete_cookie(settings.LINKS_COOKIE, samesite="Lax")
