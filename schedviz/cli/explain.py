"""`schedviz explain NAMESPACE/POD -f FILE...`: why a pod is Pending, node by node, and the smallest change that would place it."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

import click

from schedviz.cli.explanation_printing import (
    named,
    print_answer,
    print_explanation,
    print_message,
    print_messages,
    print_overview,
    print_verdicts,
)
from schedviz.cli.loading import NO_NODES, STDIN, examined, loaded, print_warnings, simulated, standard_input
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
    from schedviz.explain.messages.parsed_message import ParsedMessage
    from schedviz.explain.pasted.text_reading import TextReading
    from schedviz.explain.pending.overview import Overview, Unread
    from schedviz.ingest.load import Import
    from schedviz.kube.core import Pod

#: The longest text that is searched for messages, in characters or bytes.
_MAX_TEXT_BYTES = 20_000_000
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
@click.option("--session", "which", envvar="SCHEDVIZ_SESSION", metavar="SESSION", help="Use a session of a server instead of files.")
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
    which: str | None,
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
    output = _Output(form, theme, _origin(paths, which), _command(paths, which), every_change=every_change)
    if which is not None and not paths and message is None:
        _of_session(which, server, token, pod, output, at=at, with_change=with_change)
        return
    if not paths and message is None:
        raise click.UsageError(
            "Pass a file with -f, as printed by `kubectl get nodes,pods,pv,pvc,sc,events -A -o json`, or a message with --message."
        )
    try:
        files = _read(paths, chosen) if paths else None
    except click.ClickException:
        texts = _texts(paths) if message is None else []
        reading = _reading_of(texts, pod)
        if not (reading.messages or reading.others):
            if command := _describing_command(texts):
                raise click.ClickException(
                    f"kubectl's table output does not show why a pod is pending. Pass the output of: {command}"
                ) from None
            raise
        if reading.messages:
            say(f"Based on messages only: {_without_nodes(texts)}.", err=True)
        _messages(reading, output)
        return
    says_no_nodes = False
    try:
        if message is not None:
            _message(files, pod, message, output)
        elif files is not None and pod is None and (found := _only_messages(files, paths)) is not None:
            # What an import of the other objects lacks does not matter.
            files = None
            _messages(found, output)
        elif files is not None and pod is None:
            says_no_nodes = _all_pending(files, output)
        elif files is not None and pod is not None:
            if (described := _only_described(files, paths, pod)) is None:
                _one(files, pod, output, with_change=with_change)
            else:
                name = described.messages[0].pod
                say(f"The objects lack {name}: its messages in the files, explained without the cluster:", err=True)
                _messages(described, output)
    finally:
        # Users read the result first.
        if files is not None:
            print_warnings(files.imported, chosen, brief=True, without=NO_NODES if says_no_nodes else "")


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


def _of_session(
    which: str, server: str | None, token: str | None, pod: str | None, output: _Output, *, at: int | None, with_change: bool
) -> None:
    """The same, from a server."""
    import msgspec

    from schedviz.client import NotFound
    from schedviz.explain.changes import SmallestChange
    from schedviz.explain.explanation import Explanation
    from schedviz.explain.pending.overview import Overview

    with client_of(server, token) as client:
        session = find_session(client, which)
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


def _one(files: _Files, pod: str, output: _Output, *, with_change: bool) -> None:
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


def _all_pending(files: _Files, output: _Output) -> bool:
    """Print the overview, and return whether it says that there are no nodes."""
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
    if unread is not None and not found.count:
        # No all-clear: the pending pods may be in what is missing.
        raise click.exceptions.Exit(1)
    return bool(found.command)


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


def _message(files: _Files | None, pod: str | None, text: str, output: _Output) -> None:
    import msgspec

    from schedviz.explain.advice_label import AdviceLabels
    from schedviz.explain.messages.message import parse_message, with_nodes
    from schedviz.explain.messages.parsed_message import NotAMessageError, ParsedMessage
    from schedviz.explain.why import PodUnknownError, the_pod, why_pending
    from schedviz.ingest.kubectl.tables import sentences_about_tables
    from schedviz.ingest.kubectl.tables_and_descriptions import missing_events

    text = sys.stdin.read(_MAX_TEXT_BYTES + 1) if text == "-" else text
    if len(text) > _MAX_TEXT_BYTES:
        raise click.ClickException(_too_long("standard input"))
    reading = _reading(text)
    found = reading.messages
    if (len(found) > 1 and pod is None) or (not found and reading.others):
        _messages(reading, output)
        return
    meant = _meant(list(dict.fromkeys(each.pod for each in found)), pod) if pod is not None else []
    of_pod = [each for each in found if each.pod in meant] or found
    of_scheduler = [each for each in of_pod if not each.writer] or of_pod
    try:
        message = of_scheduler[-1].message if of_pod else parse_message(text)
    except NotAMessageError as error:
        raise click.ClickException(missing_events(text) or f"{error}{sentences_about_tables(text)}") from None
    if output.form in _CARD_FORMS or (output.form == "text" and files is None):
        _messages(msgspec.structs.replace(reading, messages=tuple(of_pod) or (ParsedMessage("", "", text, message),)), output)
        return
    clauses = message.clauses
    if files is not None and pod is not None:
        try:
            clauses = with_nodes(clauses, why_pending(files.simulation, the_pod(files.simulation, pod)).matrix)
        except PodUnknownError as error:
            raise click.ClickException(str(error)) from None
    if output.form == "json":
        say_as_json(msgspec.structs.replace(message, clauses=clauses))
    else:
        labels = AdviceLabels()
        answer = reading.answer_of(of_scheduler[-1].pod) if of_scheduler and of_scheduler[-1].pod else None
        if of_scheduler and of_scheduler[-1].pod:
            say(f"{of_scheduler[-1].pod}:", bold=True)
            print_answer(answer, labels)
        release = files.simulation.settings.release if files is not None else ""
        print_message(message, clauses, labels, release=release, answered=answer is not None and bool(answer.sentence))


def _reading(text: str, pods: Sequence[Pod] = ()) -> TextReading:
    """The messages in a text, and what else it says about their pods. `pods` as in `_reading_of`."""
    from schedviz.engine.framework.types import PodInfo
    from schedviz.explain.pasted.reader import read_text, with_only_pod
    from schedviz.ingest.pasted.message_times import seconds_of_age
    from schedviz.ingest.pasted.text_namespace import contents_of

    contents = contents_of(text)
    found, facts = with_only_pod(contents.messages, contents.facts, [pod.key for pod in pods])
    described = {pod.key: PodInfo(pod) for pod in pods} | {key: PodInfo(pod) for key, pod in contents.pods.items()}
    return read_text(found, facts, described, seconds_of_age, contents.storage)


def _without_nodes(texts: Sequence[str]) -> str:
    """Why nothing is simulated: the input has no nodes, or descriptions of nodes that are cut."""
    from schedviz.ingest.kubectl.described_objects import described_nodes
    from schedviz.ingest.pasted.plain_text import plain

    nodes = list(dict.fromkeys(node.name for text in texts for node in described_nodes(plain(text))))
    if not nodes:
        return "the input contains no nodes"
    return f"the description of {nodes[0]} is incomplete" if len(nodes) == 1 else f"the descriptions of {named(nodes)} are incomplete"


def _texts(paths: Sequence[Path]) -> list[str]:
    """The contents of text files, such as the output of `kubectl describe`. Says which are too long."""
    from schedviz.ingest.errors import IngestError
    from schedviz.ingest.files.source import Source
    from schedviz.ingest.files.whole_text import TextTooLongError, text_of

    texts: list[str] = []
    for path in paths:
        if path != STDIN and not path.is_file():
            continue
        source = standard_input() if path == STDIN else Source.of_path(path)
        try:
            texts.append(text_of(source, _MAX_TEXT_BYTES))
        except TextTooLongError:
            say(_too_long(source.name), err=True)
        except IngestError:
            # The import has named the reason.
            continue
    return texts


def _describing_command(texts: Sequence[str]) -> str:
    """The command whose output says why the first pending pod of a table waits; "": no text has such a table."""
    from schedviz.ingest.kubectl.tables import command_for
    from schedviz.ingest.pasted.plain_text import plain

    return next((command for text in texts if (command := command_for(plain(text)))), "")


def _reading_of(texts: Sequence[str], pod: str | None, pods: Sequence[Pod] = ()) -> TextReading:
    """The messages in texts: those about one pod, if any is.

    `pods`: those of the files' objects; if there is one, messages that name no pod are about it.
    """
    from schedviz.explain.pasted.text_reading import joined_readings

    found = joined_readings([_reading(text, pods) for text in texts])
    return found if pod is None else _about(found, pod)


def _meant(names: Sequence[str], pod: str) -> list[str]:
    """Those of the names (`namespace/name`) that a user may mean by a pod's name, which may lack its namespace."""
    return [name for name in names if name in (pod, f"default/{pod}")] or [name for name in names if name.endswith(f"/{pod}")]


