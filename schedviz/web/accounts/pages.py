"""Pages of accounts: changing a password, accepting an invite, creating a sandbox."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.conf import settings
from django.contrib.auth import login as log_in
from django.contrib.auth import update_session_auth_hash
from django.contrib.auth.forms import PasswordChangeForm, UserCreationForm
from django.contrib.auth.models import User
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_protect
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST

from schedviz.sessions.errors import SessionError
from schedviz.sessions.models import Session
from schedviz.sessions.quotas import QuotaReached
from schedviz.web.accounts import demo, invites, password_throttle
from schedviz.web.accounts.audit import Action, record
from schedviz.web.accounts.models import Invite
from schedviz.web.accounts.throttles import may_create, may_start_over
from schedviz.web.addresses import client_network
from schedviz.web.auth.login import is_reserved
from schedviz.web.pages.shell import page, to_login
from schedviz.web.pages.views import not_found
from schedviz.web.pages.words import words_of


@require_http_methods(["GET", "POST"])
@never_cache
@sensitive_post_parameters()
@csrf_protect
def password_page(request: HttpRequest) -> HttpResponse:
    """`/password/`: change the password, for users who have one. Ends all their other logins."""
    if not request.user.is_authenticated:
        return to_login(request)
    texts = words_of(request)
    if not request.user.has_usable_password():
        return page(request, "web/error.html", status=404, title=texts["change_password"], message=texts["no_password"])
    form = PasswordChangeForm(request.user, data=request.POST if request.method == "POST" else None)
    name = request.user.get_username()
    if request.method == "POST" and (refusal := password_throttle.count_attempt(request, name)):
        return page(request, "web/error.html", status=429, title=texts["change_password"], message=texts[refusal])
    _translate_labels(form, texts, {"old_password": "old_password", "new_password1": "new_password", "new_password2": "new_password_again"})
    if request.method == "POST" and form.is_valid():
        form.save()
        password_throttle.succeed(name)
        update_session_auth_hash(request, form.user)
        record(Action.PASSWORD_CHANGED, request)
        return page(request, "web/password.html", done=True)
    return page(request, "web/password.html", form=form)


@require_http_methods(["GET", "POST"])
@never_cache
@sensitive_post_parameters()
@csrf_protect
def invite_page(request: HttpRequest, secret: str) -> HttpResponse:
    """`/invite/<secret>/`: shows an invite, and accepts it with an existing or a new account.

    GET changes nothing, so link previews do not use up invites.
    """
    invite = invites.find(secret)
    if invite is None:
        return not_found(request)
    if request.user.is_authenticated and not demo.is_visitor(request.user.pk):
        return _accept_as(request, invite, request.user)
    if not invites.makes_accounts(invite):
        return page(request, "web/invite.html", invite=invite, secret=secret)
    texts = words_of(request)
    form: UserCreationForm[User] = UserCreationForm(data=request.POST if request.method == "POST" else None)
    _translate_labels(form, texts, {"username": "username", "password1": "new_password", "password2": "new_password_again"})
    if request.method == "POST":
        if not may_create(request, "accounts"):
            return page(request, "web/invite.html", status=429, invite=invite, secret=secret, message=texts["too_many_made"])
        if is_reserved(request.POST.get("username", "").strip()):
            return page(request, "web/invite.html", invite=invite, secret=secret, form=form, message=texts["reserved_name"])
        if form.is_valid():
            user = _new_member(form, invite)
            if user is None:
                return not_found(request)
            record(Action.ACCOUNT_MADE, request, user=user, invite=invite.pk)
            log_in(request, user)
            return _accepted(request, invite, user)
    return page(request, "web/invite.html", invite=invite, secret=secret, form=form)


def _accept_as(request: HttpRequest, invite: Invite, user: User) -> HttpResponse:
    if request.method != "POST":
        return page(request, "web/invite.html", invite=invite, known=True)
    if not invites.accept(invite, user):
        return not_found(request)
    return _accepted(request, invite, user)


def _new_member(form: UserCreationForm[User], invite: Invite) -> User | None:
    """A new account that has accepted an invite. None, without an account, if the invite was used up in the meantime."""
    with transaction.atomic():
        user: User = form.save()
        if invites.accept(invite, user):
            return user
        transaction.set_rollback(True)
    return None


def _accepted(request: HttpRequest, invite: Invite, user: User) -> HttpResponse:
    record(Action.INVITE_ACCEPTED, request, session=invite.session, user=user, invite=invite.pk)
    return redirect("sessions-page") if invite.session is None else redirect("session-page", session_id=invite.session.pk)


@require_POST
@csrf_protect
def sandbox(request: HttpRequest) -> HttpResponse:
    """`POST /demo/sandbox/` `session=<id>`: forks a demo session for a visitor, and deletes the visitor's previous sandbox."""
    texts = words_of(request)
    session_id = _uuid(request.POST.get("session", ""))
    session = Session.objects.filter(pk=session_id).first() if settings.PUBLIC_DEMO and session_id else None
    if session is None or not demo.is_shown(session.pk):
        return not_found(request)
    user = request.user if request.user.is_authenticated else None
    if user is not None and not demo.is_visitor(user.pk):
        # Users with an account fork it like any other session.
        return redirect("session-page", session_id=session.pk)
    if user is None and not may_create(request, "sandboxes"):
        return page(request, "web/error.html", status=429, title=texts["sandbox"], message=texts["too_many_made"])
    if user is not None and not may_start_over(request):
        message = texts["too_many_restarts"].format(limit=settings.DEMO_RESTARTS_PER_MINUTE)
        return page(request, "web/error.html", status=429, title=texts["sandbox_again"], message=message)
    try:
        visitor, made = demo.begin_sandbox(session, user, network=client_network(request))
    except (demo.DemoFull, QuotaReached, SessionError):
        return page(request, "web/error.html", status=503, title=texts["sandbox"], message=texts["demo_full"])
    if user is None:
        log_in(request, visitor)
        request.session.set_expiry(settings.DEMO_MINUTES * 60)
        record(Action.SANDBOX_MADE, request, session=made, user=visitor)
    return redirect("session-page", session_id=made.pk)


def _uuid(raw: str) -> UUID | None:
    try:
        return UUID(raw)
    except ValueError:
        return None


def _translate_labels(form: Any, texts: Any, labels: dict[str, str]) -> None:
    """Set the labels in the reader's language, and remove Django's help texts, which are in English."""
    for name, label in labels.items():
        form.fields[name].label = texts[label]
        form.fields[name].help_text = ""
    for name in set(form.fields) - set(labels):
        del form.fields[name]
