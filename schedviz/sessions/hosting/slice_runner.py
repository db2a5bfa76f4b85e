"""Executes a session's commands on its engine, a slice at a time: begin or continue a command, interrupt it, or quarantine it."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import msgspec
from django.db import DatabaseError, connection
from structlog.contextvars import bound_contextvars

from schedviz.engine import Simulation
from schedviz.engine.simulation import never
from schedviz.sessions import quotas
from schedviz.sessions.cluster_growth import ClusterGrowth
from schedviz.sessions.commands.breakpoints import BreakpointMonitor, Hit
from schedviz.sessions.errors import Fenced
from schedviz.sessions.extenders import stored_responses
from schedviz.sessions.extenders.http import HttpTransport
from schedviz.sessions.hosting.inbox_reader import InboxReader
from schedviz.sessions.hosting.lease import Lease, announce, announce_stuck
from schedviz.sessions.hosting.pace import Pace
from schedviz.sessions.hosting.slice_commit import CompletedCommand
from schedviz.sessions.hosting.watchdog import STAGE_SECONDS, WATCHDOG, StageTimeout, while_cycle_lasts
from schedviz.sessions.models import Session
from schedviz.sessions.observing.observations import UNORDERED_SUFFIX
from schedviz.sessions.observing.shadow import Shadow
from schedviz.sessions.quotas import QuotaReached
from schedviz.sessions.replay.replayer import StoredCommand
from schedviz.sessions.tracing import CommandSpan
from schedviz.trace.commands import Run, Step, op_of

logger = logging.getLogger(__name__)

#: A slice ends after this many cycles or this time, whichever comes first. Then viewers receive it, and a pause takes effect.
SLICE_CYCLES = 64
SLICE_SECONDS = 0.05
#: On a busy machine little may be done in that time, and commits would cost more than the work. So a slice continues until it has used
#: this much CPU time ...
SLICE_CPU_SECONDS = 0.02
#: ... but no longer than this.
MAX_SLICE_SECONDS = 0.25
#: A slice also ends when the messages of its cycles have this many characters. Its events and summaries repeat each message several times,
#: and reading one of them unpacks them all.
SLICE_MESSAGE_CHARS = 1 << 20
#: Slices of a session that follows a cluster are this many times as long: no user steps through it, and a commit costs as much
#: as ten changes.
FOLLOWED_SLICES = 4
#: Why a run stopped, in addition to the engine's reasons.
STOPPED_BY_BREAKPOINT = "breakpoint"
STOPPED_BY_QUOTA = "quota"

#: Why a stuck command is quarantined.
STUCK_REASON = (
    f"one step of it took over {STAGE_SECONDS:g} s, which is the limit. "
    "Split it into smaller commands; if the server was overloaded, send it again."
)


class EngineError(Exception):
    """The engine raised on a command: its state cannot be trusted, and the command would fail again."""

    def __init__(self, seq: int, message: str) -> None:
        super().__init__(message)
        #: The number of the command.
        self.seq = seq
        #: What failed, for users.
        self.message = message


class SliceResult(NamedTuple):
    """What a slice executed: the commands that ended, and the breakpoints at which runs stopped."""

    done: list[tuple[StoredCommand, CompletedCommand]]
    hits: list[Hit]


class SliceRunner:
    """Executes one session's commands. Between two slices at most one command is running."""

    def __init__(
        self,
        lease: Lease,
        session: Session,
        simulation: Simulation,
        *,
        inbox: InboxReader,
        to_quarantine: Mapping[int, str],
        running: StoredCommand | None = None,
    ) -> None:
        """`to_quarantine`: the numbers of commands to quarantine, and why; `running`: the command that the engine was saved in."""
        self._lease = lease
        self._session = session
        self._simulation = simulation
        self._inbox = inbox
        self._to_quarantine = to_quarantine
        #: The command that continues in the next slice, and its pace if it has a rate.
        self.running = running
        self.pace: Pace | None = None
        self.breakpoints = BreakpointMonitor(session)
        self.shadow = Shadow(session)
        self._span = CommandSpan()
        self._growth = ClusterGrowth(session.owner_id, simulation)
        #: The command that the current slice executes, for the watchdog.
        self._current_seq = 0
        self.breakpoints.refresh(session.breakpoints_edit)
        if running is not None:
            self._watch_run(running)
        self._set_pace()
        self._set_transport()

    def take_over(self, lease: Lease, session: Session) -> None:
        """Continue under a new lease."""
        self._lease, self._session = lease, session
        self.breakpoints.refresh(session.breakpoints_edit)
        self._set_transport()

    @property
    def seconds_until_due(self) -> float:
        """How long a run with a rate waits for its next cycles; 0 for all other commands."""
        if self.pace is None or self.running is None or self._inbox.is_interrupted(self.running):
            return 0.0
        return self.pace.wait_seconds()

    def run(self, *, after_seq: int, is_suspicious: bool) -> SliceResult:
        """Execute the commands after `after_seq` for one slice. Raises `EngineError`, `Fenced` or `DatabaseError`.

        `is_suspicious`: execute one command, and store its number first, so that the next owner knows it if this process crashes.
        """
        try:
            return self._run_watched(after_seq, is_suspicious=is_suspicious)
        except StageTimeout as timeout:
            logger.exception("command %s of session %s is stuck", self._current_seq, self._session.pk)
            # It may have been interrupted in a query.
            connection.close()
            raise EngineError(self._current_seq, STUCK_REASON) from timeout

    def _run_watched(self, after_seq: int, *, is_suspicious: bool) -> SliceResult:
        result = SliceResult([], [])
        activity = f"The engine of session {self._session.pk}"
        with WATCHDOG.watch(activity, on_stuck=self._announce_stuck) as alive:
            between_cycles, self._simulation.on_stage = while_cycle_lasts(alive)
            stop = self._end_of_slice(between_cycles)
            if isinstance(self._transport, HttpTransport):
                self._transport.before_call = lambda: self._require_held(alive)
            while (stored := self.running or self._inbox.next_after(after_seq)) is not None:
                done = self._execute(stored, stop, result.hits, is_suspicious=is_suspicious)
                if done is None:
                    break
                result.done.append((stored, done))
                after_seq = done.seq
                if stop() or is_suspicious:
                    break
            self._simulation.on_stage = never
        return result

    def _require_held(self, alive: Callable[[], None]) -> None:
        """Before a call of an extender, which takes seconds. Raises `Fenced` if the session was deleted or has another owner."""
        alive()
        self._inbox.refresh(self._lease)

    def _end_of_slice(self, alive: Callable[[], None]) -> Callable[[], bool]:
        began, cpu_began = time.monotonic(), time.thread_time()
        longer = FOLLOWED_SLICES if self.shadow.is_followed else 1
        until_cycle = self._simulation.cycle + (SLICE_CYCLES if self.pace is None else self.pace.due())

        def stop() -> bool:
            alive()
            if self.breakpoints.sees_hit(self._simulation.pending_events):
                return True
            # An extender's response is an input: it is committed before anything builds on it.
            if self._simulation.extender_calls.has_responses:
                return True
            if self._simulation.cycle >= until_cycle or self._simulation.pending_message_chars >= SLICE_MESSAGE_CHARS:
                return True
            seconds = time.monotonic() - began
            is_used_up = seconds >= longer * SLICE_SECONDS and time.thread_time() - cpu_began >= longer * SLICE_CPU_SECONDS
            return is_used_up or seconds >= longer * MAX_SLICE_SECONDS

        return stop

    def _announce_stuck(self) -> None:
        """Store which command is stuck. The watchdog calls this before it interrupts the thread or ends the process: the next owner then
        quarantines the command at once, and no second process has to end because of it.
        """
        announce_stuck(self._lease, self._current_seq)

    def _execute(self, stored: StoredCommand, stop: Callable[[], bool], hits: list[Hit], *, is_suspicious: bool) -> CompletedCommand | None:
        """Begin or continue a command; None when the slice ended first."""
        self._current_seq = stored.seq
        if why := self._to_quarantine.get(stored.seq):
            return self._quarantine(stored, why)
        if is_suspicious and not announce(self._lease, stored.seq):
            raise Fenced(self._session.pk)
        if self.running is None:
            op = op_of(stored.command)
            self._span.start(self._session.pk, stored.seq, op)
        try:
            with bound_contextvars(command=stored.seq), self._span.within():
                return self._begin_or_continue(stored, stop, hits)
        except (Fenced, DatabaseError):
            # A query of a quota that was cancelled says nothing about the command: the next owner tries again.
            raise
        except Exception as error:
            logger.exception("command %s of session %s broke the engine", stored.seq, self._session.pk)
            raise EngineError(stored.seq, f"the engine failed on it ({type(error).__name__}: {str(error)[:300]}).") from error

    def _begin_or_continue(self, stored: StoredCommand, stop: Callable[[], bool], hits: list[Hit]) -> CompletedCommand | None:
        refused = ""
        if self.running is None:
            refused = self._begin(stored)
            if self.pace is not None and not self._inbox.is_interrupted(stored):
                # This slice's limit of cycles was set before the pace was known (`_end_of_slice`). The next slice, which is due at once,
                # has the limit of the pace.
                return None
        stopped_event: int | None = None
        outcome = None if refused or self._inbox.is_interrupted(stored) else self._simulation.work(stop=stop)
        hit = self.breakpoints.take_hit(self._simulation.pending_events)
        exceeded = refused or ("" if outcome is not None or hit is not None else self._exceeded_quota(stored))
        if outcome is None:
            if hit is None and not exceeded and not self._inbox.is_interrupted(stored):
                return None
            stopped_event = self._simulation.event
            outcome = self._simulation.interrupt()
        members: dict[str, Any] = msgspec.to_builtins(outcome)
        if hit is not None:
            hits.append(hit)
            members |= {"stopped": STOPPED_BY_BREAKPOINT, "breakpoint": hit.breakpoint, "breakpointEvent": hit.event}
        elif exceeded:
            members |= {"stopped": STOPPED_BY_QUOTA, "result": exceeded}
        self._end_command()
        self.shadow.after(self._simulation, stored.command)
        self._span.end(members)
        return CompletedCommand(
            seq=stored.seq, outcome=members, stopped_event=stopped_event, is_observed=self.shadow.is_observed(stored.key)
        )

    def _begin(self, stored: StoredCommand) -> str:
        """Begin a command. Returns which quota has no room for what it adds to the cluster; "" if it may work."""
        self.shadow.before(self._simulation, stored.command, is_ordered=not stored.key.endswith(UNORDERED_SUFFIX))
        self._simulation.start(stored.command, seq=stored.seq)
        self.running = stored
        self._watch_run(stored)
        self._set_pace()
        try:
            self._growth.begin(stored.command)
        except QuotaReached as reached:
            return str(reached)
        return ""

    def _end_command(self) -> None:
        self.running = self.pace = None
        self.breakpoints.end()

    def _quarantine(self, stored: StoredCommand, why: str) -> CompletedCommand:
        """Skip a command, or interrupt it where it is running."""
        stopped_event: int | None = None
        if self.running is not None:
            stopped_event = self._simulation.event
            self._simulation.interrupt()
            self._end_command()
        self._session.message = f"Command {stored.seq} was quarantined: {why}"
        outcome = {"error": f"The command was quarantined: {why}", "event": self._simulation.event}
        return CompletedCommand(seq=stored.seq, outcome=outcome, stopped_event=stopped_event, quarantined=True)

    def _exceeded_quota(self, stored: StoredCommand) -> str:
        """Which quota a run has used up, or the pods that a command has created; "" for none."""
        # A reset lists the imported objects, which were counted when they were imported.
        if self._simulation.listing is None:
            try:
                self._growth.require_quota()
            except QuotaReached as reached:
                return str(reached)
        return quotas.reason_to_stop(self._session.owner_id) if isinstance(stored.command, Run | Step) else ""

    def _watch_run(self, stored: StoredCommand) -> None:
        if isinstance(stored.command, Run | Step):
            self.breakpoints.begin(self._simulation.pending_events)

    def _set_pace(self) -> None:
        command = self.running.command if self.running else None
        self.pace = Pace(command.rate) if isinstance(command, Run) and command.rate else None

    def _set_transport(self) -> None:
        self._transport = self._simulation.extender_calls.transport = stored_responses.live_transport(self._session)