def _about(found: TextReading, pod: str) -> TextReading:
    """The messages about a pod, which may lack its namespace; all if the text names no pod. Raises `click.ClickException`."""
    import msgspec

    pods = list(dict.fromkeys(each.pod for each in found.messages if each.pod))
    if not pods:
        return found
    meant = _meant(pods, pod)
    if len(meant) != 1:
        raise click.ClickException(f"The text contains no message about pod {pod}, only about {named(meant or pods)}.")
    return msgspec.structs.replace(found, messages=tuple(each for each in found.messages if each.pod == meant[0]))


def _only_described(files: _Files, paths: Sequence[Path], pod: str) -> TextReading | None:
    """The messages about a pod that the objects lack and another of the files describes; None if the objects have it, or no file does."""
    from schedviz.explain.why import the_pod

    if not _meant(_missing_pods(files), pod) or files.simulation.cluster.find("Pod", the_pod(files.simulation, pod)) is not None:
        return None
    found = _reading_of(_texts(paths), pod)
    return found if found.messages else None


def _only_messages(files: _Files, paths: Sequence[Path]) -> TextReading | None:
    """The messages of files without pods, or of files without nodes whose pods have their messages elsewhere in the files.

    None: there are nodes and pods, no messages, or pods with their own. The volume in an issue and the manifest of a pod are such objects.
    """
    informers = files.simulation.scheduler.state.informers
    pods = list(informers.list("Pod"))
    if next(iter(informers.list("Node")), None) is not None:
        return None if pods else _beside_nodes(_texts(paths))
    if any(condition.type == "PodScheduled" for pod in pods for condition in pod.status.conditions):
        return None
    known = [pod.key for pod in pods]
    found = _reading_of(_texts(paths), None, [pod for pod in pods if not pod.spec.node_name])
    return (
        found if found.messages and (not pods or any(each.pod not in known or not _is_untried(each) for each in found.messages)) else None
    )


