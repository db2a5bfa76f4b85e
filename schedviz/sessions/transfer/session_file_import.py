"""Imports a `.schedviz` file: this engine replays its commands, and the results are compared with those in the file.

Read and check limits · refuse installed code · create the engine · replay the commands · compare · save · open the session. No extender is
called: during the replay the file's responses are used, and afterwards the declared extenders respond.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import msgspec
from django.conf import settings
from django.db import transaction
from django.db.models import F

from schedviz.engine import ConfigurationError, Simulation, SimulationSettings
from schedviz.engine.config import load_configuration
from schedviz.engine.extenders.calls import ExtenderCall, ExtenderError
from schedviz.engine.framework.plugins.installed import installed_here, installed_plugins
from schedviz.engine.releases import RELEASES
from schedviz.ingest.errors import ImportCancelled, IngestError
from schedviz.ingest.limits import Limits
from schedviz.ingest.load import Progress
from schedviz.ingest.report import Report
from schedviz.ingest.session_file import (
    AnyLine,
    CommandLine,
    EventsLine,
    ExtenderResponseLine,
    ForkLine,
    Manifest,
    ObjectLine,
    RecordedOutcome,
    SessionFile,
)
from schedviz.kube import codec
from schedviz.kube.errors import KubeError
from schedviz.sessions import quotas
from schedviz.sessions.cluster_growth import size_of
from schedviz.sessions.commands.limits import COMMANDS_PER_BATCH, validate_config
from schedviz.sessions.commands.stored_form import canonical
from schedviz.sessions.errors import CommandRefused, ReplayDiverged
from schedviz.sessions.hosting import lease
from schedviz.sessions.hosting.slice_commit import Position
from schedviz.sessions.metrics import stored_metrics
from schedviz.sessions.models import (
    Checkpoint,
    Chunk,
    ChunkNames,
    ChunkTally,
    Command,
    CycleGroup,
    ExtenderAnswer,
    Session,
)
from schedviz.sessions.queries.keyset import read_in_batches
from schedviz.sessions.quotas import QuotaReached
from schedviz.sessions.replay.replayer import StoredCommand, drop_records
from schedviz.sessions.transfer.file_replay import (
    MAX_SHOWN_CHARACTERS,
    MAX_VERSION_LENGTH,
    FileReplay,
    ReplayDiffers,
    ended_early,
    version_note,
)
from schedviz.sessions.transfer.importer import Importer
from schedviz.trace.commands import Configure, decode_command, encode_command
from schedviz.trace.config_credentials import without_credentials, without_users_in_urls
from schedviz.trace.releases import gates_in, release_in, unknown_release

#: How many commands or responses are stored at a time, and the bytes from which on no further command is.
_BATCH_ROWS = 500
_BATCH_BYTES = 8 << 20
_MAX_NUMBER = 100_000_000
#: Limits for the manifest: characters of the name, and bytes of the import report.
MAX_NAME_LENGTH = 200
MAX_REPORT_BYTES = 64 * 1024
_KEY_PREFIX = "file-"

_encoder = msgspec.json.Encoder()
_raws = msgspec.json.Decoder(list[msgspec.Raw])
LineT = TypeVar("LineT", bound=AnyLine)


class _FileResponses:
    """A transport that returns the responses in the file and makes no calls."""

    def __init__(self) -> None:
        self.by_event: dict[int, ExtenderResponseLine] = {}

    def call(self, call: ExtenderCall) -> bytes:
        response = self.by_event.get(call.event)
        if response is None:
            raise ReplayDiverged(f"An extender was called at event {call.event}, and the file has no response for the call.")
        if response.error:
            raise ExtenderError(response.error)
        return response.body


class SessionFileImport(Importer):
    """The import of one file, from its chunks to a session that continues where the file ends."""

    #: The difference, if the file cannot be replayed.
    difference: dict[str, Any] | None = None
    #: Whether the file has credentials, as earlier versions stored them. They are not stored now, so the states differ in them.
    has_credentials = False
    # Set by `make`, because errors in a file are reported as those of all phases.
    file: SessionFile
    lines: Iterator[AnyLine]
    #: The first line that no phase has taken; None at the end.
    pending: AnyLine | None
    responses: _FileResponses

    def make(self) -> dict[str, Any]:
        self.delete_earlier_attempt()
        source = self.files.sources()[0]
        self.report_progress(Progress("reading", 0, None, file=source.name), now=True)
        limits = Limits(unpacked_bytes=settings.IMPORT_UNPACKED_BYTES)
        self.file = SessionFile(source.name, self.files.chunks_of(0), limits)
        self.lines = self.file.lines()
        self.responses = _FileResponses()
        manifest = self.file.manifest
        self.pending = next(self.lines, None)
        try:
            simulation = self.create_engine(manifest)
            self.take_responses()
            for event in manifest.forks:
                self.go_to_fork(simulation, event)
            self.save(simulation)
            self.take_commands(manifest)
            position = self.replay_commands(simulation, manifest)
        except ReplayDiverged as error:
            self.difference = {"message": str(error)}
            raise IngestError(f"{source.name}: {error}{version_note(self.file.manifest)}") from error
        except ReplayDiffers as error:
            self.difference = error.difference
            raise
        except QuotaReached as reached:
            raise IngestError(str(reached)) from reached
        self.finish(simulation, position)
        return self.report(manifest)

    def fail(self, message: str) -> None:
        # Remove the partly replayed session.
        self.delete_earlier_attempt()
        if self.difference is not None:
            lease.require_update(self.lease, report={"differs": self.difference})
        super().fail(message)

    # --- Phases

    def delete_earlier_attempt(self) -> None:
        """Delete what an earlier worker stored before it crashed."""
        values = {
            "applied_seq": 0,
            "chunk": 0,
            "cycle": 0,
            "event": 0,
            "clock_seconds": 0.0,
            "history_bytes": 0,
            "nodes": 0,
            "pods": 0,
            "object_count": 0,
        }
        imported = Command.objects.filter(session_id=self.session.pk, key__startswith=_KEY_PREFIX)
        lease.require_update(self.lease, **values, **({"last_seq": 0, "command_bytes": 0} if imported.exists() else {}))
        imported.delete()
        for model in (Chunk, ChunkNames, ChunkTally, CycleGroup, ExtenderAnswer, Checkpoint):
            model.objects.filter(session_id=self.session.pk).delete()

    def create_engine(self, manifest: Manifest) -> Simulation:
        """Create an engine with the objects, without installed plugins."""
        config = manifest.settings.get("config")
        if not isinstance(config, dict | None):
            raise IngestError(f"settings.config: expected an object or null, found {type(config).__name__}.")
        release = self.release
        if not isinstance(release, str) or release not in RELEASES:
            raise IngestError(f"settings.release: {unknown_release(str(release))}. Import the file with a version that simulates it.")
        session_settings = self.session.settings
        if release_in({"release": release, **session_settings}) != release or gates_in(
            {**manifest.settings, **session_settings}
        ) != gates_in(manifest.settings):
            raise IngestError(
                f"{self.file_name}: a session file is replayed with the release and the feature gates that it was recorded with "
                f"({release}). Import it without `release` and `featureGates`, then fork the session to another release."
            )
        _require_no_installed_plugins(config, "settings.config", release)
        _validate_numbers(manifest.settings, "settings")
        stored_config = without_credentials(config)
        self.has_credentials |= stored_config is not config
        try:
            validate_config(stored_config)
            simulation = Simulation(msgspec.convert({**manifest.settings, "config": stored_config}, SimulationSettings))
        except (ValueError, ConfigurationError, CommandRefused) as error:
            raise IngestError(f"settings: {error}") from error
        self._settings = msgspec.to_builtins(simulation.settings)
        objects = []
        for number, line in enumerate(self.lines_of(ObjectLine)):
            try:
                objects.append(codec.from_dict(line.object))
            except KubeError as error:
                raise IngestError(f"object {number + 1}: {error}") from error
            self.show("loading", number, manifest.objects, "objects")
        self.require_cluster_quota(objects, cycles=max(0, manifest.last_cycle))
        simulation.load(objects)
        simulation.extender_calls.transport = self.responses
        return simulation

    def take_responses(self) -> None:
        for line in self.lines_of(ExtenderResponseLine):
            self.responses.by_event[line.event] = msgspec.structs.replace(line, error=without_users_in_urls(line.error))

    def go_to_fork(self, simulation: Simulation, event: int) -> None:
        """Replay the commands of an ancestor up to the fork. None of them is stored."""

        def show_progress() -> bool:
            drop_records(simulation)
            # Nothing of the session is stored yet, so all of it is required.
            self.require_quota(**size_of(simulation))
            self.show("replaying", simulation.event, event, "events")
            return False

        for line in self.lines_of(CommandLine):
            stored = self.stored(line)
            if simulation.event >= event or (stored.quarantined and stored.stopped_event is None):
                continue
            simulation.start(stored.command, seq=stored.seq)
            if stored.stopped_event is not None and stored.stopped_event < event:
                _execute_until(simulation, stored, stored.stopped_event, after_slice=show_progress)
                simulation.interrupt()
            else:
                simulation.work_until(event, between_units=show_progress)
            show_progress()
        if not isinstance(self.pending, ForkLine) or self.pending.event != event or simulation.event != event:
            problem = f"This engine stops at event {simulation.event}, but the session was forked at event {event}."
            raise ReplayDiffers(f"{self.file_name}: {problem}{version_note(self.file.manifest)}", {"event": event})
        self.pending = next(self.lines, None)
        simulation.running_command = None

    def take_commands(self, manifest: Manifest) -> None:
        """Store the commands and the extenders' responses of the session itself. Their numbers are those in the file."""
        waiting: list[Command] = []
        waiting_bytes = last = 0
        for line in self.lines_of(CommandLine):
            last += 1
            if line.seq != last:
                raise IngestError(f"{self.file_name}: found command {line.seq}; expected command {last}.")
            stored = self.stored(line)
            members = {"stopped_event": stored.stopped_event, "quarantined": stored.quarantined, "outcome": _recorded_outcome(line)}
            body = encode_command(stored.command)
            waiting.append(Command(session_id=self.session.pk, seq=last, key=f"{_KEY_PREFIX}{last}", body=body, **members))
            waiting_bytes += len(body)
            if len(waiting) >= _BATCH_ROWS or waiting_bytes >= _BATCH_BYTES:
                self.store(waiting, last)
                waiting, waiting_bytes = [], 0
        self.store(waiting, last)
        responses = [response for response in self.responses.by_event.values() if response.event > manifest.after_event]
        for start in range(0, len(responses), _BATCH_ROWS):
            ExtenderAnswer.objects.bulk_create(
                ExtenderAnswer(session_id=self.session.pk, event=response.event, body=response.body, error=response.error)
                for response in responses[start : start + _BATCH_ROWS]
            )

    def store(self, commands: list[Command], last: int) -> None:
        """Store commands, unless a client sent one before the file was read."""
        with transaction.atomic():
            before = last - len(commands)
            size = sum(quotas.command_bytes(command.key, bytes(command.body)) for command in commands)
            self.require_quota(bytes=size)
            of_file = Session.objects.filter(pk=self.session.pk, epoch=self.lease.epoch, last_seq=before)
            if not of_file.update(last_seq=last, command_bytes=F("command_bytes") + size):
                raise IngestError("Commands were sent to the session before its file was read; send them when it is ready.")
            Command.objects.bulk_create(commands)

    def replay_commands(self, simulation: Simulation, manifest: Manifest) -> Position:
        """Replay the stored commands, and compare the events with the file's. Returns the position at the end."""
        total = manifest.last_event - manifest.after_event
        # The size of the cluster has just been stored.
        quotas.clear_cache()
        replay = FileReplay(
            self.lease,
            self.session,
            simulation,
            manifest,
            file_name=self.file_name,
            events=self.events_of_file(),
            has_credentials=self.has_credentials,
            on_commit=lambda event: self.show("replaying", event - manifest.after_event, total, "events"),
        )
        rows = Command.objects.filter(session_id=self.session.pk, key__startswith=_KEY_PREFIX)
        columns = ("seq", "body", "stopped_event", "quarantined", "outcome")
        for seq, body, stopped, quarantined, outcome in read_in_batches(rows, *columns, batch_size=COMMANDS_PER_BATCH):
            replay.execute(StoredCommand(seq, decode_command(bytes(body)), stopped, quarantined), outcome)
        replay.finish()
        return replay.position

    def finish(self, simulation: Simulation, position: Position) -> None:
        """Save a checkpoint of the end, so that the next command needs no replay."""
        self.report_progress(Progress("saving", 0, None, unit=""), now=True)
        self.save_checkpoint(simulation, position)
        stored_metrics.store_initial(self.session.pk, simulation)

    def report(self, manifest: Manifest) -> dict[str, Any]:
        """The report: that in the session's file, and the findings of this import."""
        return {
            **_plausible_report(manifest.report),
            "file": {
                "name": manifest.name[:MAX_NAME_LENGTH],
                "engineVersion": manifest.engine_version[:MAX_VERSION_LENGTH],
                "commands": manifest.commands,
                "events": manifest.last_event - manifest.after_event,
                "cycles": manifest.last_cycle,
                "verified": True,
            },
        }

    def stored(self, line: CommandLine) -> StoredCommand:
        """A command of the file, as it would have been accepted. Raises `IngestError`."""
        try:
            command = decode_command(bytes(line.command))
            stored = canonical(command)
        except (msgspec.DecodeError, msgspec.ValidationError, CommandRefused, RecursionError) as error:
            raise IngestError(f"command {line.seq}: {error}") from None
        if isinstance(command, Configure) and isinstance(stored, Configure):
            self.has_credentials |= stored.config is not command.config
            _require_no_installed_plugins(
                command.config, f"command {line.seq}: config", self.release, was_refused=bool(line.outcome.get("error"))
            )
        return StoredCommand(line.seq, stored, line.stopped_after_event, line.quarantined)

    # --- Progress

    @property
    def file_name(self) -> str:
        return str(self.session.source["files"][0])

    @property
    def release(self) -> str:
        """The release of kube-scheduler with which the file was recorded."""
        return release_in(self.file.manifest.settings)

    def lines_of(self, kind: type[LineT]) -> Iterator[LineT]:
        """The next lines of one kind."""
        while isinstance(self.pending, kind):
            yield self.pending
            self.pending = next(self.lines, None)

    def events_of_file(self) -> Iterator[bytes]:
        for line in self.lines_of(EventsLine):
            try:
                yield from map(bytes, _raws.decode(line.events))
            except (msgspec.DecodeError, msgspec.ValidationError) as error:
                raise IngestError(f"{self.file_name}: events: {error}.") from None
        if self.pending is not None:
            raise IngestError(f"{self.file_name}: the file has unexpected lines after its last event.")

    def show(self, phase: str, done: int, total: int, unit: str) -> None:
        self.report_progress(Progress(phase, done, total, unit=unit))
        if self.is_cancelled():
            raise ImportCancelled


