"""Explanations, overviews and messages as text: the conclusion first, then what would help, then the evidence."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING, Final

import msgspec

from schedviz.explain.advice_label import NEXT_STEP, AdviceLabels
from schedviz.terminal import say, say_wrapped
from schedviz.trace.phrase import as_sentence, whole_sentence

if TYPE_CHECKING:
    from schedviz.explain.changes import SmallestChange
    from schedviz.explain.changes.change import ChangeView
    from schedviz.explain.changes.search import Suggestion
    from schedviz.explain.details.detail import AnyDetail
    from schedviz.explain.doctor import Examination
    from schedviz.explain.explanation import Clause, Explanation
    from schedviz.explain.finding import Finding
    from schedviz.explain.messages.parsed_message import Message, ParsedMessage
    from schedviz.explain.pasted.pod_answer import PodAnswer
    from schedviz.explain.pasted.pod_groups import PodGroup
    from schedviz.explain.pasted.text_reading import TextReading
    from schedviz.explain.pending.overview import Overview
    from schedviz.explain.pending.pending_group import PendingGroup
    from schedviz.explain.pending.waiting_reason import WaitingReason

#: Nodes named per line.
_MAX_NAMED: Final = 5
#: Groups of a reason in the overview.
_MAX_GROUPS: Final = 5
#: What precedes the scheduler's own words.
_SCHEDULER: Final = "kube-scheduler: "
#: The page says the same (`paste.several`).
_SEVERAL_REASONS: Final = "Some nodes were rejected for more than one reason, so the counts add up to more than the number of nodes."
#: The most nodes that are drawn as bars, and the characters of a bar.
_MAX_BARS: Final = 3
_BAR_LENGTH: Final = 24
#: Changes that are printed at first.
_MAX_CHANGES: Final = 3


def print_explanation(explanation: Explanation, change: SmallestChange | None, *, every_change: bool = True) -> None:
    """The sentence, the changes that would place the pod, the reasons with their nodes, the message, and the queue.

    `every_change`: not only the first few.
    """
    say_wrapped(explanation.sentence, bold=True)
    if explanation.alike:
        more = len(explanation.alike)
        say_wrapped(f"The same applies to {more} other pod{'' if more == 1 else 's'}: {named(explanation.alike)}")
    if explanation.advice_of_sentence:
        say_wrapped(f"{NEXT_STEP} {whole_sentence(explanation.advice_of_sentence)}")
    _print_findings(explanation.findings_to_read)
    if explanation.for_ever:
        _title("Nominated forever")
        say_wrapped(f"Cause: {whole_sentence(explanation.cause)}", indent=2)
        say_wrapped(f"{NEXT_STEP} {whole_sentence(explanation.advice)}", indent=2)
    elif explanation.standing in ("gated", "ignored") and explanation.advice:
        say_wrapped(f"{NEXT_STEP} {whole_sentence(explanation.advice)}")
    if change is not None:
        _print_change(change, every_change=every_change)
    changes = (each for suggestion in (change.suggestions if change is not None else ()) for each in suggestion.changes)
    if explanation.room and all(each.kind != "victim" for each in changes):
        _title("Evicting these pods would make room")
        for room in explanation.room:
            them, their = ("it", "its") if len(room.pods) == 1 else ("them", "their")
            how = f"preemption can evict {them}"
            if not room.by_preemption:
                how = f"preemption does not evict {them}: {their} priority is {room.highest_priority}"
            say_wrapped(f"{named(room.pods)} on {room.node}; {how}", indent=2)
    if explanation.clauses:
        _title("Reasons after the gates are removed" if explanation.standing == "gated" else "Reasons")
        # Verified changes say what to do: general advice would repeat or contradict them.
        _print_clauses(
            explanation.clauses_to_read, AdviceLabels(), advised=change is not None and bool(change.suggestions), said=explanation.sentence
        )
    if explanation.extenders_not_asked:
        say()
        say_wrapped(f"Extenders that were not called and may also reject nodes: {named(explanation.extenders_not_asked)}")
    _print_said(explanation)
    if explanation.nodes or (explanation.queue is not None and explanation.queue.attempts):
        # A pod that was never tried, in a dump without nodes, was not simulated.
        _print_queue(explanation)
        print_release(explanation.release)


def print_overview(found: Overview, command: str) -> None:
    """Each reason with its pods and their numbers, and what to do about it. `command` explains a pod that is named after it."""
    say_wrapped(found.sentence, bold=True)
    if found.note:
        say_wrapped(found.note)
        say(f"  {found.command}", fg="cyan")
    if found.common:
        say()
        say_wrapped(f"All of them: {'; '.join(clause.headline or clause.reason for clause in found.common)}")
        for clause in found.common:
            say_wrapped(f"- {whole_sentence(clause.advice)}", indent=2)
    for reason in found.reasons:
        say()
        say_wrapped(f"{_pods(reason.count):>8}  {as_sentence(reason.headline)}", hanging=10, bold=True)
        if reason.is_quoted and not all(reason.reason in group.detail for group in reason.groups):
            say_wrapped(f"{_SCHEDULER}{reason.reason}", indent=10, dim=True)
        for (said, event, changes, effect), alike in groupby(reason.groups[:_MAX_GROUPS], partial(_said_of, reason)):
            _print_groups(alike, said, event)
            if changes:
                _print_todo(changes, effect, NEXT_STEP)
        if len(reason.groups) > _MAX_GROUPS:
            say(f"          and {sum(len(group.pods) for group in reason.groups[_MAX_GROUPS:])} more")
        labels = AdviceLabels()
        if reason.changes:
            _print_todo(reason.changes, reason.effect, labels.next())
        elif reason.advice:
            say_wrapped(f"{labels.next()} {whole_sentence(reason.advice)}", indent=10)
        for clause in found.other_reasons(reason):
            also = "" if reason.groups[0].is_about_all else "Also: "
            say_wrapped(as_sentence(f"{also}{clause.headline or clause.reason}"), hanging=10, indent=10)
            say_wrapped(f"{labels.next()} {whole_sentence(clause.advice)}", indent=10)
    if found.unexplained:
        say()
        say_wrapped(f"{found.unexplained} more pods are not explained: only the largest {len(found.groups)} groups of identical pods are.")
    if found.reasons and not found.note:
        say()
        first = found.reasons[0].groups[0].pods[0]
        say("For fixes and affected nodes, run:", dim=True)
        say(f"  {command} {first}", fg="cyan")
    print_release(found.release)


def _said_of(reason: WaitingReason, group: PendingGroup) -> tuple[str, str, Sequence[ChangeView], str]:
    """What is printed about a group below its reason: its numbers, its autoscaler's event, and what to do with the effect of that."""
    if reason.changes or not group.changes:
        return reason.besides(group), group.event, (), ""
    return reason.besides(group), group.event, group.changes, group.effect


