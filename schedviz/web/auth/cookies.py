"""Cookies of this installation. Browsers send cookies to every port of a host, so the names carry a suffix for the installation.

The suffix is derived from the secret key (`settings.INSTANCE`), which all web servers of an installation share.
"""

from __future__ import annotations

from collections.abc import MutableMapping

from django.conf import settings
from django.contrib.sessions.middleware import SessionMiddleware
from django.http import HttpRequest, HttpResponse


def adopt_old(cookies: MutableMapping[str, str]) -> bool:
    """Accept cookies under the names of 0.1, which have no suffix; whether there was such a login. To be removed after one release."""
    renamed = {name: cookies[old] for name, old in _old_names().items() if old in cookies and name not in cookies}
    cookies.update(renamed)
    return settings.SESSION_COOKIE_NAME in renamed


def delete_old(response: HttpResponse) -> None:
    """Delete the cookies under the names of 0.1, so that a logout does not uncover another login."""
    for name in _old_names().values():
        response.delete_cookie(name, samesite="Lax")


def _old_names() -> dict[str, str]:
    """Current name -> name in 0.1."""
    return {
        settings.SESSION_COOKIE_NAME: "schedviz_login",
        settings.CSRF_COOKIE_NAME: "schedviz_csrf",
        settings.ROOM_GUEST_COOKIE: "schedviz_guest",
    }


class InstanceSessions(SessionMiddleware):
    """Django's session middleware, which also gives a login under the old cookie name a cookie under the new one.

    It keeps the cookies of logins that have expired: the clock may have been wrong. Browsers drop them by their own clock.
    """

    def process_request(self, request: HttpRequest) -> None:
        adopted = adopt_old(request.COOKIES)
        super().process_request(request)
        if adopted and list(request.session.keys()):
            # A session of this installation: the response saves it and sets its cookie.
            request.session.modified = True

    def process_response(self, request: HttpRequest, response: HttpResponse) -> HttpResponse:
        """Set the cookie of a login that is new or changed, and delete that of one that was ended."""
        result = super().process_response(request, response)
        cookie = result.cookies.get(settings.SESSION_COOKIE_NAME)
        if cookie is not None and not cookie.value and not request.session.modified:
            del result.cookies[settings.SESSION_COOKIE_NAME]
        return result