def _recorded_outcome(line: CommandLine) -> dict[str, Any]:
    """The file's outcome of a command, until the command is replayed. Raises `IngestError`."""
    try:
        recorded = msgspec.convert(line.outcome, RecordedOutcome)
    except msgspec.ValidationError as error:
        raise IngestError(f"command {line.seq}: outcome: {error}") from None
    outcome: dict[str, Any] = msgspec.to_builtins(recorded)
    return {name: value[:MAX_SHOWN_CHARACTERS] if isinstance(value, str) else value for name, value in outcome.items()}


def _execute_until(simulation: Simulation, stored: StoredCommand, event: int, *, after_slice: Callable[[], bool]) -> None:
    """Execute a command until the engine has reached an event."""
    while simulation.event < event:
        if simulation.work(stop=lambda: after_slice() or simulation.event >= event) is not None:
            raise ended_early(stored, simulation)


def _require_no_installed_plugins(config: dict[str, Any] | None, path: str, release: str, *, was_refused: bool = False) -> None:
    """Raises `IngestError` for a configuration with installed plugins: they are code, and a file may come from anywhere.

    A configuration that `was_refused` when it was recorded is refused by the engine again, unless the plugins that it names are installed
    here.
    """
    try:
        names = installed_plugins(load_configuration(config, release=release), RELEASES[release].in_tree_registry())
    except ConfigurationError as error:
        if was_refused:
            return
        raise IngestError(f"{path}: {error}") from error
    if was_refused:
        names = sorted(installed_here().intersection(names))
    if names:
        raise IngestError(
            f"{path}: it enables plugins that are not schedviz's own ({', '.join(names)}); a session file may not run installed plugins."
        )


def _validate_numbers(value: Any, path: str) -> None:
    if isinstance(value, dict):
        for name, inner in value.items():
            if name == "seed" and isinstance(inner, int) and not -(2**63) <= inner < 2**63:
                raise IngestError(f"{path}.seed: expected a number of at most 64 bits.")
            if name not in ("config", "seed", "fake_extenders"):
                _validate_numbers(inner, f"{path}.{name}")
    elif isinstance(value, int | float) and not 0 <= value <= _MAX_NUMBER:
        raise IngestError(f"{path}: is {value}; expected a number from 0 to {_MAX_NUMBER:,}.")


def _plausible_report(report: dict[str, Any] | None) -> dict[str, Any]:
    """The import report in the file, if it has the right shape and is small, because a file may contain anything.

    The doctor's findings are removed, because they would look like findings of this server.
    """
    try:
        report_read = msgspec.convert(report or {}, Report)
    except msgspec.ValidationError:
        return {}
    return msgspec.to_builtins(report_read) if report and len(_encoder.encode(report_read)) <= MAX_REPORT_BYTES else {}
