"""One session's engine in a worker: loads it, executes commands in slices, and commits each slice before the next.

`InboxReader` reads commands, `SliceRunner` executes them, `SliceWriter` commits and publishes, `CheckpointSaver` saves the engine.
"""

from __future__ import annotations

import time
from contextlib import nullcontext
from typing import Any

import msgspec

from schedviz.engine import Simulation
from schedviz.sessions.history import checkpoints
from schedviz.sessions.hosting import lease as leases
from schedviz.sessions.hosting.checkpoint_saver import CheckpointSaver
from schedviz.sessions.hosting.inbox_reader import InboxReader
from schedviz.sessions.hosting.lease import Lease
from schedviz.sessions.hosting.pace import Pace
from schedviz.sessions.hosting.slice_commit import Position
from schedviz.sessions.hosting.slice_runner import EngineError, SliceRunner
from schedviz.sessions.hosting.slice_writer import SliceWriter
from schedviz.sessions.hosting.slots import BULK_SEMAPHORE, LOAD_SEMAPHORE, SUSPICIOUS_COMMAND_LOCK
from schedviz.sessions.hosting.watchdog import STAGE_SECONDS, WATCHDOG
from schedviz.sessions.metrics import process as process_metrics
from schedviz.sessions.models import Session
from schedviz.sessions.replay import replayer
from schedviz.sessions.replay.replayer import StoredCommand
from schedviz.sessions.senders import sender_groups_of_users

#: A session whose load exceeds the watchdog's limit is loaded again after this time, then after twice this time, and so on.
STUCK_BACKOFF_SECONDS = 30.0
#: Bytes of a configuration's JSON that take as much memory as an object of weight 1: plugins with long lists take about 13 times as much.
_CONFIGURATION_BYTES_OF_WEIGHT = 150