def _print_groups(alike: Iterable[PendingGroup], said: str, event: str) -> None:
    pods = [pod for group in alike for pod in group.pods]
    say_wrapped(f"{named(pods)}{f': {said}' if said else ''}", indent=10)
    if event:
        say_wrapped(as_sentence(event), indent=12)


def _print_todo(changes: Sequence[ChangeView], effect: str, label: str) -> None:
    from schedviz.explain.changes.change import what_to_do

    say_wrapped(f"{label} {whole_sentence(what_to_do(changes) + (f'; {effect}' if effect else ''))}", indent=10)
    for change in changes:
        _print_how(change, indent=10)


def _print_how(change: ChangeView, *, indent: int) -> None:
    """The consequence of a change, and its command or YAML."""
    if change.consequence:
        say_wrapped(f"Note: {whole_sentence(change.consequence)}", indent=indent, dim=True)
    # Lines that are wrapped could not be copied.
    for line in ([change.kubectl] if change.kubectl else []) + change.yaml.splitlines():
        say(f"{' ' * indent}{line}", fg="cyan")


def print_verdicts(examinations: Sequence[Examination]) -> None:
    """The doctor's verdict on each comparison in which something differs."""
    from schedviz.explain.doctor.verdict import verdict

    for examination in examinations:
        if examination.differences:
            say_wrapped(as_sentence(verdict(examination).text), bold=True)
            say("To list the differences, run `schedviz doctor` with the same files.")
            say()


def print_messages(reading: TextReading, groups: Sequence[PodGroup]) -> None:
    """The pods of a text, each group with what to read first about it, its newest messages, and the earlier ones as quotes."""
    if not groups:
        say("No event in the files is about scheduling.", bold=True)
    for number, group in enumerate(groups):
        if number:
            say()
        _print_group(group, reading)
    if reading.others:
        say()
        say_wrapped(f"{as_sentence(reading.others)}.")


