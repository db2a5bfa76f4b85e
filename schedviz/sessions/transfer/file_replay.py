"""Replays the commands of a `.schedviz` file with this engine, stores the result as the session's history, and compares it with the file
event by event.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import msgspec

from schedviz.engine import Simulation
from schedviz.ingest.errors import IngestError
from schedviz.ingest.session_file import Manifest, view_digest
from schedviz.sessions.cluster_growth import ClusterGrowth
from schedviz.sessions.errors import ReplayDiverged
from schedviz.sessions.hosting import slice_commit
from schedviz.sessions.hosting.lease import Lease
from schedviz.sessions.hosting.slice_commit import CompletedCommand, Position, SliceContents
from schedviz.sessions.hosting.slice_runner import STOPPED_BY_BREAKPOINT, STOPPED_BY_QUOTA
from schedviz.sessions.models import Command, Session
from schedviz.sessions.replay.replayer import ENGINE_VERSION, StoredCommand
from schedviz.trace.added_members import view_without_added_facts, view_without_taints, without_added_members
from schedviz.trace.commands import decode_command, op_of
from schedviz.trace.config_credentials import without_credentials, without_users_in_urls
from schedviz.trace.events import AnyEvent, CommandDone

#: How much is replayed before it is stored and progress is reported.
_SLICE_CYCLES = 64
_SLICE_SECONDS = 0.2
#: The maximum number of characters of an event or an outcome in a message.
MAX_SHOWN_CHARACTERS = 2000
#: The maximum number of characters of a version in a manifest.
MAX_VERSION_LENGTH = 40
_BREAKPOINT = ("breakpoint", "breakpointEvent")

_encoder = msgspec.json.Encoder()


class ReplayDiffers(IngestError):
    """This engine's results differ from the file's. `difference` has the position and both values."""

    def __init__(self, message: str, difference: dict[str, Any]) -> None:
        super().__init__(message)
        self.difference = difference


class FileReplay:
    """The replay of one file's commands into a session that is being imported."""

    def __init__(
        self,
        own_lease: Lease,
        session: Session,
        simulation: Simulation,
        manifest: Manifest,
        *,
        file_name: str,
        events: Iterator[bytes],
        has_credentials: bool,
        on_commit: Callable[[int], None],
    ) -> None:
        """`events`: the file's events, as JSON. `has_credentials`: the file's configurations have some. `on_commit` is called with the
        last event of each slice that was stored. The quotas know the present size of the cluster.
        """
        self._lease = own_lease
        self._session = session
        self._simulation = simulation
        self._manifest = manifest
        self._file_name = file_name
        self._expected = events
        self._has_credentials = has_credentials
        self._on_commit = on_commit
        self._first_event = simulation.event
        self._growth = ClusterGrowth(session.owner_id, simulation)
        #: The position of what is stored.
        self.position = Position.before_commands(simulation)
        #: Executed commands that are not stored yet.
        self._done: list[CompletedCommand] = []
        self._slice_ends = time.monotonic() + _SLICE_SECONDS

    def execute(self, stored: StoredCommand, recorded: dict[str, Any]) -> None:
        """Replay the next command as far as it was `recorded`. Raises `ReplayDiffers`, `ReplayDiverged` and `QuotaReached`."""
        if stored.quarantined and stored.stopped_event is None:
            done = CompletedCommand(seq=stored.seq, outcome=self._quarantine_outcome(recorded), quarantined=True)
        else:
            # May commit, which replaces the list.
            done = self._do(stored, recorded)
        self._done.append(done)
        if self._is_due():
            self._commit()

    def _do(self, stored: StoredCommand, recorded: dict[str, Any]) -> CompletedCommand:
        outcome = self._executed(stored)
        if stored.quarantined:
            outcome = self._quarantine_outcome(recorded)
        elif recorded.get("stopped") == STOPPED_BY_QUOTA:
            outcome |= {"stopped": STOPPED_BY_QUOTA, "result": str(recorded.get("result", ""))[:MAX_SHOWN_CHARACTERS]}
        elif recorded.get("stopped") == STOPPED_BY_BREAKPOINT and all(isinstance(recorded.get(name), int) for name in _BREAKPOINT):
            outcome |= {"stopped": STOPPED_BY_BREAKPOINT, **{name: recorded[name] for name in _BREAKPOINT}}
        return CompletedCommand(seq=stored.seq, outcome=outcome, stopped_event=stored.stopped_event, quarantined=stored.quarantined)

    def _executed(self, stored: StoredCommand) -> dict[str, Any]:
        """Execute a command up to the event at which it was stopped, if it was, and return the engine's outcome."""
        simulation = self._simulation
        simulation.start(stored.command, seq=stored.seq)

        def is_stopped() -> bool:
            return stored.stopped_event is not None and simulation.event >= stored.stopped_event

        outcome = None
        while outcome is None and not is_stopped():
            outcome = simulation.work(stop=lambda: self._is_due() or is_stopped())
            if outcome is None and self._is_due():
                self._commit()
        if outcome is None:
            outcome = simulation.interrupt()
        if stored.stopped_event is not None and simulation.event <= stored.stopped_event:
            raise ended_early(stored, simulation)
        result: dict[str, Any] = msgspec.to_builtins(outcome)
        return result

    def finish(self) -> None:
        """Store the rest, and compare the end with the file's. Raises `ReplayDiffers`, `IngestError` and `QuotaReached`."""
        simulation, manifest = self._simulation, self._manifest
        self._commit()
        if next(self._expected, None) is not None:
            raise self._difference("the file has more events than its commands produce.", {"event": simulation.event})
        view = simulation.view()
        earlier_view = view_without_taints(view)
        views = (view, earlier_view, view_without_added_facts(earlier_view))
        # The digest is that of a state with credentials. All events were equal without them.
        is_same_state = self._has_credentials or manifest.view_digest in map(view_digest, views)
        if simulation.event != manifest.last_event or not is_same_state:
            problem = f"the events are the same, and the state after event {simulation.event} is not."
            raise self._difference(problem, {"event": simulation.event})
        for noun, declared, actual in (
            ("firstEvent", manifest.after_event, self._first_event),
            ("lastCycle", manifest.last_cycle, view.cycle.cycle if view.cycle else 0),
            ("clockSeconds", manifest.clock_seconds, view.clock_seconds),
        ):
            if declared != actual:
                raise IngestError(f"{self._file_name}: its manifest declares the {noun} {declared}, but its commands lead to {actual}.")

    def _quarantine_outcome(self, recorded: dict[str, Any]) -> dict[str, Any]:
        message = str(recorded.get("error", "The command was quarantined."))[:MAX_SHOWN_CHARACTERS]
        return {"error": message, "event": self._simulation.event}

    def _is_due(self) -> bool:
        """Whether enough was replayed to be stored."""
        return self._simulation.cycle - self.position.cycle >= _SLICE_CYCLES or time.monotonic() >= self._slice_ends

    def _commit(self) -> None:
        """Compare the replayed events with those in the file, and store them."""
        simulation = self._simulation
        self._growth.require_quota()
        events, cycles = simulation.drain_events(), simulation.drain_cycles()
        simulation.drain_extender_responses()
        self._compare(events)
        self._slice_ends = time.monotonic() + _SLICE_SECONDS
        if not events and not self._done:
            return
        before = self.position
        self.position = Position(
            applied_seq=self._done[-1].seq if self._done else before.applied_seq,
            chunk=before.chunk + slice_commit.chunks_of(events),
            cycle=simulation.cycle,
            event=events[-1].event if events else before.event,
            clock_seconds=simulation.clock_seconds,
        )
        work = SliceContents(
            after=self.position,
            done=self._done,
            events=events,
            cycles=cycles,
            status=Session.Status.IMPORTING,
            message="",
            running_pod=simulation.running_pod,
            object_count=simulation.cluster.store.total_weight(),
        )
        slice_commit.commit(self._lease, self._session, before, work)
        self._done = []
        self._on_commit(self.position.event)

    def _compare(self, events: Sequence[AnyEvent]) -> None:
        """Raises `ReplayDiffers` at the first event that differs from the file."""
        seq = self.position.applied_seq + 1
        for event in events:
            actual, expected = _encoder.encode(event), next(self._expected, b"")
            if self._has_credentials:
                expected = _without_credentials(expected)
            if actual != expected and not _is_same(expected, actual, _encoder.encode(without_added_members(event))):
                raise self._event_difference(seq, event, expected, actual)
            if isinstance(event, CommandDone):
                seq = event.seq + 1

    def _event_difference(self, seq: int, event: AnyEvent, expected: bytes, actual: bytes) -> ReplayDiffers:
        """The error for the first difference."""
        row = Command.objects.filter(session_id=self._session.pk, seq=seq).first()
        op = "" if row is None else f" ({op_of(decode_command(bytes(row.body)))})"
        expected_text, actual_text = (
            expected[:MAX_SHOWN_CHARACTERS].decode(errors="replace") or "nothing",
            actual[:MAX_SHOWN_CHARACTERS].decode(errors="replace"),
        )
        return self._difference(
            f"at command {seq}{op} this engine's events differ from the file's. Event {event.event} "
            f"was {expected_text}, and is now {actual_text}.",
            {
                "command": seq,
                "event": event.event,
                "was": expected_text,
                "is": actual_text,
                "engineVersion": self._manifest.engine_version,
            },
        )

    def _difference(self, problem: str, detail: dict[str, Any]) -> ReplayDiffers:
        return ReplayDiffers(f"{self._file_name}: {problem}{version_note(self._manifest)}", detail)


