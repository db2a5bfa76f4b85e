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

    def __init__(self, session: Session, event: int) -> None:
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
        return reading.each_event(self._session.pk, after=after, until=self.event)

    def cycles(self, after: int) -> Iterator[Summary]:
        for summary in reading.each_cycle(self._session.pk, after=after):
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
    sides = [StoredSide(session, event) for session, event in (a, b)]
    common = lineage.shared(a[0].pk, b[0].pk, until_a=a[1], until_b=b[1])
    shared_event, shared_cycle = 0, 0
    if common is not None:
        owner, shared_event = common
        shared_cycle = cycle_groups.last_ended(owner, shared_event) or 0
    return compare(sides[0], sides[1], shared_event=shared_event, shared_cycle=shared_cycle, shared_origin=_root(a[0]) == _root(b[0]))


def _root(session: Session) -> UUID:
    """The session from which this one descends, also by forks to another release, which share no events with it."""
    found, parent = session.pk, session.origin_id
    while parent is not None:
        found, parent = parent, Session.objects.filter(pk=parent).values_list("origin_id", flat=True).first()
    root: UUID = found
    return root