def _print_group(group: PodGroup, reading: TextReading) -> None:
    """The pods of a group, with what to read first about them, their messages as explanations or quotes, and the earlier ones."""
    latest, pods, labels = reading.messages[group.latest], max(1, len(group.pods)), AdviceLabels()
    answer = reading.answers[group.answer] if group.answer is not None else None
    # Without a sentence, a note follows the message that it is about.
    leads = answer is not None and bool(answer.sentence or answer.note)
    say(f"{_title_of(group.pods)}{'' if leads else _sent(latest)}:", bold=True)
    print_answer(answer, labels, pods=pods)
    if not group.is_over:
        if group.latest in group.quoted:
            _print_quote(latest.writer, latest)
        else:
            if leads:
                _print_writer(latest)
            print_message(latest.message, latest.message.clauses, labels, pods=pods, answered=answer is not None and bool(answer.sentence))
            if answer is not None and answer.note and not answer.sentence:
                say()
                say_wrapped(answer.note)
        for index in group.beside:
            say()
            each = reading.messages[index]
            if index in group.quoted:
                _print_quote(each.writer, each)
            else:
                _print_writer(each)
                print_message(each.message, each.message.clauses, labels, pods=pods)
    _print_other_messages(group, reading)


def _print_other_messages(group: PodGroup, reading: TextReading) -> None:
    """The messages of a group that are not explained: those of its other pods, those that no longer apply, and the earlier ones."""
    from schedviz.explain.messages.parsed_message import shown_name
    from schedviz.kube.pod_status import PLACED, STATUS

    latest = reading.messages[group.latest]
    # What stands in place of a message of a pod with a node is not shown: the answer says it.
    over = [latest] if group.is_over and not latest.text.startswith((PLACED, STATUS)) else []
    others = [reading.messages[index] for index in group.others]
    earlier = [*over, *(reading.messages[index] for index in group.earlier)]
    quotes = [*((shown_name(each.pod), each) for each in others), *(("Earlier", each) for each in earlier)]
    for number, (title, each) in enumerate(quotes):
        if number or not group.is_over:
            say()
        _print_quote(title, each)


def _print_writer(message: ParsedMessage) -> None:
    say(f"{message.writer or 'kube-scheduler'}{_sent(message)}:", dim=True)


def _print_quote(title: str, message: ParsedMessage) -> None:
    say_wrapped(f"{title}{_sent(message)}: {message.text}", dim=True)


def _sent(message: ParsedMessage) -> str:
    return f", {message.at}" if message.at else ""


def _title_of(pods: Sequence[str]) -> str:
    """The pods of a group: their name, or their number and names."""
    from schedviz.explain.messages.parsed_message import shown_name

    names = [*map(shown_name, pods)]
    return f"{_pods(len(names))} ({named(names)})" if len(names) > 1 else named(names) or "Unnamed pod"


def print_answer(answer: PodAnswer | None, labels: AdviceLabels, *, pods: int = 1) -> None:
    """What to read first about a pod of a text, or about as many `pods` with the same messages; nothing for None."""
    from schedviz.explain.pasted.in_plural import in_plural

    if answer is None or not answer.sentence:
        return
    say_wrapped(in_plural(answer.sentence, pods), bold=True)
    if answer.advice:
        say_wrapped(f"{labels.next()} {whole_sentence(in_plural(answer.advice, pods))}")
    if answer.note:
        say_wrapped(in_plural(answer.note, pods))
    say()


def print_message(
    message: Message, clauses: Iterable[Clause], labels: AdviceLabels, *, release: str = "", pods: int = 1, answered: bool = False
) -> None:
    """The clauses of a message, and what its counts say. `release`: the simulated one, if the message is compared with it.

    `pods`: how many pods have the same message. `answered`: the answer above begins with the scheduler's reasons.
    """
    from schedviz.explain.messages.parsed_message import whole_headline
    from schedviz.explain.no_node import no_node_sentence
    from schedviz.explain.pasted.in_plural import in_plural

    clauses = [
        msgspec.structs.replace(
            clause,
            headline=in_plural(clause.headline, pods),
            meaning=in_plural(clause.meaning, pods),
            advice=in_plural(clause.advice, pods),
        )
        for clause in clauses
    ]

    if message.nodes and not message.conclusion and not answered and not whole_headline(message):
        say(in_plural(f"{no_node_sentence(message.nodes).text}.", pods))
    if message.conclusion:
        say_wrapped(in_plural(message.conclusion, pods), bold=True)
    if message.first:
        say_wrapped(f"{labels.next()} {whole_sentence(in_plural(message.first, pods))}", bold=True)
    if message.pre_filter:
        say_wrapped(message.pre_filter, indent=2)
    _print_clauses(clauses, labels)
    wording = message.wording if release and release not in message.wording else ""
    several = _SEVERAL_REASONS if message.unaccounted < 0 and message.nodes > 1 and not message.finding else ""
    for note in filter(None, (several, message.finding, wording)):
        say()
        say_wrapped(note)
    if preemption := message.preemption_to_read:
        _title("Preemption result")
        for clause in preemption:
            if clause.headline:
                say_wrapped(f"{as_sentence(clause.headline)} ({clause.reason})", hanging=2, indent=2, dim=True)
                continue
            count = f"{_nodes(clause.count):>8}  " if clause.count else " " * 10
            say_wrapped(f"{count}{clause.reason}{f': {clause.meaning}' if clause.meaning else ''}", hanging=10, dim=True)


