"""The accepted commands of a session, as its engine worker reads them: in the order of their numbers, fetched in batches."""

from __future__ import annotations

from collections import deque

from schedviz.sessions.errors import Fenced
from schedviz.sessions.hosting.lease import Lease
from schedviz.sessions.models import Session
from schedviz.sessions.queries import prepared
from schedviz.sessions.replay import replayer
from schedviz.sessions.replay.replayer import StoredCommand
from schedviz.trace.commands import Run, Step

#: Commands per fetch.
_COMMANDS_PER_FETCH = 100


class InboxReader:
    """Reads one session's inbox."""

    def __init__(self, session: Session) -> None:
        self._session_id = session.pk
        #: The number of the newest accepted command, as of the last query.
        self.last_seq = session.last_seq
        #: Runs and steps with smaller numbers are interrupted: a pause was accepted after them.
        self.interrupt_seq = session.interrupt_seq
        #: Fetched commands that have not been executed.
        self._fetched: deque[StoredCommand] = deque()

    def refresh(self, lease: Lease) -> int:
        """Read how far the inbox goes; returns the edit number of the breakpoints. Raises `Fenced`."""
        head = prepared.select_inbox_head(self._session_id, epoch=lease.epoch)
        if head is None:
            raise Fenced(self._session_id)
        self.update(last_seq=head.last_seq, interrupt_seq=head.interrupt_seq)
        return head.breakpoints_edit

    def update(self, *, last_seq: int, interrupt_seq: int) -> None:
        """Set the number of the newest accepted command, and that before which runs are interrupted, as a query has just returned them."""
        self.last_seq, self.interrupt_seq = last_seq, interrupt_seq

    def next_after(self, seq: int) -> StoredCommand | None:
        """The first command after a number; None when no more are known."""
        while self._fetched and self._fetched[0].seq <= seq:
            self._fetched.popleft()
        if not self._fetched and seq < self.last_seq:
            self._fetched.extend(replayer.next_commands(self._session_id, after_seq=seq, limit=_COMMANDS_PER_FETCH))
        return self._fetched.popleft() if self._fetched else None

    def is_interrupted(self, stored: StoredCommand) -> bool:
        """Whether a pause ends this command."""
        return stored.seq < self.interrupt_seq and isinstance(stored.command, Run | Step)

    def discard_fetched(self) -> None:
        """Drop the fetched commands that were not executed, so that they are fetched again."""
        self._fetched.clear()