class EngineHost:
    """One session's engine, at its committed position between two slices. `load` it or `take_over` before anything else."""

    def __init__(
        self,
        lease: Lease,
        session: Session,
        *,
        position: Position | None = None,
        inbox: InboxReader | None = None,
        to_quarantine: dict[int, str] | None = None,
    ) -> None:
        """`position` and `inbox`: where they are newer than `session`; `to_quarantine`: the numbers of commands to quarantine, and why."""
        self.lease = lease
        self.session = session
        #: How far the session is committed.
        self.position = position or Position.of(session)
        #: The last owner crashed: commands are executed one per slice and announced first, so that one that crashes a worker is found.
        self.is_suspicious = session.acquisitions > 1
        #: The numbers of commands to quarantine, and why.
        self.to_quarantine = to_quarantine or {}
        #: CPU time of this thread since the lease was taken: for loading, and for executing commands.
        self.load_seconds = 0.0
        self.worked_seconds = 0.0
        self._inbox = inbox or InboxReader(session)
        #: For whom the engine takes turns with those of other senders.
        self._sender = sender_groups_of_users([session.owner_id])[session.owner_id].counted_as
        #: The running command uses all the CPU time that it gets: it waits for no extender and, if it has a rate, is behind it.
        self._is_bulk = False
        #: The configuration that was weighed last, and its weight.
        self._weighed_config: dict[str, Any] | None = None
        self._config_weight = 0
        # Set by `load`.
        self._simulation: Simulation
        self._runner: SliceRunner
        self._writer: SliceWriter
        self._saver: CheckpointSaver

    # --- Taking over a session

    def load(self) -> None:
        """Build the engine from storage. Raises `ReplayDiverged`, `HistoryUnavailable`, or an error of the engine.

        Raises `StageTimeout` where one step of it takes too long; the session then has been released and backs off.
        """
        watch = WATCHDOG.watch(f"Loading session {self.session.pk}", on_stuck=self._back_off)
        with LOAD_SEMAPHORE.place_of(self._sender), process_metrics.LOADS.time(), watch as alive:
            began, cpu_began = time.perf_counter(), time.thread_time()
            self._simulation, running, checkpoint = replayer.load(
                self.session.pk, to_seq=self.position.applied_seq, to_event=self.position.event, alive=alive
            )
            replay_seconds = time.perf_counter() - began
            self.load_seconds = time.thread_time() - cpu_began
        self._simulation.recorder.stage_clock = time.perf_counter
        self._inbox.discard_fetched()
        self._writer = SliceWriter(self.lease, self.session, self._simulation, position=self.position)
        self._saver = CheckpointSaver(self.session.pk, self._simulation, newest=checkpoint, replay_seconds=replay_seconds)
        self._runner = SliceRunner(
            self.lease, self.session, self._simulation, inbox=self._inbox, to_quarantine=self.to_quarantine, running=running
        )
        checkpoints.sweep_incomplete(self.session.pk, epoch=self.lease.epoch)

    def take_over(self, lease: Lease, session: Session) -> bool:
        """Continue under a new lease with the engine of this process; False if another owner has written to the session since."""
        if session.epoch != self.lease.epoch + 1 or Position.of(session) != self.position or session.acquisitions > 1:
            return False
        self.lease, self.session = lease, session
        self.load_seconds = self.worked_seconds = 0.0
        self._inbox.update(last_seq=session.last_seq, interrupt_seq=session.interrupt_seq)
        self._inbox.discard_fetched()
        self._runner.take_over(lease, session)
        self._writer.take_over(lease, session)
        return True

    def without_command(self, error: EngineError) -> EngineHost:
        """A host to load at the same committed position under the same lease, which quarantines the command that broke this engine."""
        to_quarantine = {**self.to_quarantine, error.seq: error.message}
        return EngineHost(self.lease, self.session, position=self.position, inbox=self._inbox, to_quarantine=to_quarantine)

    def publish_missed(self) -> None:
        """Publish what the previous owner committed and did not publish."""
        self._writer.publish_missed(self.position)

    def _back_off(self) -> None:
        """Delay the next load, longer each time, so that other sessions are hosted. The watchdog calls this before it stops the load."""
        seconds = min(STUCK_BACKOFF_SECONDS * self.session.acquisitions, leases.MAX_BACKOFF_SECONDS)
        message = f"One step of loading this session took over {STAGE_SECONDS:g} s; the next attempt is in {seconds:.0f} s."
        leases.back_off(self.lease, seconds, message, has_tried=True)

    # --- Executing commands

    @property
    def running(self) -> StoredCommand | None:
        """The command that continues in the next slice."""
        return self._runner.running

    @property
    def pace(self) -> Pace | None:
        """The pace of a run with a rate."""
        return self._runner.pace

    @property
    def has_work(self) -> bool:
        """Whether a command is running or waiting, of those that the inbox had when it was last read."""
        return self.position.applied_seq < self._inbox.last_seq

    @property
    def seconds_until_due(self) -> float:
        """How long a run with a rate waits for its next cycles; 0 for all other commands."""
        return self._runner.seconds_until_due

    @property
    def weight(self) -> int:
        """The weight of the cluster's objects and of the configuration: that of an object is about two kB of memory."""
        config = self._simulation.config
        if config is not self._weighed_config:
            self._weighed_config = config
            self._config_weight = len(msgspec.json.encode(config)) // _CONFIGURATION_BYTES_OF_WEIGHT
        return self._simulation.cluster.store.total_weight() + self._config_weight

    def read_inbox(self) -> None:
        """Read which commands and breakpoints there are. Raises `Fenced`."""
        self._runner.breakpoints.refresh(self._inbox.refresh(self.lease))

    def work_slice(self) -> None:
        """Execute commands for one slice, commit and publish it, and save a checkpoint or a view when one is due.

        Raises `EngineError`, after which the engine must be loaded again (see `without_command`), or `Fenced`.
        """
        with BULK_SEMAPHORE.place_of(self._sender) if self._is_bulk else nullcontext():
            # At most one suspicious session executes a command in this process, so that a crash can be attributed to that command. Other
            # sessions run beside it. A crash counts as one of theirs, too, but they have not announced a command.
            with SUSPICIOUS_COMMAND_LOCK if self.is_suspicious else nullcontext():
                self._run_and_write()
            self._saver.save_if_due(self.lease, self.position, in_command=self.running is not None)

    def _run_and_write(self) -> None:
        before, cycle = self.position, self._simulation.cycle
        began, cpu_began, shadow_began = time.perf_counter(), time.thread_time(), self._runner.shadow.seconds
        result = self._runner.run(after_seq=before.applied_seq, is_suspicious=self.is_suspicious)
        # Dry runs of a followed cluster's bindings are not repeated by a replay.
        self._saver.count_work(time.perf_counter() - began - (self._runner.shadow.seconds - shadow_began))
        self.worked_seconds += time.thread_time() - cpu_began
        if self.pace is not None:
            self.pace.did(self._simulation.cycle - cycle)
        # One that calls extenders waits most of the time.
        waits = self.session.calls_extenders or (self.pace is not None and not self.pace.is_behind)
        self._is_bulk = self.running is not None and not waits
        write_result = self._writer.write(result, self._runner, before=before, last_seq=self._inbox.last_seq)
        if write_result is not None:
            self.position, committed = write_result
            self._inbox.update(last_seq=committed.last_seq, interrupt_seq=committed.interrupt_seq)
            self._runner.breakpoints.drained()
            self._runner.breakpoints.refresh(committed.breakpoints_edit)
        process_metrics.SLICES.observe(time.perf_counter() - began)
        if self.position != before:
            # The slice of the suspicious command did not crash. If a later one does, the next owner is suspicious again.
            self.is_suspicious = False

    # --- Storing

    def save_checkpoint(self) -> None:
        """Save the engine and its view at the committed position. Raises `Fenced`."""
        self._saver.save_checkpoint(self.lease, self.position, in_command=self.running is not None)

    def judge_due_bindings(self, *, now: bool = False) -> None:
        """Judge the bindings of a followed cluster that have waited long enough for others; `now`: all that wait. Raises `Fenced`."""
        shadow = self._runner.shadow
        if shadow.is_followed:
            shadow.settle(self._simulation, now=now)
            self._writer.store_shadow_records(shadow.drain(self._simulation))

    def store_metrics(self, *, now: bool = False) -> None:
        """Store the session's metrics if that is due; `now`: even if it is not."""
        self._writer.store_metrics(now=now)
