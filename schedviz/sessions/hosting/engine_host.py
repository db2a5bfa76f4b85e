"""An engine in a worker: it does commands in slices, and after each slice what it did is committed, or the engine is dropped."""

from __future__ import annotations

import hashlib
import logging
import time
from collections import deque
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import msgspec
from structlog.contextvars import bound_contextvars

from schedviz.engine import Simulation
from schedviz.sessions import frames, quotas
from schedviz.sessions.commands.breakpoints import BreakpointMonitor, Hit
from schedviz.sessions.errors import Fenced
from schedviz.sessions.extenders import answers
from schedviz.sessions.extenders.http import HttpTransport
from schedviz.sessions.history import checkpoints, reading
from schedviz.sessions.history.checkpoints import Saved
from schedviz.sessions.hosting import lease as leases
from schedviz.sessions.hosting import slice_commit
from schedviz.sessions.hosting.lease import Lease, announce, announce_stuck
from schedviz.sessions.hosting.pace import Pace
from schedviz.sessions.hosting.slice_commit import Done, Position, Work
from schedviz.sessions.hosting.slots import BULK, LOADING, SUSPECT
from schedviz.sessions.hosting.watchdog import STAGE_SECONDS, WATCHDOG
from schedviz.sessions.metrics import plugins
from schedviz.sessions.metrics import process as measured
from schedviz.sessions.metrics.keeping import Keeper
from schedviz.sessions.models import Checkpoint, Session
from schedviz.sessions.observing.shadow import Shadow
from schedviz.sessions.queries import prepared
from schedviz.sessions.redis import stream
from schedviz.sessions.replay import replayer
from schedviz.sessions.replay.replayer import Stored
from schedviz.sessions.tracing import CommandSpan
from schedviz.trace.commands import Pause, Run, Step

logger = logging.getLogger(__name__)

#: A slice ends after so many cycles or so much time, whichever is first: then viewers see it, and a pause is heard.
SLICE_CYCLES = 64
SLICE_SECONDS = 0.05
#: On a busy machine that time may pass with next to nothing done, and commits would cost more than the work: a slice goes on until it
#: has had so much of the CPU, but no longer than this.
SLICE_CPU_SECONDS = 0.02
LONGEST_SLICE_SECONDS = 0.25
#: Of a session that follows a cluster a slice is so many times as long: nobody steps through it, and a commit costs as much as ten changes.
FOLLOWED_SLICES = 4
#: A session that could not be loaded within the limit of a stage is loaded again after this time, twice this time, and so on.
STUCK_REST_SECONDS = 30.0
#: Commands fetched from the inbox at once.
_FETCHED = 100
#: Why a run ended, beside what the engine says.
STOPPED_BY_BREAKPOINT = "breakpoint"
STOPPED_BY_QUOTA = "quota"
#: Chunks published again by a new owner, if the stream has not got them.
_REPUBLISHED = 50


class EngineBroke(Exception):  # noqa: N818 -- says what happened.
    """The engine raised: what is in memory cannot be trusted, and the command would do it again."""

    def __init__(self, seq: int, message: str) -> None:
        super().__init__(message)
        self.seq = seq
        self.message = message


