"""`ObserverFacts`: what the database knows of a session's observer. Each fact is read when it is needed, at most once in a slice."""

from __future__ import annotations

from uuid import UUID

from django.db.models import QuerySet

from schedviz.sessions.models import Observer, Session
from schedviz.trace.releases import is_of_release, release_in


class ObserverFacts:
    """The facts about the observer of one session."""

    def __init__(self, session: Session) -> None:
        self._session_id: UUID = session.pk
        self._release = release_in(session.settings)
        #: A fork is detached, so its commands say nothing about the real scheduler.
        self._is_detached = "fork" in session.source
        #: The observer's source; "": the session is not known to follow a cluster.
        self.source = ""
        #: Whether the observer was looked for in this slice.
        self._was_sought = False
        #: The version of the cluster's API server; "": not known; None: not read in this slice.
        self._version: str | None = None
        #: None: not read in this slice.
        self._has_times: bool | None = None

    def forget(self) -> None:
        """Read the facts that may change again: the next slice begins."""
        self._was_sought, self._version, self._has_times = False, None, None

    def follows(self) -> bool:
        """Whether the session has an observer."""
        if not self.source and not self._was_sought and not self._is_detached:
            self._was_sought = True
            self.source = self._observers.values_list("source", flat=True).first() or ""
        return bool(self.source)

    def is_of_other_release(self) -> bool:
        """Whether the cluster is known to have another release than the session simulates."""
        if self._version is None:
            self._version = self._observers.values_list("version", flat=True).first() or ""
        return bool(self._version) and not is_of_release(self._version, self._release)

    def has_times(self) -> bool:
        """Whether the observer pushes times of decisions."""
        if self._has_times is None:
            self._has_times = self._observers.filter(last_times__gt=0).exists()
        return self._has_times

    @property
    def _observers(self) -> QuerySet[Observer]:
        return Observer.objects.filter(session_id=self._session_id)
