"""Which commands may make an engine call extenders.

The operator lists the users who may (SCHEDVIZ_EXTENDER_USERS). An editor whom such a user invited may command the session, but not choose
the addresses, bodies and TLS settings of its calls.
"""

from __future__ import annotations

from django.contrib.auth.models import User

from schedviz.sessions.errors import SessionError
from schedviz.sessions.extenders import may_call_extenders
from schedviz.sessions.models import Session
from schedviz.trace.commands import AnyCommand, Configure
from schedviz.web.auth.actors import Actor


class ExtendersNotAllowed(SessionError):
    """The command names extenders, and its sender is not one of the users who may call them."""

    code = "forbidden"


def require_extender_permission(actor: Actor, session: Session, *commands: AnyCommand) -> None:
    """Raises `ExtendersNotAllowed` if a command configures extenders in a session that calls them, and the actor may not."""
    if (
        not any(isinstance(command, Configure) and (command.config or {}).get("extenders") for command in commands)
        or not session.calls_extenders
    ):
        return
    user = User.objects.filter(pk=actor.user_id).first() if actor.user_id is not None else None
    if user is None or not may_call_extenders(user):
        raise ExtendersNotAllowed(
            "This session calls extenders, and only users whom the operator listed (SCHEDVIZ_EXTENDER_USERS) may configure them. "
            "Leave out `extenders`, or ask the session's owner."
        )
