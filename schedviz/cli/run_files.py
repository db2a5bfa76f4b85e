"""Runs from files: a trace, which is run here, or a `.schedviz` file, which contains its run."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import click
import msgspec

from schedviz.cli.error_messages import MultilineError
from schedviz.cli.loading import is_session_file, loaded

if TYPE_CHECKING:
    from schedviz.engine import Simulation
    from schedviz.engine.extenders.calls import ExtenderCall
    from schedviz.ingest.session_file import CommandLine, ExtenderResponseLine, SessionFile
    from schedviz.trace.comparing import RunInMemory
    from schedviz.trace.events import AnyEvent
    from schedviz.trace.view import View


def run_of_file(path: Path) -> RunInMemory:
    """The run in a `.schedviz` file or a trace file. Raises `click.ClickException`."""
    from schedviz.ingest.files.source import Source

    try:
        return run_of_session_file(str(path), Source.of_path(path).pieces()) if is_session_file(path) else _run_of_trace(path)
    except OSError as error:
        raise click.ClickException(f"{path}: {error.strerror}.") from None


def _run_of_trace(path: Path) -> RunInMemory:
    """Run the trace with this engine; extenders respond as it declares."""
    from schedviz.engine import ConfigurationError, Simulation, settings_of
    from schedviz.trace.commands import AnyCommand
    from schedviz.trace.comparing import RunInMemory

    imported = loaded([path])
    if imported.trace is None:
        raise click.ClickException(f"{path}: it has objects but no steps; expected a trace file or a `.schedviz` file.")
    try:
        simulation = Simulation(settings_of(imported.trace))
    except ConfigurationError as error:
        raise click.ClickException(f"{path}: configuration: {error}") from None
    simulation.load(imported.objects)
    beginning = simulation.view()
    for step in imported.trace.steps:
        if isinstance(step, AnyCommand):
            simulation.start(step)
            simulation.work()
    return RunInMemory(path.name, beginning, simulation.drain_events(), msgspec.to_builtins(simulation.settings))


def run_of_session_file(name: str, pieces: Iterable[bytes]) -> RunInMemory:
    """The run in a `.schedviz` file. Its events are taken as they are; only the part before a fork, which it lacks, is replayed."""
    from schedviz.ingest.errors import IngestError
    from schedviz.ingest.limits import Limits
    from schedviz.ingest.session_file import SessionFile
    from schedviz.trace.comparing import RunInMemory

    try:
        file = SessionFile(name, pieces, Limits())
        beginning, events = _beginning_and_events(name, file)
    except IngestError as error:
        raise MultilineError(*error.lines) from None
    return RunInMemory(file.manifest.name or name, beginning, events, file.manifest.settings)


def _beginning_and_events(name: str, file: SessionFile) -> tuple[View, list[AnyEvent]]:
    """The initial view, and all events: those before a fork, which are replayed, and those of the file."""
    from schedviz.ingest.session_file import CommandLine, EventsLine, ExtenderResponseLine, ForkLine, ObjectLine
    from schedviz.kube import codec
    from schedviz.kube.errors import KubeError
    from schedviz.trace.events import decode_events

    objects = []
    responses: dict[int, ExtenderResponseLine] = {}
    waiting: list[CommandLine] = []
    #: Of each ancestor: its commands, and the event at which it was forked.
    ancestors: list[tuple[list[CommandLine], int]] = []
    events: list[AnyEvent] = []
    for line in file.lines():
        match line:
            case ObjectLine():
                try:
                    objects.append(codec.from_dict(line.object))
                except KubeError as error:
                    raise click.ClickException(f"{name}: object {len(objects) + 1}: {error}") from None
            case ExtenderResponseLine():
                responses[line.event] = line
            case CommandLine():
                waiting.append(line)
            case ForkLine():
                ancestors.append((waiting, line.event))
                waiting = []
            case EventsLine():
                try:
                    events += decode_events(line.events)
                except msgspec.DecodeError as error:
                    raise click.ClickException(f"{name}: the events after event {_last_event(file, events)}: {error}.") from None
    simulation = _engine(name, file, responses)
    simulation.load(objects)
    beginning = simulation.view()
    for commands, event in ancestors:
        _do_until(name, simulation, commands, event)
    return beginning, [*simulation.drain_events(), *events]


def _last_event(file: SessionFile, events: list[AnyEvent]) -> int:
    return events[-1].event if events else file.manifest.after_event


def _engine(name: str, file: SessionFile, responses: dict[int, ExtenderResponseLine]) -> Simulation:
    from schedviz.engine import ConfigurationError, Simulation, SimulationSettings

    try:
        simulation = Simulation(msgspec.convert(file.manifest.settings, SimulationSettings))
    except (ValueError, ConfigurationError) as error:
        raise click.ClickException(f"{name}: settings: {error}") from None
    simulation.extender_calls.transport = _FileResponses(responses)
    return simulation


def _do_until(name: str, simulation: Simulation, commands: Iterable[CommandLine], event: int) -> None:
    from schedviz.trace.commands import decode_command

    for command in commands:
        if simulation.event >= event:
            return
        if command.quarantined and command.stopped_after_event is None:
            continue
        try:
            decoded = decode_command(bytes(command.command))
        except msgspec.DecodeError as error:
            raise click.ClickException(f"{name}: command {command.seq}: {error}.") from None
        simulation.start(decoded, seq=command.seq)
        if command.stopped_after_event is None or command.stopped_after_event >= event:
            simulation.work_until(event)
            continue
        _do_until_stopped(simulation, command.stopped_after_event)


def _do_until_stopped(simulation: Simulation, event: int) -> None:
    """Interrupt a run where it was interrupted before."""
    if simulation.event >= event or simulation.work(stop=lambda: simulation.event >= event) is None:
        simulation.interrupt()


class _FileResponses:
    """Makes no calls: returns the recorded responses."""

    def __init__(self, responses: dict[int, ExtenderResponseLine]) -> None:
        self._responses = responses

    def call(self, call: ExtenderCall) -> bytes:
        from schedviz.engine.extenders.calls import ExtenderError

        response = self._responses.get(call.event)
        if response is None or response.error:
            raise ExtenderError(response.error if response else "the file has no response to this call")
        return response.body
