"""Cookies of this installation. Browsers send cookies to every port of a host, so the names carry a suffix for the installation.

The suffix is derived from the secret key (`settings.INSTANCE`), which all web servers of an installation share.
"""

from __future__ import annotations

from collections.abc import MutableMapping

from django.conf import settings
from django.contrib.sessions.middleware import SessionMiddleware
from django.http import HttpRequest


def adopt_old(cookies: MutableMapping[str, str]) -> bool:
    """Accept cookies under the names before the suffix, and return whether there was a login. To be removed after one release."""
    old_names = {
        settings.SESSION_COOKIE_NAME: "schedviz_login",
        settings.CSRF_COOKIE_NAME: "schedviz_csrf",
        settings.ROOM_GUEST_COOKIE: "schedviz_guest",
    }
    found = {name: cookies[old] for name, old in old_names.items() if old in cookies and name not in cookies}
    cookies.update(found)
    return settings.SESSION_COOKIE_NAME in found


class InstanceSessions(SessionMiddleware):
    """Django's session middleware, which also gives a login under the old cookie name a cookie under the new one."""

    def process_request(self, request: HttpRequest) -> None:
        adopted = adopt_old(request.COOKIES)
        super().process_request(request)
        if adopted and list(request.session.keys()):
            # A session of this installation: the response saves it and sets its cookie.
            request.session.modified = True
