"""`schedviz explain NAMESPACE/POD -f FILE...`: why a pod is Pending, node by node, and the smallest change that would place it."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

import click

from schedviz.cli.loading import examined, loaded, simulated, tell_warnings
from schedviz.cli.release_options import BY_FILES, ChosenRelease, release_options
from schedviz.cli.remote.options import client_of, find_session, server_option, token_option
from schedviz.terminal import say, say_exact, say_json, write_bytes

if TYPE_CHECKING:
    from schedviz.engine import Simulation
    from schedviz.explain.card.model import Card
    from schedviz.explain.card.theme import ThemeName
    from schedviz.explain.changes import SmallestChange
    from schedviz.explain.doctor import Examination
    from schedviz.explain.doctor.known_findings import KnownFindings
    from schedviz.explain.explanation import Explanation
    from schedviz.explain.finding import Finding
    from schedviz.explain.message import Message, PodMessage
    from schedviz.explain.overview import Overview

#: Characters of standard input that `--message -` reads.
_LONGEST_TEXT = 20_000_000
#: Nodes named per line.
_NAMED = 5
Form = Literal["text", "json", "markdown", "html", "png"]
_FORMS = get_args(Form)
#: Formats of a card.
_CARDS = ("markdown", "html", "png")


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
    help="A kubectl dump or a trace, - for standard input; repeatable.",
)
@click.option(
    "--change/--no-change", "with_change", default=True, show_default=True, help="Look for the smallest change that places the pod."
)
@click.option(
    "--message", metavar="TEXT", help="Explain the `0/N nodes are available: …` in a text, such as kubectl's; - reads standard input."
)
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
@click.option("--theme", type=click.Choice(["light", "dark"]), default="light", show_default=True, help="Colours of the image (-o png).")
@server_option
@token_option
def explain(
    pod: str | None,
    paths: tuple[Path, ...],
    with_change: bool,  # noqa: FBT001
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
    behind it. Exits with 0, or 2 if there is no
    such pod or a file cannot be used.
    """
    if chosen.members() and not paths:
        raise click.UsageError("--release and --feature-gates are for files (-f): a session of a server has its own release.")
    if form in _CARDS and message is not None:
        raise click.UsageError(f"-o {form} is for pods and for the overview, not for --message.")
    if form == "png" and sys.stdout.isatty():
        raise click.UsageError("A PNG image cannot be shown in a terminal. Write it to a file: schedviz explain … -o png > card.png")
    output = _Output(form, theme)
    if which is not None and not paths and message is None:
        _of_session(which, server, token, pod, output, at=at, with_change=with_change)
        return
    if not paths and message is None:
        raise click.UsageError("Pass a file with -f, as printed by `kubectl get nodes,pods -A -o json`, or a message with --message.")
    try:
        files = _read(paths, chosen) if paths else None
    except click.ClickException:
        messages = _messages_of(paths, pod) if message is None else []
        if not messages:
            raise
        say("The files have no objects that can be simulated. The scheduler's messages in them:", err=True)
        _messages(messages, form)
        return
    if message is not None:
        _message(files, pod, message, form)
        return
    assert files is not None
    if pod is None:
        _all_pending(files, output)
    else:
        _one(files, pod, output, with_change=with_change)


class _Output(NamedTuple):
    """How the result is written."""

    form: Form
    theme: ThemeName


class _Files(NamedTuple):
    """An engine with the objects of the files, and what the doctor found in them."""

    simulation: Simulation
    examinations: list[Examination]

    @property
    def findings(self) -> KnownFindings:
        from schedviz.explain.doctor.known_findings import KnownFindings

        return KnownFindings(self.examinations)


def _read(paths: tuple[Path, ...], chosen: ChosenRelease) -> _Files:
    """Warnings about the files go to standard error."""
    imported = loaded(paths)
    tell_warnings(imported, chosen)
    # The simulated scheduler of a trace is not compared: its state is its own.
    return _Files(simulated(imported, chosen), examined(imported, chosen) if imported.trace is None else [])


def _of_session(
    which: str, server: str | None, token: str | None, pod: str | None, output: _Output, *, at: int | None, with_change: bool
) -> None:
    """The same, from a server."""
    import msgspec

    from schedviz.client import NotFound
    from schedviz.explain.changes import SmallestChange
    from schedviz.explain.explanation import Explanation
    from schedviz.explain.overview import Overview

    with client_of(server, token) as client:
        session = find_session(client, which)
        if pod is None:
            _show_overview(msgspec.convert(session.overview(at=at), Overview), output)
            return
        try:
            explanation = msgspec.convert(session.explain(pod, at=at).raw, Explanation)
        except NotFound as error:
            raise click.ClickException(str(error)) from None
        looks = with_change and explanation.lacks_change
        change = msgspec.convert(session.smallest_change(pod, at=at), SmallestChange) if looks else None
    _show_explanation(explanation, change, output)