def version_note(manifest: Manifest) -> str:
    """A sentence about the versions, if they explain a difference; else ""."""
    wrote = manifest.engine_version[:MAX_VERSION_LENGTH]
    return "" if wrote == ENGINE_VERSION else f" Version {wrote} of schedviz wrote the file, and this is {ENGINE_VERSION}."


def _without_credentials(encoded: bytes) -> bytes:
    """An event of the file, as it is recorded now."""
    try:
        event = msgspec.json.decode(without_users_in_urls(encoded.decode()))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return encoded
    if isinstance(event, dict) and "config" in event:
        event["config"] = without_credentials(event["config"])
    return _encoder.encode(event)


def _is_same(expected: bytes, *actual: bytes) -> bool:
    """Whether an event of the file has the value of one of these. Programs spell numbers differently: 1e-6 is 1e-06, or 0.000001."""
    try:
        return msgspec.json.decode(expected) in [msgspec.json.decode(encoded) for encoded in actual]
    except (msgspec.DecodeError, RecursionError):
        return False


def ended_early(stored: StoredCommand, simulation: Simulation) -> ReplayDiverged:
    """The error for a command that ends before the event at which it was stopped in the recording."""
    return ReplayDiverged(
        f"Command {stored.seq} ended at event {simulation.event}; in the recording it continued to event {stored.stopped_event}."
    )