def print_release(release: str) -> None:
    """What was simulated."""
    if release:
        say()
        say(f"Simulated: kube-scheduler {release}.", dim=True)


def _title(text: str) -> None:
    say()
    say(text, bold=True)


def _print_change(change: SmallestChange, *, every_change: bool) -> None:
    if not change.suggestions:
        say()
        say_wrapped(change.sentence)
        return
    _title("Changes that make the pod schedulable")
    shown = change.suggestions if every_change else change.suggestions[:_MAX_CHANGES]
    for suggestion in shown:
        say_wrapped(as_sentence(" and ".join(each.what for each in suggestion.changes)), indent=2)
        how = "its group runs on" if suggestion.effect == "groupRuns" else "fits on"
        if suggestion.fits and (suggestion.together or not _names_its_nodes(suggestion)):
            together = f"; {suggestion.together}" if suggestion.together else ""
            say_wrapped(f"{how} {_nodes(suggestion.fits)}: {named(suggestion.nodes, of=suggestion.fits)}{together}", indent=4)
        for each in suggestion.changes:
            _print_how(each, indent=4)
    more = len(change.suggestions) - len(shown)
    others = f"; {more} more: --all-changes" if more else ""
    say_wrapped(f"Each change was verified by a dry run{others}.", indent=2, dim=True)


def _names_its_nodes(suggestion: Suggestion) -> bool:
    """Whether the changes name all nodes on which the pod would fit. The name of an added node is made up."""
    what = " ".join(change.what for change in suggestion.changes)
    is_new = all(change.kind == "node" for change in suggestion.changes)
    return is_new or (suggestion.fits == len(suggestion.nodes) and all(node in what for node in suggestion.nodes))


def _print_clauses(clauses: Iterable[Clause], labels: AdviceLabels, *, advised: bool = False, said: str = "") -> None:
    """`advised`: what stands above says what to do. `said`: what stands above; a headline that it contains is not repeated."""
    from schedviz.explain.messages.combined_clauses import is_of_several_taints, quoted_reasons
    from schedviz.explain.messages.explained_clause import is_about_nodes
    from schedviz.explain.messages.parsed_message import writer_of

    clauses = list(clauses)
    for clause in clauses:
        if clause.is_aside:
            continue
        say()
        writer = writer_of(clause)
        # A reason of the scheduler itself has no plugin, and is known.
        plugin = clause.plugin or ("" if clause.headline else "unknown plugin")
        plugin = "" if writer or not plugin else f"  [{plugin}]"
        # A message about a claim counts no nodes.
        quote = f"{f'{clause.count} × ' if clause.count and is_about_nodes(clause) else ''}{clause.reason}{plugin}"
        if clause.headline and clause.headline in said:
            say_wrapped(f"{writer}: {quote}" if writer else f"{_SCHEDULER}{quote}", hanging=2, indent=2, bold=True)
        elif clause.headline:
            say_wrapped(as_sentence(clause.headline), hanging=2, indent=2, bold=True)
            for reason in quoted_reasons(clause) if is_of_several_taints(clause) else [quote]:
                say_wrapped(f"{f'{writer}: ' if writer else _SCHEDULER}{reason}", indent=4, dim=True)
        else:
            say_wrapped(quote, hanging=2, indent=2)
        if not clause.details and clause.meaning and not clause.headline:
            say_wrapped(whole_sentence(clause.meaning), indent=4)
        for detail in clause.details:
            if detail.sentence not in clause.headline:
                say_wrapped(whole_sentence(detail.sentence), indent=4)
            _print_bars(detail)
        # Usual causes stand in for the numbers of this case.
        if clause.causes and not clause.details:
            say("    Common causes:" if len(clause.causes) > 1 else "    Common cause:")
        for cause in () if clause.details else clause.causes:
            say_wrapped(f"- {whole_sentence(cause)}", indent=4)
        if clause.nodes and is_about_nodes(clause):
            say_wrapped(f"on {named(clause.nodes)}", indent=4, dim=True)
        if clause.advice and not advised:
            say_wrapped(f"{labels.next()} {whole_sentence(clause.advice)}", indent=4)
    if asides := [clause for clause in clauses if clause.is_aside]:
        say()
        say("  Other nodes", dim=True)
        for clause in asides:
            say_wrapped(f"- {whole_sentence(clause.headline or f'{clause.count} {clause.reason}')}", hanging=2, indent=4, dim=True)