class EngineHost:
    """One session's engine, at its committed position between two slices."""

    simulation: Simulation

    def __init__(self, lease: Lease, session: Session) -> None:
        self.lease = lease
        self.session = session
        self.position = Position.of(session)
        self.last_seq = session.last_seq
        self.interrupt_seq = session.interrupt_seq
        #: The last owner died: commands are done one in a slice and announced before, so that one that kills its owner is known.
        self.is_suspicious = session.acquisitions > 1
        #: A command that goes on in the next slice, and its pace where it has a rate.
        self.running: Stored | None = None
        self.pace: Pace | None = None
        #: Numbers of commands that are quarantined when they come, and why.
        self.broken: dict[int, str] = {}
        self._lookout = BreakpointMonitor(session)
        self._shadow = Shadow(session)
        #: Of the runs that ended in this slice.
        self._hits: list[Hit] = []
        self._inbox: deque[Stored] = deque()
        self._checkpoint: Checkpoint
        self._replay_seconds = 0.0
        #: Since the newest view: the event that it shows, what was worked, and what a view costs.
        self._view_event = 0
        self._view_work_seconds = 0.0
        self._view_cost_seconds = 0.0
        #: What this turn has spent on loading, and on doing commands, in seconds of this thread's CPU.
        self.load_seconds = 0.0
        self.worked_seconds = 0.0
        self._is_bulk = False
        self._span = CommandSpan()
        #: The command that the current slice is at.
        self._doing_seq = 0

    def keep_figures(self, *, now: bool = False) -> None:
        """Store what was counted for /metrics, if that is due; `now`: whether it is or not."""
        if now:
            self._keeper.store(self.lease, self.simulation)
        else:
            self._keeper.store_if_due(self.lease, self.simulation)

    # --- Taking over a session

    def load(self) -> None:
        """Make the engine from what is stored. Raises `ReplayDiverged`, `HistoryUnavailable`, or what the engine raises."""
        watch = WATCHDOG.watch(f"Loading session {self.session.pk}", on_stuck=self._rest_stuck)
        with LOADING, measured.LOADS.time(), watch as alive:
            began, cpu_began = time.perf_counter(), time.thread_time()
            self.simulation, self.running, self._checkpoint = replayer.load(
                self.session.pk, to_seq=self.position.applied_seq, to_event=self.position.event, alive=alive
            )
            self._replay_seconds = time.perf_counter() - began
            self.load_seconds = time.thread_time() - cpu_began
        self.simulation.recorder.stage_clock = time.perf_counter
        self._keeper = Keeper(self.session.pk, event=self.position.event)
        self._view_event = reading.newest_view_event(self.session.pk)
        self._lookout.refresh(self.session.breakpoints_edit)
        if self.running is not None:
            self._look_out(self.running)
        self._set_transport()
        self._inbox.clear()
        self._set_pace()
        checkpoints.sweep_incomplete(self.session.pk, epoch=self.lease.epoch)

    def take_over(self, lease: Lease, session: Session) -> bool:
        """Go on under a new lease with an engine that this process still has; False when others wrote to the session meanwhile."""
        if session.epoch != self.lease.epoch + 1 or Position.of(session) != self.position or session.acquisitions > 1:
            return False
        self.lease, self.session = lease, session
        self.load_seconds = self.worked_seconds = 0.0
        self.last_seq, self.interrupt_seq = session.last_seq, session.interrupt_seq
        self._lookout.refresh(session.breakpoints_edit)
        self._set_transport()
        self._inbox.clear()
        return True

    def publish_again(self) -> None:
        """Give viewers what an owner committed and had no time to publish."""
        published = stream.last_published(self.session.pk)
        if published is not None and published < self.position.chunk:
            after = max(published, self.position.chunk - _REPUBLISHED)
            stream.publish(self.session.pk, reading.frames_after(self.session.pk, after, limit=_REPUBLISHED))

    # --- Working

    @property
    def has_work(self) -> bool:
        return self.position.applied_seq < self.last_seq

    @property
    def seconds_until_due(self) -> float:
        """How long a run with a rate has to wait for its next cycles; 0 for everything else."""
        if self.pace is None or self.running is None or self._is_interrupted(self.running):
            return 0.0
        return self.pace.wait_seconds()

    def look(self) -> None:
        """See what came in. Raises `Fenced`."""
        row = prepared.select_inbox(self.session.pk)
        if row is None or row[2] != self.lease.epoch:
            raise Fenced(f"Another owner has taken session {self.session.pk}, or it was deleted.")
        self.last_seq, self.interrupt_seq = row[0], row[1]
        self._lookout.refresh(row[3])

    def work_slice(self) -> None:
        """Do commands for one slice, commit what was done, tell the viewers, and save a checkpoint when one is due.

        Raises `EngineBroke`, after which the engine must be loaded again, or `Fenced`.
        """
        with BULK if self._is_bulk else nullcontext():
            if self.is_suspicious:
                # Alone in this process: who else is here while it dies is not suspected of it.
                with SUSPECT:
                    self._do_and_commit()
            else:
                self._do_and_commit()
            if checkpoints.is_due(self._replay_seconds, self._checkpoint.cost_seconds):
                self.save_checkpoint()
            elif checkpoints.is_view_due(self.position.event - self._view_event, self._view_work_seconds, self._view_cost_seconds):
                self.save_view()

    def _do_and_commit(self) -> None:
        before = self.position
        began, cpu_began, cycle = time.perf_counter(), time.thread_time(), self.simulation.cycle
        done = self._do_slice()
        worked = time.perf_counter() - began
        self._replay_seconds += worked
        self._view_work_seconds += worked
        self.worked_seconds += time.thread_time() - cpu_began
        if self.pace is not None:
            self.pace.did(self.simulation.cycle - cycle)
        self._is_bulk = self.running is not None and self.pace is None
        self._commit(done)
        measured.SLICES.observe(time.perf_counter() - began)
        if self.position != before:
            # If it dies later, the next owner gets to the same place with its first slice.
            self.is_suspicious = False

    def _do_slice(self) -> list[tuple[Stored, Done]]:
        done: list[tuple[Stored, Done]] = []
        with WATCHDOG.watch(f"The engine of session {self.session.pk}", on_stuck=self._announce_stuck) as alive:
            stop = self._end_of_slice(alive)
            if isinstance(self._transport, HttpTransport):
                self._transport.before_call = alive
            while (stored := self.running or self._next(done)) is not None:
                one = self._do(stored, stop)
                if one is None:
                    break
                done.append((stored, one))
                if stop() or self.is_suspicious:
                    break
        return done

    def _end_of_slice(self, alive: Callable[[], None]) -> Callable[[], bool]:
        began, cpu_began = time.monotonic(), time.thread_time()
        longer = FOLLOWED_SLICES if self._shadow.is_followed else 1
        until_cycle = self.simulation.cycle + (SLICE_CYCLES if self.pace is None else self.pace.due())

        def stop() -> bool:
            alive()
            if self._lookout.sees_hit(self.simulation.pending_events):
                return True
            # An answer is an input: it is committed before anything is done on top of it.
            if self.simulation.extender_calls.has_answers:
                return True
            if self.simulation.cycle >= until_cycle:
                return True
            seconds = time.monotonic() - began
            had_its_part = seconds >= longer * SLICE_SECONDS and time.thread_time() - cpu_began >= longer * SLICE_CPU_SECONDS
            return had_its_part or seconds >= longer * LONGEST_SLICE_SECONDS

        return stop

    def _announce_stuck(self) -> None:
        """Called by the watchdog before it ends this process: no second process is to end for the same command."""
        announce_stuck(self.lease, self._doing_seq)

    def _rest_stuck(self) -> None:
        """Called by the watchdog before it ends this process: back off for longer each time, so that other sessions can work."""
        seconds = min(STUCK_REST_SECONDS * self.session.acquisitions, leases.LONGEST_REST_SECONDS)
        message = f"Loading this session took over {STAGE_SECONDS:g} s without a pause; it is loaded again in {seconds:.0f} s."
        leases.rest(self.lease, seconds, message, has_tried=True)

    def _do(self, stored: Stored, stop: Callable[[], bool]) -> Done | None:
        """Begin a command or go on with it; None when the slice ended first."""
        self._doing_seq = stored.seq
        if why := self.broken.get(stored.seq):
            return self._quarantine(stored, why)
        if self.is_suspicious and not announce(self.lease, stored.seq):
            raise Fenced(f"Another owner has taken session {self.session.pk}.")
        if self.running is None:
            op = str(type(stored.command).__struct_config__.tag)
            self._span.begin(self.session.pk, stored.seq, op)
        try:
            with bound_contextvars(command=stored.seq), self._span.within():
                return self._begin_or_go_on(stored, stop)
        except Exception as error:
            logger.exception("command %s of session %s broke the engine", stored.seq, self.session.pk)
            raise EngineBroke(stored.seq, f"the engine failed on it ({type(error).__name__}: {str(error)[:300]}).") from error

    def _begin_or_go_on(self, stored: Stored, stop: Callable[[], bool]) -> Done | None:
        if self.running is None:
            self._shadow.before(self.simulation, stored.command)
            self.simulation.start(stored.command, seq=stored.seq)
            self.running = stored
            self._look_out(stored)
            self._set_pace()
            if self.pace is not None and not self._is_interrupted(stored):
                # Its cycles are counted from the next slice on, which is due at once.
                return None
        stopped_event: int | None = None
        outcome = None if self._is_interrupted(stored) else self.simulation.work(stop=stop)
        hit = self._lookout.take_hit(self.simulation.pending_events)
        full = "" if outcome is not None or hit is not None else self._why_stop(stored)
        if outcome is None:
            if hit is None and not full and not self._is_interrupted(stored):
                return None
            stopped_event = self.simulation.event
            outcome = self.simulation.interrupt()
        told: dict[str, Any] = msgspec.to_builtins(outcome)
        if hit is not None:
            self._hits.append(hit)
            told |= {"stopped": STOPPED_BY_BREAKPOINT, "breakpoint": hit.breakpoint, "breakpointEvent": hit.event}
        elif full:
            told |= {"stopped": STOPPED_BY_QUOTA, "result": full}
        self.running = self.pace = None
        self._lookout.end()
        self._shadow.after(self.simulation, stored.command)
        self._span.end(told)
        return Done(seq=stored.seq, outcome=told, stopped_event=stopped_event)

    def _why_stop(self, stored: Stored) -> str:
        """Which quota a run has used up; "": none."""
        return quotas.why_stop(self.session.owner_id) if isinstance(stored.command, Run | Step) else ""

    def _look_out(self, stored: Stored) -> None:
        if isinstance(stored.command, Run | Step):
            self._lookout.begin(self.simulation.pending_events)

    def _quarantine(self, stored: Stored, why: str) -> Done:
        """Do not do this command, or no more of it."""
        stopped_event: int | None = None
        if self.running is not None:
            stopped_event = self.simulation.event
            self.simulation.interrupt()
            self.running = self.pace = None
            self._lookout.end()
        self.session.message = f"Command {stored.seq} was quarantined: {why}"
        outcome = {"error": f"The command was quarantined: {why}", "event": self.simulation.event}
        return Done(seq=stored.seq, outcome=outcome, stopped_event=stopped_event, quarantined=True)

    def _next(self, done: list[tuple[Stored, Done]]) -> Stored | None:
        after = done[-1][1].seq if done else self.position.applied_seq
        while self._inbox and self._inbox[0].seq <= after:
            self._inbox.popleft()
        if not self._inbox and after < self.last_seq:
            self._inbox.extend(replayer.stored_commands(self.session.pk, after_seq=after, limit=_FETCHED))
        return self._inbox.popleft() if self._inbox else None

    def _is_interrupted(self, stored: Stored) -> bool:
        return stored.seq < self.interrupt_seq and isinstance(stored.command, Run | Step)

    def _set_pace(self) -> None:
        command = self.running.command if self.running else None
        self.pace = Pace(command.rate) if isinstance(command, Run) and command.rate else None

    def _set_transport(self) -> None:
        self._transport = self.simulation.extender_calls.transport = answers.live_transport(self.session)

    # --- Making it true

    def _commit(self, done: list[tuple[Stored, Done]]) -> None:
        events = self.simulation.drain_events()
        cycles, answered = self.simulation.drain_cycles(), self.simulation.drain_answers()
        timings = self.simulation.recorder.drain_stage_timings()
        shadowed = self._shadow.drain()
        if not events and not done:
            return
        after = Position(
            applied_seq=done[-1][1].seq if done else self.position.applied_seq,
            chunk=self.position.chunk + bool(events),
            cycle=self.simulation.cycle,
            event=events[-1].event if events else self.position.event,
            clock_seconds=self.simulation.clock_seconds,
        )
        self.session.status = self._status_after(done)
        self.session.last_seq = self.last_seq
        hits, self._hits = self._hits, []
        stopped_before, self.session.hit = self.session.hit, self._hit_after(hits)
        work = Work(
            after=after,
            done=[one for _, one in done],
            events=events,
            cycles=cycles,
            status=self.session.status,
            message=self.session.message,
            answers=answered,
            running_pod=self.simulation.running_pod,
            hits=hits,
            hit_changed=self.session.hit != stopped_before,
            shadowed=shadowed,
        )
        committed = slice_commit.commit(self.lease, self.session, self.position, work)
        self.position = after
        self.last_seq, self.interrupt_seq = committed.last_seq, committed.interrupt_seq
        self._lookout.drained()
        self._lookout.refresh(committed.breakpoints_edit)
        self._publish(work, committed.frame)
        for stored, one in done:
            logger.debug("command done", extra={"command": stored.seq, "outcome": one.outcome})
        measured.CYCLES.inc(len(cycles))
        measured.COMMANDS.inc(len(done))
        measured.QUARANTINED.inc(sum(one.quarantined for _, one in done))
        self._keeper.count(events, timings)
        plugins.observe(events, timings)
        self._keeper.store_if_due(self.lease, self.simulation)

    def _status_after(self, done: list[tuple[Stored, Done]]) -> Session.Status:
        if self.running is not None:
            return Session.Status.RUNNING if isinstance(self.running.command, Run | Step) else Session.Status(self.session.status)
        if self._hits or any(one.stopped_event is not None and not one.quarantined for _, one in done):
            return Session.Status.PAUSED
        if self.session.status == Session.Status.PAUSED and all(isinstance(stored.command, Pause) for stored, _ in done):
            return Session.Status.PAUSED
        return Session.Status.READY

    def _hit_after(self, hits: list[Hit]) -> dict[str, Any] | None:
        """The breakpoint that the session stands at: until something else is done."""
        if hits:
            told: dict[str, Any] = msgspec.to_builtins(hits[-1])
            return told
        return self.session.hit if self.session.status == Session.Status.PAUSED else None

    def _publish(self, work: Work, frame: bytes | None) -> None:
        notes = [frames.outcome(one.seq, one.outcome) for one in work.done]
        if any(one.quarantined for one in work.done):
            self.session.applied_seq = work.after.applied_seq
            notes.append(frames.status(frames.session_state(self.session)))
        stream.publish(self.session.pk, [(work.after.chunk, frame)] if frame is not None else [], notes)

    def save_checkpoint(self) -> None:
        """Save the engine and its view at the committed position. Raises `Fenced`."""
        began = time.perf_counter()
        with WATCHDOG.watch(f"Saving session {self.session.pk}"):
            saved = saved_engine(self.simulation, self.position, in_command=self.running is not None)
        made = time.perf_counter() - began
        self._checkpoint = checkpoints.save(self.lease, saved, cost_seconds=made)
        self._replay_seconds = self._view_work_seconds = 0.0
        self._view_event = self.position.event

    def save_view(self) -> None:
        """Save the view alone at the committed position, from which moments after it are folded. Raises `Fenced`."""
        began = time.perf_counter()
        with WATCHDOG.watch(f"Saving the view of session {self.session.pk}"):
            saved = saved_engine(self.simulation, self.position, in_command=False, view_alone=True)
        self._view_cost_seconds = time.perf_counter() - began
        checkpoints.save(self.lease, saved, cost_seconds=self._view_cost_seconds)
        self._view_work_seconds = 0.0
        self._view_event = self.position.event


def saved_engine(simulation: Simulation, position: Position, *, in_command: bool, view_alone: bool = False) -> Saved:
    """What is stored of an engine at a committed position."""
    engine = b"" if view_alone else simulation.checkpoint()
    return Saved(
        event=position.event,
        chunk=position.chunk,
        cycle=position.cycle,
        clock_seconds=position.clock_seconds,
        applied_seq=position.applied_seq,
        in_command=in_command,
        digest=hashlib.blake2b(engine, digest_size=16).hexdigest(),
        engine_version=replayer.ENGINE_VERSION,
        engine=engine,
        view=msgspec.json.encode(simulation.view()),
    )
