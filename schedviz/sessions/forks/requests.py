"""Requests for forks: a fork is a session that begins in the state of another session after an event, and continues on its own.

The fork is stored here with the status `importing`; an io worker makes its engine (see builder.py).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
from django.contrib.auth.models import AbstractBaseUser
from django.db import IntegrityError, transaction

from schedviz.ingest.release_evidence import with_other_release
from schedviz.sessions import quotas
from schedviz.sessions.errors import HistoryUnavailable, KeyReused, SessionError
from schedviz.sessions.extenders import may_call_extenders
from schedviz.sessions.history import reading, timeline
from schedviz.sessions.models import Session
from schedviz.sessions.redis import wakeups
from schedviz.trace.releases import gates_in

_MAX_NAME_LENGTH = 200


class NotForkable(SessionError):
    """The session is still being imported and has no state to continue from."""

    code = "not_forkable"


class Forked(msgspec.Struct, frozen=True):
    """A fork. `duplicate`: it had been requested before with the same key."""

    session: Session
    duplicate: bool


class OtherRelease(msgspec.Struct, frozen=True):
    """The release that a fork simulates instead of its parent's. `feature_gates` differ from the release's defaults."""

    release: str
    feature_gates: dict[str, bool] = {}


def fork(
    session: Session,
    owner: AbstractBaseUser,
    *,
    at: int | None = None,
    name: str = "",
    key: str = "",
    calls_extenders: bool = True,
    enforces_quotas: bool = True,
    other: OtherRelease | None = None,
    on_create: Callable[[Session], None] | None = None,
) -> Forked:
    """Create a session of `owner` that continues from the state after an event, or from the present. The same key returns the same fork.

    With `other`, the scheduler of another release starts with the objects of that moment; such a session has none of the parent's events.
    `calls_extenders` is False for sessions that others command: they call no extender, even if the owner may. `on_create` is called in the
    transaction that creates the fork, and may raise an exception to prevent it.

    Raises `NotForkable`, `HistoryUnavailable`, `KeyReused`, and `QuotaReached` unless `enforces_quotas` is False.
    """
    if existing := known_fork(session, owner, at=at, key=key, other=other):
        return Forked(existing, duplicate=True)
    made = _new_fork(session, owner, at=at, name=name, key=key, other=other)
    made.calls_extenders = calls_extenders and session.calls_extenders and may_call_extenders(owner)
    try:
        with quotas.creating_session(owner.pk) if enforces_quotas else transaction.atomic():
            made.save(force_insert=True)
            if on_create is not None:
                on_create(made)
    except IntegrityError:
        # A concurrent request used the same key.
        existing = known_fork(session, owner, at=at, key=key, other=other)
        if existing is None and not Session.objects.filter(pk=session.pk).exists():
            raise HistoryUnavailable("The session has just been deleted.") from None
        if existing is None:
            raise
        return Forked(existing, duplicate=True)
    wakeups.notify_import(made.pk)
    return Forked(made, duplicate=False)


def size_at(session: Session, at: int | None) -> dict[str, int]:
    """The `nodes`, `pods` and `objects` of a fork at an event, or of one from the present, for `quotas.require_session_quota`."""
    others = max(0, session.object_count - session.nodes - session.pods)
    nodes, pods = session.nodes, session.pods
    if at is not None and at < session.event:
        # Objects of other kinds are few and seldom change.
        levels = timeline.levels_at(session, at)
        nodes, pods = levels.nodes, levels.pods
    return {"nodes": nodes, "pods": pods, "objects": nodes + pods + others}


def known_fork(session: Session, owner: AbstractBaseUser, *, at: int | None, key: str, other: OtherRelease | None = None) -> Session | None:
    """The fork that was made before with this key, if any. Raises `KeyReused` if the key belongs to a different fork."""
    if not key:
        return None
    existing = Session.objects.filter(origin=session, owner_id=owner.pk, fork_key=key).first()
    if existing is not None and existing.source["fork"]["at"] != at:
        before = existing.source["fork"]["at"]
        moment = "now" if before is None else f"event {before}"
        raise KeyReused(f"{key!r} was used before, for a fork at {moment}; use a new key for each fork.", path="key")
    if existing is not None and existing.source["fork"].get("release") != (other.release if other else None):
        before = existing.source["fork"].get("release", "the same release")
        raise KeyReused(f"{key!r} was used before, for a fork to {before}; use a new key for each fork.", path="key")
    if existing is not None and other is not None and gates_in(existing.settings) != other.feature_gates:
        raise KeyReused(f"{key!r} was used before, for a fork with other feature gates; use a new key for each fork.", path="key")
    return existing


def _new_fork(session: Session, owner: AbstractBaseUser, *, at: int | None, name: str, key: str, other: OtherRelease | None) -> Session:
    """The fork, not saved yet. Raises `NotForkable` and `HistoryUnavailable`."""
    event = _event_of_fork(session, at)
    fork_source: dict[str, Any] = {"session": str(session.pk), "name": session.name, "at": at, "event": event}
    if session.follows:
        fork_source["follows"] = session.follows
    settings, report = session.settings, session.report
    if other is not None:
        fork_source["release"] = other.release
        settings = {**settings, "release": other.release, "feature_gates": other.feature_gates}
        report = report and with_other_release(report, other.release)
    origin = f" (fork after event {event}{f', {other.release}' if other else ''})"
    return Session(
        owner_id=owner.pk,
        name=(name or session.name[: _MAX_NAME_LENGTH - len(origin)] + origin)[:_MAX_NAME_LENGTH],
        source={"fork": fork_source},
        settings=settings,
        report=report,
        uploaded=True,
        progress={"phase": "forking", "done": 0, "total": None, "unit": "events"},
        origin=session,
        forked_from=None if other else session,
        fork_event=0 if other else event,
        fork_key=key,
    )


def _event_of_fork(session: Session, at: int | None) -> int:
    """The event after which a fork continues: `at`, or the newest. Raises `NotForkable` and `HistoryUnavailable`."""
    if session.status == Session.Status.IMPORTING:
        raise NotForkable("The session is not ready yet, so it cannot be forked. Wait for its import to end.")
    event = session.event if at is None else at
    if event > session.event:
        raise HistoryUnavailable(f"Event {event} has not happened; the last is {session.event}.")
    # Raises if no stored state leads to the moment.
    reading.checkpoint_before(session, event)
    return event
