"""Signal handlers for logins: they write the audit log and set the lifetime of the login."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.signals import user_logged_in, user_logged_out, user_login_failed

from schedviz.web.redaction import printable


def connect() -> None:
    """Connect the handlers."""
    user_logged_in.connect(_logged_in, dispatch_uid="schedviz audit")
    user_logged_out.connect(_logged_out, dispatch_uid="schedviz audit")
    user_login_failed.connect(_login_failed, dispatch_uid="schedviz audit")


def _logged_in(*, request: Any, user: Any, **_: Any) -> None:
    from schedviz.web.accounts.audit import Action, record

    # Give the login the normal lifetime, if the browser session was a short one (`oidc.start_login`).
    request.session.set_expiry(None)
    record(Action.LOGIN, request, user=user)


def _logged_out(*, request: Any, user: Any, **_: Any) -> None:
    from schedviz.web.accounts.audit import Action, record

    if user is not None:
        record(Action.LOGOUT, request, user=user)


def _login_failed(*, credentials: dict[str, Any], request: Any = None, **_: Any) -> None:
    from schedviz.web.accounts.audit import MAX_NAME_LENGTH, Action, record

    tried = printable(str(credentials.get("username", "")), MAX_NAME_LENGTH)
    record(Action.LOGIN_FAILED, request, user_name=tried, tried=tried)