def _beside_nodes(texts: Sequence[str]) -> TextReading | None:
    """The messages in texts, each read with the objects of the texts without messages; None if there are none."""
    from schedviz.explain.pasted.text_reading import joined_readings

    without = [text for text in texts if not _reading(text).messages]
    found = [_reading("\n---\n".join((text, *without))) for text in texts if text not in without]
    return joined_readings(found) if found else None


def _is_untried(message: ParsedMessage) -> bool:
    """Whether the message comes from the pod's object, which only shows that no scheduler has tried the pod."""
    from schedviz.explain.reason_tables.whole import POD_OBJECT

    return message.writer == POD_OBJECT


def _missing_pods(files: _Files) -> list[str]:
    """Pods that the files have messages about, and that are not among their objects."""
    names = dict.fromkeys(message.pod for message in files.imported.messages)
    return [name for name in names if name and files.simulation.cluster.find("Pod", name) is None]


def _too_long(name: str) -> str:
    return (
        f"{name}: the text has more than {_MAX_TEXT_BYTES:,} bytes. Keep only the scheduler's events: "
        "kubectl get events -A --field-selector reason=FailedScheduling -o json"
    )


def _messages(reading: TextReading, output: _Output) -> None:
    """Print the messages of each group of pods, or a card if there is one."""
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
