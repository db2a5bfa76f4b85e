"""The pages. Each is a shell in which the front end draws data from REST and the WebSocket."""

from __future__ import annotations

import secrets
from typing import Any
from uuid import UUID

from django.conf import settings
from django.contrib.auth import login as log_in
from django.contrib.auth import logout as log_out
from django.contrib.auth.forms import AuthenticationForm
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_protect
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_POST

from schedviz.sessions.models import Experiment, Session
from schedviz.web.accounts import demo, password_throttle
from schedviz.web.auth import link_cookie
from schedviz.web.auth.actors import Actor, Verb
from schedviz.web.auth.cookies import delete_old
from schedviz.web.auth.login import LOGIN_LINK_AGAIN_SECONDS, local_path, redeem
from schedviz.web.auth.permissions import actor_of, may, open_link, visible_sessions
from schedviz.web.learning.models import lesson_of
from schedviz.web.pages.embed import PANELS
from schedviz.web.pages.shell import page as _page
from schedviz.web.pages.shell import page_view, to_login
from schedviz.web.pages.words import words_of


@page_view
def home(request: HttpRequest) -> HttpResponse:
    """`/`: the start page. Visitors without an account, or of the public demo, are redirected to the newest session that they may see."""
    actor = actor_of(request)
    if actor.has_account and not demo.is_visitor(actor.user_id):
        return _page(request, "web/home.html")
    newest = visible_sessions(actor).values_list("pk", flat=True).first()
    if newest is not None:
        return redirect("session-page", session_id=newest)
    return redirect("sessions-page" if actor.has_account else "login")


@page_view
def sessions_page(request: HttpRequest) -> HttpResponse:
    """`/sessions/`: the list of your sessions, and the form for a new one."""
    actor = actor_of(request)
    if not actor.has_account and not actor.links and not settings.PUBLIC_DEMO:
        return to_login(request)
    return _page(request, "web/sessions.html")


@page_view
def cases_page(request: HttpRequest) -> HttpResponse:
    """`/cases/`: the gallery of everyday cases."""
    if not actor_of(request).has_account:
        return to_login(request)
    return _page(request, "web/cases.html")


@page_view
def experiments_page(request: HttpRequest) -> HttpResponse:
    """`/experiments/`: your experiments. With `?session=<id>`, the form's plan has this session as its base."""
    if not actor_of(request).has_account:
        return to_login(request)
    return _page(request, "web/experiments.html")


@page_view
def experiment_page(request: HttpRequest, experiment_id: UUID) -> HttpResponse:
    """`/experiments/<id>/`: one of your experiments."""
    actor = actor_of(request)
    if not actor.has_account:
        return to_login(request)
    if not Experiment.objects.filter(pk=experiment_id, owner_id=actor.user_id).exists():
        return not_found(request)
    return _page(request, "web/experiment.html", experiment_id=str(experiment_id))


@page_view
def lessons_page(request: HttpRequest) -> HttpResponse:
    """`/lessons/`: the course. With `?begin=<lesson>[&stop=<stop>]` the page starts a lesson, at a stop of it."""
    if not actor_of(request).has_account:
        return to_login(request)
    return _page(request, "web/lessons.html")


@page_view
def session_page(request: HttpRequest, session_id: UUID) -> HttpResponse:
    """`/s/<id>/`: one session. `?link=` opens a share link, stores it in the browser, and redirects to the address without it.

    The page reads the other parameters, such as `at=`; redirects keep them.
    """
    return _session(request, session_id)


def _session(request: HttpRequest, session_id: UUID, panel: str = "") -> HttpResponse:
    if (secret := request.GET.get("link")) is not None:
        rest = request.GET.copy()
        del rest["link"]
        response = redirect(f"{request.path}?{rest.urlencode()}" if rest else request.path)
        open_link(request, response, secret)
        return response
    session = Session.objects.filter(pk=session_id).first()
    actor = actor_of(request)
    if session is None or not may(actor, Verb.SEE, session):
        if not actor.has_account:
            return to_login(request)
        return not_found(request)
    context: dict[str, Any] = {"session_id": str(session.pk), "session_name": session.name, "panel": panel, "lesson": lesson_of(session)}
    return _page(request, "web/session.html", **context, **_of_demo(session, actor))


