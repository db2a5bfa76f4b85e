"""Which lesson a session was made for."""

from __future__ import annotations

from schedviz.sessions.models import Session


def lesson_of(session: Session) -> str:
    """The lesson that a session, or what it was forked from, was made for; "" where there is none."""
    return _made_for(session)[0]


def version_begun_with(session: Session) -> str:
    """The version of that lesson's files when the session was made; "" where nobody wrote it down."""
    return _made_for(session)[1]


def _made_for(session: Session) -> tuple[str, str]:
    found: Session | None = session
    while found is not None:
        if lesson := found.source.get("lesson"):
            return str(lesson), str(found.source.get("lessonVersion", ""))
        found = found.forked_from
    return "", ""
