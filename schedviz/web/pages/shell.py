"""Renders the shell of a page for the current user."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import quote

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import ensure_csrf_cookie
from django.views.decorators.http import require_GET

from schedviz.web.pages.assets import assets
from schedviz.web.pages.words import language_of, words_of

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser, User

View = TypeVar("View", bound=Callable[..., HttpResponse])


def page_view(view: View) -> View:
    """Make a function the view of a page: it is called for GET, is not cached, and sets the cookie that later requests need."""
    decorated: View = require_GET(never_cache(ensure_csrf_cookie(view)))
    return decorated


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