def _one(files: _Files, pod: str, output: _Output, *, with_change: bool) -> None:
    from schedviz.cli.remote.printing import Progress
    from schedviz.explain.changes import smallest_change
    from schedviz.explain.why import PodUnknownError, the_pod, why_pending

    simulation = files.simulation
    pod = the_pod(simulation, pod)
    try:
        explanation = why_pending(simulation, pod, files.findings)
    except PodUnknownError as error:
        raise click.ClickException(str(error)) from None
    looks = with_change and explanation.lacks_change
    progress = Progress()
    if looks:
        progress.say("Searching for the smallest change …")
    change = smallest_change(simulation, pod, explanation) if looks else None
    progress.end()
    _show_explanation(explanation, change, output)


def _all_pending(files: _Files, output: _Output) -> None:
    from schedviz.cli.remote.printing import Progress
    from schedviz.explain.overview import overview

    progress = Progress()
    progress.say("Examining all pending pods …")
    result = overview(files.simulation, files.findings)
    progress.end()
    if output.form == "text":
        _print_verdicts(files.examinations)
    _show_overview(result, output)


def _show_explanation(explanation: Explanation, change: SmallestChange | None, output: _Output) -> None:
    match output.form:
        case "json":
            _print_json({"explanation": explanation, "smallestChange": change})
        case "text":
            _print_text(explanation, change)
        case _:
            from schedviz.explain.card.build import card_of_pod

            _write_card(card_of_pod(explanation, change), output)


def _show_overview(result: Overview, output: _Output) -> None:
    match output.form:
        case "json":
            _print_json({"groups": result.groups, "overview": result})
        case "text":
            _print_overview(result)
        case _:
            from schedviz.explain.card.build import card_of_overview

            _write_card(card_of_overview(result), output)


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


def _message(files: _Files | None, pod: str | None, text: str, form: str) -> None:
    from schedviz.explain.message import NotAMessageError, parse_message, parse_messages, with_nodes
    from schedviz.explain.why import PodUnknownError, the_pod, why_pending
    from schedviz.ingest.kubectl_tables import told_by_tables
    from schedviz.ingest.pasted_text import messages_in

    text = sys.stdin.read(_LONGEST_TEXT) if text == "-" else text
    messages = parse_messages(messages_in(text, longest=_LONGEST_TEXT))
    if pod is None and len(messages) > 1:
        _messages(messages, form)
        return
    of_pod = [message for message in messages if message.pod in (pod, f"default/{pod}")] or messages
    try:
        message = of_pod[-1].message if of_pod else parse_message(text)
    except NotAMessageError as error:
        raise click.ClickException(f"{error}{told_by_tables(text)}") from None
    clauses = message.clauses
    if files is not None and pod is not None:
        try:
            clauses = with_nodes(clauses, why_pending(files.simulation, the_pod(files.simulation, pod)).matrix)
        except PodUnknownError as error:
            raise click.ClickException(str(error)) from None
    if form == "json":
        import msgspec

        _print_json(msgspec.structs.replace(message, clauses=clauses))
    else:
        _print_message(message, clauses)


def _messages_of(paths: Sequence[Path], pod: str | None) -> list[PodMessage]:
    """The scheduler's messages in text files, such as the output of `kubectl describe`: those about one pod, if any is."""
    from schedviz.explain.message import parse_messages
    from schedviz.ingest.pasted_text import messages_in

    messages: list[PodMessage] = []
    for path in paths:
        if path.is_file() and path.stat().st_size <= _LONGEST_TEXT:
            messages += parse_messages(messages_in(path.read_text("utf-8", "replace"), longest=_LONGEST_TEXT))
    return [message for message in messages if pod is not None and message.pod in (pod, f"default/{pod}")] or messages


def _messages(messages: Sequence[PodMessage], form: str) -> None:
    """Print several messages, each with its pod if the text names it."""
    if form == "json":
        _print_json(messages)
        return
    for number, message in enumerate(messages):
        if number:
            say()
        say(f"{message.pod or 'A pod'}{f', {message.at}' if message.at else ''}:")
        _print_message(message.message, message.message.clauses)


# Formatting.


def _print_lines(text: str) -> None:
    for line in text.splitlines():
        say(line)


def _print_verdicts(examinations: Sequence[Examination]) -> None:
    """The doctor's verdict on each comparison in which something differs."""
    from schedviz.explain.doctor.verdict import verdict
    from schedviz.trace.phrase import as_sentence

    for examination in examinations:
        if examination.differences:
            say(f"Doctor: {as_sentence(verdict(examination).text)}")
            say("`schedviz doctor` with the same files lists what differs.")
            say()


def _print_overview(result: Overview) -> None:
    say(result.sentence)
    for reason in result.reasons:
        say()
        say(f"  {reason.count:>6} {reason.reason}")
        for group in reason.groups[:_NAMED]:
            say(f"         - {_named(group.pods)}{f': {group.detail}' if group.detail else ''}")
        if len(reason.groups) > _NAMED:
            say(f"         - and {sum(len(group.pods) for group in reason.groups[_NAMED:])} more")
        if reason.advice:
            say(f"         To do: {reason.advice}")
    if result.unexplained:
        say()
        say(f"{result.unexplained} more pods are not explained: only the largest {len(result.groups)} groups of equal pods are.")
    if result.reasons:
        first = result.reasons[0].groups[0].pods[0]
        say()
        say(f"For the nodes behind a reason and the smallest change that places a pod, name it: schedviz explain {first} …")
    _print_release(result.release)


