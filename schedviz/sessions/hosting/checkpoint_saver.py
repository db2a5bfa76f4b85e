"""Saves checkpoints and views of a hosted engine when replaying or folding from the newest one has become slow."""

from __future__ import annotations

import hashlib
import logging
import time
from collections.abc import Callable
from uuid import UUID

import msgspec

from schedviz.engine import Simulation
from schedviz.sessions.history import checkpoints, reading
from schedviz.sessions.history.checkpoints import CheckpointContents
from schedviz.sessions.hosting.lease import Lease
from schedviz.sessions.hosting.slice_commit import Position
from schedviz.sessions.hosting.watchdog import WATCHDOG, StageTimeout
from schedviz.sessions.models import Checkpoint
from schedviz.sessions.replay import replayer

logger = logging.getLogger(__name__)


class CheckpointSaver:
    """The checkpoints and views of one hosted engine. It saves at committed positions only."""

    def __init__(self, session_id: UUID, simulation: Simulation, *, newest: Checkpoint, replay_seconds: float) -> None:
        """`newest`: the checkpoint that the engine was loaded from; `replay_seconds`: how long the replay from there took."""
        self._session_id = session_id
        self._simulation = simulation
        self._checkpoint = newest
        #: The work since that checkpoint: replaying it takes about as long.
        self._replay_seconds = replay_seconds
        #: The event that the newest view shows, the work since then, and the cost of a view.
        self._view_event = reading.newest_view_event(session_id)
        self._view_work_seconds = 0.0
        self._view_cost_seconds = 0.0

    def count_work(self, seconds: float) -> None:
        """Count the time of a slice."""
        self._replay_seconds += seconds
        self._view_work_seconds += seconds

    def save_if_due(self, lease: Lease, position: Position, *, in_command: bool) -> None:
        """Save a checkpoint or a view, if one is due. Raises `Fenced`."""
        if checkpoints.is_due(self._replay_seconds, self._checkpoint.cost_seconds):
            self.save_checkpoint(lease, position, in_command=in_command)
        elif checkpoints.is_view_due(position.event - self._view_event, self._view_work_seconds, self._view_cost_seconds):
            self.save_view(lease, position)

    def save_checkpoint(self, lease: Lease, position: Position, *, in_command: bool) -> None:
        """Save the engine and its view. Raises `Fenced`. A checkpoint whose state takes too long to encode is left out: the next owner
        replays more."""
        began = time.perf_counter()
        self._replay_seconds = self._view_work_seconds = 0.0
        saved = self._encode("checkpoint", lambda: saved_engine(self._simulation, position, in_command=in_command))
        if saved is not None:
            self._checkpoint = checkpoints.save(lease, saved, cost_seconds=time.perf_counter() - began)
            self._view_event = position.event

    def save_view(self, lease: Lease, position: Position) -> None:
        """Save the view alone; web servers fold later events over it. Raises `Fenced`."""
        began = time.perf_counter()
        self._view_work_seconds = 0.0
        saved = self._encode("view", lambda: _saved(self._simulation, position))
        self._view_cost_seconds = time.perf_counter() - began
        if saved is not None:
            checkpoints.save(lease, saved, cost_seconds=self._view_cost_seconds)
            self._view_event = position.event

    def _encode(self, what: str, encode: Callable[[], CheckpointContents]) -> CheckpointContents | None:
        """None: it takes too long."""
        try:
            with WATCHDOG.watch(f"Encoding the {what} of session {self._session_id}"):
                return encode()
        except StageTimeout:
            logger.exception("no %s of session %s: encoding it takes too long", what, self._session_id)
            return None


def saved_engine(simulation: Simulation, position: Position, *, in_command: bool) -> CheckpointContents:
    """The stored form of an engine, with its view, at a committed position."""
    return _saved(simulation, position, engine=simulation.checkpoint(), in_command=in_command)


def _saved(simulation: Simulation, position: Position, *, engine: bytes = b"", in_command: bool = False) -> CheckpointContents:
    return CheckpointContents(
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
