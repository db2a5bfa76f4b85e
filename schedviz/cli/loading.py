"""Loads the files named on the command line, as objects or as an engine with these objects. Unreadable files give one sentence."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from schedviz.cli.error_messages import SeveralLines
from schedviz.cli.release_options import NO_CHOICE, ChosenRelease
from schedviz.terminal import say

if TYPE_CHECKING:
    from schedviz.engine import Simulation, SimulationSettings
    from schedviz.explain.doctor import Examination
    from schedviz.ingest.load import Import
    from schedviz.ingest.progress import Progress
    from schedviz.ingest.reader import Item
    from schedviz.kube.meta import KubeObject

#: Stands for standard input among files.
STDIN: Final = Path("-")
_HEAD_BYTES: Final = 4096


def loaded(paths: Sequence[Path], *, look: Callable[[Item, KubeObject], None] | None = None) -> Import:
    """The objects, or the trace, in some files and folders (`-`: standard input). What was left out is printed to standard error.

    Raises `click.ClickException`.
    """
    from schedviz.cli.remote.printing import Progress as Shown
    from schedviz.ingest.errors import IngestError
    from schedviz.ingest.load import ignore_item, load
    from schedviz.ingest.source import Source, files_of

    for path in paths:
        if is_session_file(path):
            raise click.ClickException(
                f"{path}: this is a session file. Create a session from it with `schedviz import {path}`, and query that with --session."
            )
    piped = [Source.of_bytes("standard input", sys.stdin.buffer.read())] if STDIN in paths else []
    shown = Shown()
    try:
        sources = [*piped, *files_of(path for path in paths if path != STDIN)]
        if not sources:
            folders = ", ".join(map(str, paths))
            raise click.ClickException(f"{folders}: no file there looks, by its name, like objects or a scheduler's log.")
        found = load(sources, progress=lambda progress: shown.say(_in_words(progress)), look=look or ignore_item)
    except IngestError as error:
        raise SeveralLines(*error.lines) from None
    except OSError as error:
        raise click.ClickException(f"{error.filename}: {error.strerror}.") from None
    finally:
        shown.end()
    for refused in (*found.report.refused, *found.report.skipped):
        for line in refused.message.split("\n"):
            say(f"schedviz: left out: {line}", err=True)
    return found


def tell_warnings(found: Import, chosen: ChosenRelease = NO_CHOICE) -> None:
    """Print warnings about the files to standard error, so that they precede the answer."""
    from schedviz.ingest.release_evidence import with_release

    for warning in with_release(found.report, chosen.release, found.evidence).warnings:
        say(f"warning: {warning}", err=True)


def _in_words(progress: Progress) -> str:
    from schedviz.ingest.source import shown_name

    of = f" of {progress.total:,}" if progress.total is not None else ""
    return f"{shown_name(progress.file) or progress.phase}: {progress.done:,}{of} {progress.unit}"


def is_session_file(path: Path) -> bool:
    """Whether it is a `.schedviz` file. False for an unreadable file; whoever reads it reports the error."""
    from schedviz.ingest.session_file import looks_like_session

    try:
        with path.open("rb") as file:
            return looks_like_session(file.read(_HEAD_BYTES))
    except OSError:
        return False


def settings_for(found: Import, chosen: ChosenRelease = NO_CHOICE) -> SimulationSettings:
    """The settings of an engine for the files: those of a trace, otherwise with the suggested release; options override both."""
    from schedviz.engine import RULES_OF_NEW_SESSIONS, SimulationSettings, settings_of

    if found.trace is not None:
        return chosen.settings(settings_of(found.trace))
    release = found.evidence.suggested
    gates = found.evidence.suggested_gates if chosen.release in (None, release) else {}
    return chosen.settings(SimulationSettings(config=found.config, release=release, feature_gates=gates, **RULES_OF_NEW_SESSIONS))


def simulated(found: Import, chosen: ChosenRelease = NO_CHOICE) -> Simulation:
    """An engine with the objects of the files; for a trace, after its steps. Raises `click.ClickException`."""
    from schedviz.engine import ConfigurationError, Simulation
    from schedviz.trace.commands import AnyCommand

    trace = found.trace
    try:
        simulation = Simulation(settings_for(found, chosen))
    except ConfigurationError as error:
        raise click.ClickException(f"configuration: {error}") from None
    simulation.load(found.objects)
    for step in () if trace is None else trace.steps:
        if isinstance(step, AnyCommand):
            simulation.start(step)
            simulation.work()
            simulation.drain_events()
            simulation.drain_cycles()
    return simulation


def examined(found: Import, chosen: ChosenRelease = NO_CHOICE, *, names: tuple[str, ...] = ()) -> list[Examination]:
    """What the doctor finds in the files; `names` override the scheduler names of the configuration. Raises `click.ClickException`."""
    from schedviz.engine import ConfigurationError
    from schedviz.explain.doctor import examine_engine
    from schedviz.explain.doctor.import_check import examine_import

    if found.trace is not None:
        return [examine_engine(simulated(found, chosen))]
    logs = {log.name: log.signals for log in found.logs}
    settings = settings_for(found, chosen)
    try:
        return examine_import(
            found.objects,
            found.config,
            logs,
            said={each.pod: each.message for each in found.messages},
            events=found.events,
            names=names,
            made_of_dump=found.made_of_dump,
            release=settings.release,
            feature_gates=settings.feature_gates,
        )
    except ConfigurationError as error:
        raise click.ClickException(f"configuration: {error}") from None
