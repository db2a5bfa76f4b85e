"""Loads the files named on the command line, as objects or as an engine with these objects. Unreadable files give one sentence."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from schedviz.cli.error_messages import MultilineError
from schedviz.cli.release_options import NO_CHOICE, ChosenRelease
from schedviz.terminal import say
from schedviz.trace.releases import RELEASE_OF_FILES

if TYPE_CHECKING:
    from schedviz.engine import Simulation, SimulationSettings
    from schedviz.explain.doctor import Examination
    from schedviz.ingest.files.source import Source
    from schedviz.ingest.load import Import
    from schedviz.ingest.progress import Progress
    from schedviz.ingest.reader import Item
    from schedviz.kube.meta import KubeObject

#: Stands for standard input among files.
STDIN: Final = Path("-")
_HEAD_BYTES: Final = 4096
#: Where a command keeps what it read from standard input.
_PIPED: Final = "schedviz.standard_input"


def loaded(paths: Sequence[Path], *, on_object: Callable[[Item, KubeObject], None] | None = None) -> Import:
    """The objects, or the trace, in some files and folders (`-`: standard input). What was left out is printed to standard error.

    `on_object` is called with each object as it was given and as it was decoded. Raises `click.ClickException`.
    """
    from schedviz.cli.remote.printing import ProgressLine
    from schedviz.ingest.errors import IngestError
    from schedviz.ingest.files.source import files_of
    from schedviz.ingest.load import ignore_object, load

    for path in paths:
        if is_session_file(path):
            raise click.ClickException(
                f"{path}: this is a session file. Create a session from it with `schedviz import {path}`, and query that with --session."
            )
    piped = [standard_input()] if STDIN in paths else []
    progress_line = ProgressLine()
    try:
        sources = [*piped, *files_of(path for path in paths if path != STDIN)]
        if not sources:
            folders = ", ".join(map(str, paths))
            raise click.ClickException(f"{folders}: no file there has a name that suggests objects or a scheduler's log.")
        imported = load(sources, progress=lambda progress: progress_line.say(_in_words(progress)), on_object=on_object or ignore_object)
    except IngestError as error:
        raise MultilineError(*error.lines) from None
    except OSError as error:
        raise click.ClickException(f"{error.filename}: {error.strerror}.") from None
    finally:
        progress_line.end()
    for refused in (*imported.report.refused, *imported.report.skipped):
        for line in refused.message.split("\n"):
            say(f"schedviz: left out: {line}", err=True)
    return imported


def standard_input() -> Source:
    """Standard input as a source. It is read once in a command, so several readers get the same bytes."""
    from schedviz.ingest.files.source import Source

    context = click.get_current_context(silent=True)
    known = {} if context is None else context.meta
    if _PIPED not in known:
        known[_PIPED] = sys.stdin.buffer.read()
    return Source.of_bytes("standard input", known[_PIPED])


#: How the warning about missing nodes begins.
NO_NODES: Final = "There are no nodes, "
#: In the warning about a cluster whose release is not simulated, and where what it says about all releases begins.
_BETWEEN_RELEASES: Final = "and no release in between"
_DIFFERENCES: Final = "Known differences: "


def print_warnings(imported: Import, chosen: ChosenRelease = NO_CHOICE, *, brief: bool = False, without: str = "") -> None:
    """Print the warnings about the files that `loaded` has not printed. `brief`: without the list of what differs between releases.

    `without`: the beginning of warnings that say what the result says, too.
    """
    from schedviz.ingest.release_evidence import with_release

    printed = tuple(f"{refused.name} was left out: " for refused in imported.report.refused)
    for warning in with_release(imported.report, chosen.release, imported.evidence).warnings:
        if (without and warning.startswith(without)) or warning.startswith(printed):
            continue
        said, hint = warning, ""
        if _BETWEEN_RELEASES in warning:
            hint = " `--release` simulates another one."
            if brief and _DIFFERENCES in warning:
                said = warning.partition(_DIFFERENCES)[0].rstrip()
                hint = " `--release` simulates another one; `schedviz doctor` lists the known differences."
        say(f"warning: {said}{hint}", err=True)


def _in_words(progress: Progress) -> str:
    from schedviz.ingest.files.source import shown_name

    of = f" of {progress.total:,}" if progress.total is not None else ""
    return f"{shown_name(progress.file) or progress.phase}: {progress.done:,}{of} {progress.unit}"


def is_session_file(path: Path) -> bool:
    """Whether it is a `.schedviz` file. False for an unreadable file; the code that reads it reports the error."""
    from schedviz.ingest.session_file import looks_like_session

    try:
        with path.open("rb") as file:
            return looks_like_session(file.read(_HEAD_BYTES))
    except OSError:
        return False


def settings_for(imported: Import, chosen: ChosenRelease = NO_CHOICE) -> SimulationSettings:
    """The settings of an engine for the files: those of a trace, otherwise with the release that they suggest; options override both."""
    from schedviz.engine import RULES_OF_NEW_SESSIONS, SimulationSettings, settings_of

    if imported.trace is not None:
        return chosen.settings(settings_of(imported.trace))
    release = imported.evidence.suggested_or(RELEASE_OF_FILES)
    gates = imported.evidence.suggested_gates if chosen.release in (None, release) else {}
    return chosen.settings(SimulationSettings(config=imported.config, release=release, feature_gates=gates, **RULES_OF_NEW_SESSIONS))


def simulated(imported: Import, chosen: ChosenRelease = NO_CHOICE) -> Simulation:
    """An engine with the objects of the files; for a trace, after its steps. Raises `click.ClickException`."""
    from schedviz.engine import ConfigurationError, Simulation
    from schedviz.trace.commands import AnyCommand

    trace = imported.trace
    try:
        simulation = Simulation(settings_for(imported, chosen))
    except ConfigurationError as error:
        raise click.ClickException(f"configuration: {error}") from None
    simulation.load(imported.objects)
    for step in () if trace is None else trace.steps:
        if isinstance(step, AnyCommand):
            simulation.start(step)
            simulation.work()
            simulation.drain_events()
            simulation.drain_cycles()
    return simulation


def examined(imported: Import, chosen: ChosenRelease = NO_CHOICE, *, names: tuple[str, ...] = ()) -> list[Examination]:
    """What the doctor finds in the files; `names` override the scheduler names of the configuration. Raises `click.ClickException`."""
    from schedviz.engine import ConfigurationError
    from schedviz.explain.doctor import examine_engine
    from schedviz.explain.doctor.import_check import examine_import

    if imported.trace is not None:
        return [examine_engine(simulated(imported, chosen))]
    settings = settings_for(imported, chosen)
    try:
        return examine_import(imported, names=names, release=settings.release, feature_gates=settings.feature_gates)
    except ConfigurationError as error:
        raise click.ClickException(f"configuration: {error}") from None
