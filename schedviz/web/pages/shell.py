"""Renders the shell of a page for the current user."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from schedviz.web.pages.assets import assets
from schedviz.web.pages.words import language_of, words_of

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser, User


def page(request: HttpRequest, template: str, *, status: int = 200, **context: Any) -> HttpResponse:
    """A template with the shared context of all pages."""
    user = request.user
    shared = {
        "assets": assets(),
        "language": language_of(request),
        "words": words_of(request),
        "theme": request.COOKIES.get("schedviz_theme", ""),
        "user_name": user.get_username() if user.is_authenticated else "",
        "account": _account(user),
        "oidc_name": settings.OIDC_NAME if settings.OIDC_ISSUER else "",
    }
    return render(request, template, {**shared, **context}, status=status)


def to_login(request: HttpRequest) -> HttpResponse:
    """A redirect to the login page, which leads back to this one."""
    return redirect(f"/login/?next={quote(request.get_full_path())}")


def _account(user: User | AnonymousUser) -> str:
    """The links of a page's menu: `staff` for /admin/, `password` for /password/."""
    return " ".join(
        role for role, is_so in (("staff", user.is_staff), ("password", user.is_authenticated and user.has_usable_password())) if is_so
    )