def _print_bars(detail: AnyDetail) -> None:
    """What is used of a resource on the nearest nodes, as bars."""
    from schedviz.explain.details.detail import ResourceDetail
    from schedviz.kube.printed_amount import printed_amount

    if not isinstance(detail, ResourceDetail):
        return
    nodes = [node for node in detail.nodes[:_MAX_BARS] if node.allocatable]
    width = max((len(node.node) for node in nodes), default=0)
    for node in nodes:
        used = min(_BAR_LENGTH, round(_BAR_LENGTH * node.used / node.allocatable))
        free = printed_amount(detail.resource, max(0, node.allocatable - node.used))
        amounts = f"{free} free of {printed_amount(detail.resource, node.allocatable)}"
        say(f"    {node.node:<{width}}  {'█' * used}{'░' * (_BAR_LENGTH - used)}  {amounts}")


def _print_said(explanation: Explanation) -> None:
    """The message that the cluster's scheduler wrote, and the simulated one where it says something else."""
    from schedviz.explain.messages.parsed_message import one_full_stop, preemption_differs

    message = explanation.message if explanation.nodes else ""
    if not message and not explanation.said:
        return
    if not explanation.said or explanation.is_said_by_simulation:
        _title("Scheduler message (simulated)")
        say_wrapped(one_full_stop(message or explanation.said), indent=2)
        return
    since = f" (unschedulable since {explanation.said_since})" if explanation.said_since else ""
    _title(f"Scheduler message in your cluster{since}")
    say_wrapped(explanation.said, indent=2)
    if explanation.disagreement:
        say_wrapped(f"In the simulation: {one_full_stop(message)}", indent=2, dim=True)
        say_wrapped(f"The simulation differs: {explanation.disagreement}.", indent=2)
    elif message == explanation.said:
        say_wrapped("The simulation gives the same message.", indent=2, dim=True)
    elif preemption_differs(message, explanation.said):
        say_wrapped(
            "The simulation gives the same reasons. The part about preemption is not compared because it depends on the release.",
            indent=2,
            dim=True,
        )
    elif message:
        say_wrapped("The simulation gives the same reasons.", indent=2, dim=True)


def _print_findings(findings: Sequence[Finding]) -> None:
    for finding in findings:
        say()
        say_wrapped(f"Finding: {whole_sentence(finding.sentence)}")
        if finding.cause:
            say_wrapped(f"Cause: {whole_sentence(finding.cause)}", indent=2)
        if finding.advice:
            say_wrapped(f"{NEXT_STEP} {whole_sentence(finding.advice)}", indent=2)


def _print_queue(explanation: Explanation) -> None:
    place = explanation.queue
    if place is None or not place.attempts:
        # The queue of a simulation that has just started is nothing to know about a cluster.
        return
    say()
    say(f"In the simulation, the pod is in {place.queue} and was tried {_times(place.attempts)}.", dim=True)
    if place.wakes:
        say_wrapped(f"Events that may requeue it: {', '.join(sorted({wake.event for wake in place.wakes}))}", dim=True)


def _nodes(count: int) -> str:
    return f"{count} node{'' if count == 1 else 's'}"


def _pods(count: int) -> str:
    return f"{count} pod{'' if count == 1 else 's'}"


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def named(names: Sequence[str], *, of: int | None = None) -> str:
    """The first names, and how many more there are; `of`: how many in all, if `names` are not all."""
    count = len(names) if of is None else of
    more = count - min(_MAX_NAMED, len(names))
    return ", ".join(names[:_MAX_NAMED]) + (f" and {more} more" if more > 0 else "")