def _print_json(value: Any) -> None:
    import msgspec

    say_json(msgspec.json.format(msgspec.json.encode(value), indent=2).decode())


def _print_text(explanation: Explanation, change: SmallestChange | None) -> None:
    say(explanation.sentence)
    if explanation.message and explanation.nodes:
        say()
        say(explanation.message)
    if explanation.disagreement:
        say()
        since = f" (unschedulable since {explanation.said_since})" if explanation.said_since else ""
        say(f"The cluster's scheduler reported{since}: {explanation.said}")
        say(f"They differ: {explanation.disagreement}.")
    elif explanation.said and explanation.said == explanation.message:
        say("The cluster's scheduler reported the same message.")
    elif explanation.said:
        say()
        say(f"The cluster's scheduler reported: {explanation.said}")
    _print_findings(explanation.findings)
    _print_clauses(explanation.clauses)
    if explanation.for_ever:
        say()
        say(f"Likely: {explanation.cause}")
        say(f"Do: {explanation.advice}")
    if explanation.extenders_not_asked:
        say()
        say(f"Not called: {_named(explanation.extenders_not_asked)}, whose filter may also reject nodes.")
    for room in explanation.room:
        how = "; preemption would remove them" if room.by_preemption else ""
        say(f"  room on {room.node} without {_named(room.pods)}{how}")
    _print_queue(explanation)
    if explanation.alike:
        say()
        say(f"The same applies to {len(explanation.alike)} more: {_named(explanation.alike)}")
    if change is not None:
        _print_change(change)
    _print_release(explanation.release)


def _print_release(release: str) -> None:
    if release:
        say()
        say(f"Simulated: kube-scheduler {release}.")


def _print_clauses(clauses: Any) -> None:
    for clause in clauses:
        say()
        say(f"  {clause.count or '':>6} {clause.reason}  [{_source(clause)}]")
        if clause.meaning:
            say(f"         {clause.meaning}")
        for detail in clause.details:
            say(f"         - {detail.sentence}")
        # Usual causes stand in for the numbers of this case.
        for cause in () if clause.details else clause.causes:
            say(f"         - {cause}")
        if clause.advice:
            say(f"         do: {clause.advice}")
        if clause.nodes:
            say(f"         on {_named(clause.nodes)}")


def _source(clause: Any) -> str:
    """The plugin that gives a reason, and the release if only one of them words it so."""
    only = f", {clause.releases[0]} only" if len(clause.releases) == 1 else ""
    return (clause.plugin or "unknown plugin") + only


def _print_findings(findings: Sequence[Finding]) -> None:
    for finding in findings:
        say()
        say(f"Doctor: {finding.sentence}.")
        if finding.cause:
            say(f"  likely: {finding.cause}")
        if finding.advice:
            say(f"  do: {finding.advice}")


def _print_queue(explanation: Explanation) -> None:
    queue_place = explanation.queue
    if queue_place is None:
        return
    say()
    attempts = f"tried {_times(queue_place.attempts)}" if queue_place.attempts else "not tried yet"
    say(f"In the simulation, it is in {queue_place.queue}, {attempts}.")
    if queue_place.gating_plugin and queue_place.gating_reason:
        say(f"{queue_place.gating_plugin} holds it back: {queue_place.gating_reason}")
    if queue_place.wakes:
        say(f"Events that would requeue it: {', '.join(sorted({wake.event for wake in queue_place.wakes}))}")


def _print_change(change: SmallestChange) -> None:
    say()
    say(change.sentence)
    for suggestion in change.suggestions:
        title = " and ".join(change.what for change in suggestion.changes)
        how = "its group runs on" if suggestion.effect == "groupRuns" else "fits on"
        say(f"  - {title}: {how} {suggestion.fits} ({_named(suggestion.nodes, of=suggestion.fits)})")
        for each in suggestion.changes:
            if each.kubectl:
                say(f"      {each.kubectl}")
    tried = ", ".join(f"{count} {kind}" for kind, count in change.tried.items())
    if tried:
        say(f"Tried {change.dry_runs} in {change.seconds:.2f} s ({tried}).")


def _print_message(message: Message, clauses: Any) -> None:
    if message.nodes:
        say(f"0 of {message.nodes} nodes fit.")
    if message.pre_filter:
        say(f"  {message.pre_filter}")
    _print_clauses(clauses)
    if message.finding:
        say()
        say(message.finding)
    if message.wording:
        say()
        say(message.wording)
    if message.preemption:
        say()
        say("Preemption:")
        _print_clauses(message.preemption)


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def _named(names: Any, *, of: int | None = None) -> str:
    count = len(names) if of is None else of
    more = count - min(_NAMED, len(names))
    return ", ".join(names[:_NAMED]) + (f" and {more} more" if more > 0 else "")
