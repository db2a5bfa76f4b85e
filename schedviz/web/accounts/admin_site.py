"""`/admin/`, for staff: sessions, users, tokens, invites, the sessions of the demo, and the audit log."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.contrib.auth.views import LogoutView
from django.http import HttpRequest, HttpResponse

from schedviz.web.auth import link_cookie
from schedviz.web.auth.cookies import delete_old
from schedviz.web.pages.shell import to_login


class Site(admin.AdminSite):
    """Django's admin pages behind the login page of schedviz."""

    site_header = "schedviz"
    site_title = "schedviz"
    index_title = "Administration"
    enable_nav_sidebar = False

    def login(self, request: HttpRequest, _extra_context: dict[str, Any] | None = None) -> HttpResponse:
        if request.user.is_authenticated:
            # A 404 for users who are not staff: a redirect to the login page would loop, and a 403 would reveal the pages.
            from schedviz.web.pages.views import not_found

            return not_found(request)
        return to_login(request)

    def logout(  # type: ignore[override]  # Ours has no page of its own.
        self, request: HttpRequest, _extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Log out, and redirect to the login page."""
        response: HttpResponse = LogoutView.as_view(next_page="/login/")(request)
        delete_old(response)
        link_cookie.delete_cookie(response)
        return response


site = Site(name="admin")