def _of_demo(session: Session, actor: Actor) -> dict[str, Any]:
    """The offer to a visitor of the public demo: a sandbox, or a new one."""
    if not settings.PUBLIC_DEMO or not (actor.user_id is None or demo.is_visitor(actor.user_id)):
        return {}
    if demo.is_shown(session.pk):
        return {"demo": str(session.pk)}
    of = session.forked_from_id
    return {"demo": str(of), "sandbox": "yes"} if session.owner_id == actor.user_id and of and demo.is_shown(of) else {}


@page_view
def panel_page(request: HttpRequest, session_id: UUID, panel: str) -> HttpResponse:
    """`/s/<id>/panel/<name>/`: one panel of a session in a window of its own."""
    return _session(request, session_id, panel) if panel in PANELS else not_found(request)


@page_view
def compare_page(request: HttpRequest) -> HttpResponse:
    """`/compare/?a=&b=`: the comparison of two sessions or moments. REST checks the permissions."""
    actor = actor_of(request)
    if not actor.has_account and not actor.links:
        return to_login(request)
    return _page(request, "web/compare.html")


@never_cache
@sensitive_post_parameters("password")
@csrf_protect
def login_page(request: HttpRequest) -> HttpResponse:
    """`/login/`: with `?once=`, the link that `schedviz up` prints; otherwise a form with user name and password."""
    following = local_path(request, request.POST.get("next") or request.GET.get("next"))
    message = ""
    if request.method == "GET" and (secret := request.GET.get("once")) is not None:
        if _needs_browser_cookie(request):
            return _remember_browser(redirect(f"{request.get_full_path()}&again=1"), secrets.token_urlsafe(16))
        browser = request.COOKIES.get(settings.LOGIN_BROWSER_COOKIE) or secrets.token_urlsafe(16)
        user = redeem(secret, browser)
        if user is not None:
            log_in(request, user)
            return _remember_browser(HttpResponseRedirect(following), browser)
        if request.user.is_authenticated:
            # The link was opened twice in this browser, which is already logged in.
            return HttpResponseRedirect(following)
        message = words_of(request)["link_used"]
    name = request.POST.get("username", "").strip()
    if request.method == "POST" and (refusal := password_throttle.count_attempt(request, name)):
        message = words_of(request)[refusal]
        return _page(request, "web/login.html", status=429, form=_form(request), next=following, message=message)
    form = _form(request, request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        password_throttle.succeed(name)
        log_in(request, form.get_user())
        return HttpResponseRedirect(following)
    status = 403 if message else 200
    return _page(request, "web/login.html", status=status, form=form, next=following, message=message)


def _needs_browser_cookie(request: HttpRequest) -> bool:
    """Whether the browser must get its cookie before it uses up a login link.

    The second click of a double click cancels the first request, whose response, with its cookies, is lost. Scripts, which send no
    navigation headers, are logged in immediately.
    """
    navigates = request.headers.get("Sec-Fetch-Mode") == "navigate"
    return navigates and "again" not in request.GET and settings.LOGIN_BROWSER_COOKIE not in request.COOKIES


def _remember_browser(response: HttpResponse, browser: str) -> HttpResponse:
    """Set the cookie by which a browser is recognized when it opens the same login link again."""
    response.set_cookie(
        settings.LOGIN_BROWSER_COOKIE,
        browser,
        max_age=LOGIN_LINK_AGAIN_SECONDS,
        path=reverse("login"),
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Lax",
    )
    return response


@require_POST
@csrf_protect
def logout_page(request: HttpRequest) -> HttpResponse:
    """`POST /logout/`."""
    log_out(request)
    response = redirect("login")
    delete_old(response)
    link_cookie.delete_cookie(response)
    return response


@never_cache
def not_found(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:  # noqa: ARG001 - Django names it
    """The 404 page, also Django's handler for unknown addresses."""
    return _page(request, "web/error.html", status=404)


def _form(request: HttpRequest, data: QueryDict | None = None) -> AuthenticationForm:
    """The login form, in the language of the browser."""
    texts = words_of(request)
    form = AuthenticationForm(request, data=data)
    form.fields["username"].label = texts["username"]
    form.fields["password"].label = texts["password"]
    form.error_messages = {**form.error_messages, "invalid_login": texts["wrong"]}
    return form
