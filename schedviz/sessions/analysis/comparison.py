"""Compares stored sessions, each at a moment. A fork and its parent are compared from the fork on."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator
from functools import cached_property
from typing import Any
from uuid import UUID

from schedviz.sessions.errors import SessionError
from schedviz.sessions.history import cycle_groups, lineage, reading
from schedviz.sessions.models import Session
from schedviz.sessions.replay import cycle_detail_job
from schedviz.trace.comparing import Comparison, Summary, compare
from schedviz.trace.events import AnyEvent
from schedviz.trace.view import View

#: How long the replay for the scores of all nodes in a cycle may take, in seconds.
DETAIL_SECONDS = 5.0
#: The latest message about a pod is looked for in this many of the newest cycles.
MAX_CYCLES_SEARCHED = 20_000


class StoredSide:
    """A `Side` of a comparison: a session as it was after an event."""

    def __init__(self, session: Session, event: int, begin: tuple[int, int] = (0, 0)) -> None:
        #: The event and the cycle after which it is compared.
        self.begin_event, self.begin_cycle = begin
        self.session = str(session.pk)
        self.name = session.name
        self.event = event
        self._session = session

    @property
    def settings(self) -> dict[str, Any]:
        session_settings: dict[str, Any] = self._session.settings
        return session_settings

    @cached_property
    def view(self) -> View:
        return reading.state_at_event(self._session, self.event).view

    def events(self, after: int) -> Iterator[AnyEvent]:
        return reading.each_event(self._session.pk, after=max(after, self.begin_event), until=self.event)

    def cycles(self, after: int) -> Iterator[Summary]:
        for summary in reading.each_cycle(self._session.pk, after=max(after, self.begin_cycle)):
            if summary.last_event > self.event:
                return
            yield summary

    def detail(self, cycle: int) -> dict[str, Any] | None:
        try:
            return cycle_detail_job.computed_detail(self._session.pk, cycle, deadline=time.monotonic() + DETAIL_SECONDS)
        except SessionError:
            # Fall back to the two best nodes in the summary.
            return None

    def messages(self, pods: Collection[str]) -> dict[str, str]:
        messages: dict[str, str] = {}
        for looked_at, summary in enumerate(reading.each_cycle(self._session.pk, after=0, backwards=True)):
            if len(messages) == len(pods) or looked_at == MAX_CYCLES_SEARCHED:
                break
            if summary.last_event <= self.event and summary.cycle.pod in pods:
                messages.setdefault(summary.cycle.pod, summary.cycle.message)
        return messages


def compare_sessions(a: tuple[Session, int], b: tuple[Session, int]) -> Comparison:
    """Compare two sessions, each after an event. Replays the cycle where the sessions diverge for the scores of all nodes; if that takes
    too long, it uses those of the two best nodes. Runs in an io worker.

    Raises `HistoryUnavailable` if a moment is no longer stored.
    """
    common = lineage.shared(a[0].pk, b[0].pk, until_a=a[1], until_b=b[1])
    shared_event, shared_cycle = 0, 0
    if common is not None:
        owner, shared_event = common
        shared_cycle = cycle_groups.last_ended(owner, shared_event) or 0
    origins = _origins(*a), _origins(*b)
    begins = [(0, 0), (0, 0)] if common is not None else [_begin(one, other) for one, other in (origins, reversed(origins))]
    sides = [StoredSide(session, event, begin) for (session, event), begin in zip((a, b), begins, strict=True)]
    shared_origin = next(reversed(origins[0])) == next(reversed(origins[1]))
    return compare(sides[0], sides[1], shared_event=shared_event, shared_cycle=shared_cycle, shared_origin=shared_origin)


def _origins(session: Session, event: int) -> dict[UUID, int]:
    """The session and those from which it descends, also by forks to another release, each with the event up to which it is part of the
    past.
    """
    found = {session.pk: event}
    one: Session | None = session
    while one is not None and one.origin_id is not None:
        event = one.source.get("fork", {}).get("event", one.fork_event)
        found[one.origin_id] = event
        one = Session.objects.filter(pk=one.origin_id).only("origin_id", "source", "fork_event").first()
    return found


def _begin(origins: dict[UUID, int], others: dict[UUID, int]) -> tuple[int, int]:
    """Of two sessions that share no events: the event and the cycle of the first at which their common origin was forked. A fork to
    another release begins with no events.
    """
    session_id = next(iter(origins))
    nearest = next((one for one in origins if one in others), None)
    if nearest is None:
        return 0, 0
    shared = lineage.shared(session_id, nearest, until_a=origins[session_id], until_b=min(origins[nearest], others[nearest]))
    if shared is None:
        return 0, 0
    owner, event = shared
    return event, cycle_groups.last_ended(owner, event) or 0
