"""Cookies of this installation: a browser sends cookies to every port of a host, so their names must say whose they are.

The suffix is derived from the secret key (`settings.INSTANCE`), which all web servers of an installation share.
"""

from __future__ import annotations

from collections.abc import MutableMapping

from django.conf import settings
from django.contrib.sessions.middleware import SessionMiddleware
from django.http import HttpRequest


def adopt_old(cookies: MutableMapping[str, str]) -> bool:
    """Accept cookies under the names of releases before the suffix; whether there was such a login. To be removed after one release."""
    old_names = {
        settings.SESSION_COOKIE_NAME: "schedviz_login",
        settings.CSRF_COOKIE_NAME: "schedviz_csrf",
        settings.ROOM_GUEST_COOKIE: "schedviz_guest",
    }
    found = {name: cookies[old] for name, old in old_names.items() if old in cookies and name not in cookies}
    cookies.update(found)
    return settings.SESSION_COOKIE_NAME in found


class InstanceSessions(SessionMiddleware):
    """Django's login sessions, which gives a login that came under the old name a cookie under the new one."""

    def process_request(self, request: HttpRequest) -> None:
        adopted = adopt_old(request.COOKIES)
        super().process_request(request)
        if adopted and list(request.session.keys()):
            # It is one of ours: saved, and its cookie set, with the answer.
            request.session.modified = True
