"""`schedviz explain NAMESPACE/POD -f FILE...`: why a pod is Pending, node by node, and the smallest change that would place it."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

import click

from schedviz.cli.explained_texts import (
    describing_command,
    matching_names,
    reading_about_pod,
    reading_of_missing_pod,
    reading_of_text,
    reading_of_texts,
    reading_without_cluster,
    text_of_standard_input,
    texts_in,
    why_not_simulated,
)
from schedviz.cli.explanation_printing import (
    named,
    print_answer,
    print_explanation,
    print_message,
    print_messages,
    print_overview,
    print_verdicts,
)
from schedviz.cli.loading import NO_NODES, examined, loaded, print_warnings, simulated
from schedviz.cli.release_options import BY_FILES, ChosenRelease, release_options
from schedviz.cli.remote.options import client_of, find_session, server_option, token_option
from schedviz.terminal import say, say_as_json, say_exact, write_bytes

if TYPE_CHECKING:
    from schedviz.engine import Simulation
    from schedviz.explain.card.model import Card
    from schedviz.explain.card.theme import ThemeName
    from schedviz.explain.changes import SmallestChange
    from schedviz.explain.doctor import Examination
    from schedviz.explain.doctor.known_findings import KnownFindings
    from schedviz.explain.explanation import Explanation
    from schedviz.explain.pasted.text_reading import TextReading
    from schedviz.explain.pending.overview import Overview, Unread
    from schedviz.ingest.load import Import

Form = Literal["text", "json", "markdown", "html", "png"]
_FORMS = get_args(Form)
#: Files named on a card.
_MAX_NAMED_FILES = 3
#: Formats of a card.
_CARD_FORMS = ("markdown", "html", "png")


@click.command()
@release_options(BY_FILES)
@click.argument("pod", required=False, metavar="[NAMESPACE/POD]")
@click.option(
    "-f",
    "--file",
    "paths",
    multiple=True,
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="A kubectl dump, a trace, or text with messages of the scheduler, - for standard input; repeatable.",
)
@click.option(
    "--change/--no-change", "with_change", default=True, show_default=True, help="Look for the smallest change that places the pod."
)
@click.option("--all-changes", "every_change", is_flag=True, help="Print every change that places the pod, not only the first three.")
@click.option("--message", metavar="TEXT", help="Explain a `0/N nodes are available: …` message found in any text; - reads standard input.")
@click.option("--session", envvar="SCHEDVIZ_SESSION", metavar="SESSION", help="Use a session of a server instead of files.")
@click.option("--at", type=click.IntRange(min=0), metavar="EVENT", help="With --session: the state after this event.")
@click.option(
    "-o",
    "--output",
    "--format",
    "form",
    type=click.Choice(_FORMS),
    default="text",
    show_default=True,
    help="Output format. A card to send to a colleague is markdown (for an issue or a chat), html (a static page) or png (an image).",
)
@click.option("--theme", type=click.Choice(["light", "dark"]), default="light", show_default=True, help="Colors of the image (-o png).")
@server_option
@token_option
def explain(
    pod: str | None,
    paths: tuple[Path, ...],
    with_change: bool,  # noqa: FBT001
    every_change: bool,  # noqa: FBT001
    message: str | None,
    session: str | None,
    at: int | None,
    form: Form,
    theme: ThemeName,
    server: str | None,
    token: str | None,
    chosen: ChosenRelease,
) -> None:
    """Explain why a pod is Pending: the reason, the nodes behind each part of it, and the smallest change that places the pod, verified.

    Without a pod, print an overview of all pending pods: how many wait for which reason, with the numbers
    behind it. Exits with 0; with 1 if part of the input could not be read and the rest contains no pending
    pod; with 2 if there is no such pod or a file cannot be used.
    """
    if chosen.members() and not paths:
        raise click.UsageError("--release and --feature-gates are for files (-f): a session of a server has its own release.")
    if form == "png" and sys.stdout.isatty():
        raise click.UsageError("A PNG image cannot be shown in a terminal. Write it to a file: schedviz explain … -o png > card.png")
    output = _Output(form, theme, _origin(paths, session), _command(paths, session), every_change=every_change)
    if message is not None:
        _explain_message(paths, chosen, pod, message, output)
    elif paths:
        _explain_files(paths, chosen, pod, output, with_change=with_change)
    elif session is not None:
        _explain_session(session, server, token, pod, output, at=at, with_change=with_change)
    else:
        raise click.UsageError(
            "Pass a file with -f, as printed by `kubectl get nodes,pods,pv,pvc,sc,events -A -o json`, or a message with --message."
        )


class _Output(NamedTuple):
    """How the result is written."""

    form: Form
    theme: ThemeName
    #: What is explained, and when: for cards.
    origin: str
    #: The command that explains one of the pods, without its name.
    command: str
    #: As text, print every change that places a pod.
    every_change: bool = True


def _origin(paths: Sequence[Path], session: str | None) -> str:
    names = [path.name if path.name != "-" else "standard input" for path in paths] or [session or "a message"]
    more = f" and {len(names) - _MAX_NAMED_FILES} more" if len(names) > _MAX_NAMED_FILES else ""
    return f"{', '.join(names[:_MAX_NAMED_FILES])}{more}, {datetime.now(UTC):%Y-%m-%d %H:%M} UTC"


def _command(paths: Sequence[Path], session: str | None) -> str:
    sources = [("-f", str(path)) for path in paths] or [("--session", session or "")]
    return shlex.join(("schedviz", "explain", *(word for source in sources for word in source)))


class _Files(NamedTuple):
    """An engine with the objects of the files, and what the doctor found in them."""

    simulation: Simulation
    examinations: list[Examination]
    imported: Import

    @property
    def findings(self) -> KnownFindings:
        from schedviz.explain.doctor.known_findings import KnownFindings

        return KnownFindings(self.examinations)


def _read(paths: tuple[Path, ...], chosen: ChosenRelease) -> _Files:
    found = loaded(paths)
    # The simulated scheduler of a trace is not compared: its state is its own.
    return _Files(simulated(found, chosen), examined(found, chosen) if found.trace is None else [], found)


@contextmanager
def _before_warnings(files: _Files | None, chosen: ChosenRelease) -> Iterator[None]:
    """Print the warnings about the files after the result: users read that first."""
    try:
        yield
    finally:
        if files is not None:
            print_warnings(files.imported, chosen, brief=True)


def _explain_session(
    name: str, server: str | None, token: str | None, pod: str | None, output: _Output, *, at: int | None, with_change: bool
) -> None:
    """Explain a pod, or all pending ones, of a session of a server."""
    import msgspec

    from schedviz.client import NotFound
    from schedviz.explain.changes import SmallestChange
    from schedviz.explain.explanation import Explanation
    from schedviz.explain.pending.overview import Overview

    with client_of(server, token) as client:
        session = find_session(client, name)
        if pod is None:
            _show_overview(msgspec.convert(session.overview(at=at, with_changes=True), Overview), output)
            return
        try:
            found = msgspec.convert(session.explain(pod, at=at).raw, Explanation)
        except NotFound as error:
            raise click.ClickException(str(error)) from None
        looks = with_change and found.lacks_change
        change = msgspec.convert(session.smallest_change(pod, at=at), SmallestChange) if looks else None
    _show_explanation(found, change, output)


def _explain_files(paths: tuple[Path, ...], chosen: ChosenRelease, pod: str | None, output: _Output, *, with_change: bool) -> None:
    """Explain a pod, or all pending ones, of files; by their messages alone if they have no cluster in which to try it."""
    try:
        files = _read(paths, chosen)
    except click.ClickException as error:
        _explain_unimported(paths, pod, output, error)
        return
    if pod is not None:
        with _before_warnings(files, chosen):
            reading = reading_of_missing_pod(files.simulation, files.imported, paths, pod)
            if reading is None:
                _explain_pod(files, pod, output, with_change=with_change)
            else:
                say(f"The objects lack {reading.messages[0].pod}: its messages in the files, explained without the cluster:", err=True)
                _show_reading(reading, output)
    elif (reading := reading_without_cluster(files.simulation, paths)) is not None:
        # What an import of the other objects lacks does not matter.
        _show_reading(reading, output)
    else:
        _explain_all_pending(files, chosen, output)


def _explain_unimported(paths: Sequence[Path], pod: str | None, output: _Output, error: click.ClickException) -> None:
    """Explain the messages of files that have no objects. Raises `error`, why they were not imported, if there are none either."""
    texts = texts_in(paths)
    reading = reading_of_texts(texts)
    if pod is not None:
        reading = reading_about_pod(reading, pod)
    if not (reading.messages or reading.others):
        if command := describing_command(texts):
            raise click.ClickException(f"kubectl's table output does not show why a pod is pending. Pass the output of: {command}")
        raise error
    if reading.messages:
        say(f"Based on messages only: {why_not_simulated(texts)}.", err=True)
    _show_reading(reading, output)


def _explain_pod(files: _Files, pod: str, output: _Output, *, with_change: bool) -> None:
    from schedviz.cli.remote.printing import ProgressLine
    from schedviz.explain.changes import smallest_change
    from schedviz.explain.why import PodUnknownError, the_pod, why_pending

    simulation = files.simulation
    pod = the_pod(simulation, pod)
    try:
        explanation = why_pending(simulation, pod, files.findings)
    except PodUnknownError as error:
        raise click.ClickException(str(error)) from None
    looks = with_change and explanation.lacks_change
    progress = ProgressLine()
    if looks:
        progress.say("Searching for the smallest change …")
    change = smallest_change(simulation, pod, explanation) if looks else None
    progress.end()
    _show_explanation(explanation, change, output)


def _explain_all_pending(files: _Files, chosen: ChosenRelease, output: _Output) -> None:
    """Print the overview, then the warnings about the files."""
    from schedviz.cli.remote.printing import ProgressLine
    from schedviz.explain.pending.overview import overview

    progress = ProgressLine()
    progress.say("Examining all pending pods …")
    unread = _unread(files.imported)
    found = overview(files.simulation, files.findings, with_changes=True, unread=unread)
    progress.end()
    if output.form == "text":
        print_verdicts(files.examinations)
    _show_overview(found, output)
    # The command is that for the missing nodes.
    print_warnings(files.imported, chosen, brief=True, without=NO_NODES if found.command else "")
    if unread is not None and not found.count:
        # No all-clear: the pending pods may be in what is missing.
        raise click.exceptions.Exit(1)


def _unread(imported: Import) -> Unread | None:
    from schedviz.explain.pending.overview import Unread

    missing = (*imported.report.refused, *imported.report.skipped)
    return Unread(missing[0].message, len(imported.objects)) if missing else None


def _show_explanation(explanation: Explanation, change: SmallestChange | None, output: _Output) -> None:
    match output.form:
        case "json":
            say_as_json({"explanation": explanation, "smallestChange": change})
        case "text":
            print_explanation(explanation, change, every_change=output.every_change)
        case _:
            from schedviz.explain.card.build import card_of_pod

            _write_card(card_of_pod(explanation, change, origin=output.origin), output)


def _show_overview(found: Overview, output: _Output) -> None:
    match output.form:
        case "json":
            say_as_json({"groups": found.groups, "overview": found})
        case "text":
            print_overview(found, output.command)
        case _:
            from schedviz.explain.card.build import card_of_overview

            _write_card(card_of_overview(found, origin=output.origin), output)


def _write_card(card: Card, output: _Output) -> None:
    from schedviz.explain.card.formats import rendered

    assert output.form in ("markdown", "html", "png")
    content = rendered(card, output.form, output.theme)
    if output.form == "png":
        write_bytes(content)
    elif output.form == "html":
        say_exact(content.decode())
    else:
        _print_lines(content.decode())


def _explain_message(paths: tuple[Path, ...], chosen: ChosenRelease, pod: str | None, text: str, output: _Output) -> None:
    """Explain the messages in a text, with the nodes of the files if there are any. `text`: "-" for standard input."""
    files = _read(paths, chosen) if paths else None
    with _before_warnings(files, chosen):
        text = text_of_standard_input() if text == "-" else text
        reading = reading_of_text(text)
        if (len(reading.messages) > 1 and pod is None) or (not reading.messages and reading.others):
            _show_reading(reading, output)
        else:
            _explain_one_message(files, pod, text, reading, output)


def _explain_one_message(files: _Files | None, pod: str | None, text: str, reading: TextReading, output: _Output) -> None:
    """Explain the message about a pod, or the only one; all about it if there are no files."""
    import msgspec

    from schedviz.explain.advice_label import AdviceLabels
    from schedviz.explain.messages.message import parse_message, with_nodes
    from schedviz.explain.messages.parsed_message import NotAMessageError, ParsedMessage
    from schedviz.explain.why import PodUnknownError, the_pod, why_pending
    from schedviz.ingest.kubectl.tables import sentences_about_tables
    from schedviz.ingest.kubectl.tables_and_descriptions import missing_events

    matching = matching_names(list(dict.fromkeys(each.pod for each in reading.messages)), pod) if pod is not None else []
    of_pod = [each for each in reading.messages if each.pod in matching] or list(reading.messages)
    of_scheduler = [each for each in of_pod if not each.writer] or of_pod
    try:
        said = of_scheduler[-1] if of_scheduler else ParsedMessage("", "", text, parse_message(text))
    except NotAMessageError as error:
        raise click.ClickException(missing_events(text) or f"{error}{sentences_about_tables(text)}") from None
    if output.form in _CARD_FORMS or (output.form == "text" and files is None):
        _show_reading(msgspec.structs.replace(reading, messages=tuple(of_pod) or (said,)), output)
        return
    clauses = said.message.clauses
    if files is not None and pod is not None:
        try:
            clauses = with_nodes(clauses, why_pending(files.simulation, the_pod(files.simulation, pod)).matrix)
        except PodUnknownError as error:
            raise click.ClickException(str(error)) from None
    if output.form == "json":
        say_as_json(msgspec.structs.replace(said.message, clauses=clauses))
        return
    answer = reading.answer_of(said.pod) if said.pod else None
    labels = AdviceLabels()
    if said.pod:
        say(f"{said.pod}:", bold=True)
        print_answer(answer, labels)
    release = files.simulation.settings.release if files is not None else ""
    print_message(said.message, clauses, labels, release=release, answered=answer is not None and bool(answer.sentence))


def _show_reading(reading: TextReading, output: _Output) -> None:
    """The messages of each group of pods, or a card if there is one group."""
    from schedviz.explain.messages.parsed_message import newest_first, newest_of_each_source, shown_name
    from schedviz.explain.pasted.pod_groups import pod_groups, pods_alike
    from schedviz.ingest.pasted.message_times import seconds_of_age

    found = newest_first(reading.messages, seconds_of_age)
    groups = pod_groups(reading, seconds_of_age)
    match output.form:
        case "json":
            say_as_json(found)
        case "text":
            print_messages(reading, groups)
        case _:
            from schedviz.explain.card.build import card_of_message

            if not found:
                raise click.ClickException(f"No event in the files is about scheduling. {reading.others}")
            pods = list(dict.fromkeys(each.pod for each in found))
            if len(pods) > 1 and len(groups) > 1:
                names = [shown_name(each) for each in pods]
                raise click.UsageError(f"-o {output.form} shows one pod. Add its name to the command: {named(names)}.")
            first, *others = newest_of_each_source([each for each in found if each.pod == pods[0]], seconds_of_age)
            answer, alike = reading.answer_of(first.pod), pods_alike(first.pod, groups)
            _write_card(card_of_message(first, autoscaler_messages=others, answer=answer, pods=alike, origin=output.origin), output)


def _print_lines(text: str) -> None:
    for line in text.splitlines():
        say(line)
