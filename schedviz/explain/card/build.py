"""Makes the card of an explanation or an overview."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from schedviz.explain.advice_label import NEXT_STEP, AdviceLabels
from schedviz.explain.card.model import Bar, Card, Chart, Fix, Line, Reason
from schedviz.explain.card.visible import visible_card
from schedviz.explain.changes.change import ChangeView, what_to_do
from schedviz.explain.changes.search import SmallestChange, Suggestion
from schedviz.explain.details.detail import AnyDetail, ResourceDetail, SpreadDetail
from schedviz.explain.explanation import Clause, Explanation
from schedviz.explain.finding import Finding
from schedviz.explain.messages.explained_clause import is_about_nodes
from schedviz.explain.messages.parsed_message import ParsedMessage, one_full_stop, shown_name, whole_headline, writer_of
from schedviz.explain.messages.reasons import meaning_of
from schedviz.explain.no_node import no_node_sentence
from schedviz.explain.pasted.answering import says_all
from schedviz.explain.pasted.in_plural import in_plural
from schedviz.explain.pasted.pod_answer import PodAnswer
from schedviz.explain.pending.overview import Overview
from schedviz.explain.pending.pending_group import PendingGroup
from schedviz.explain.pending.waiting_reason import WaitingReason
from schedviz.explain.reason_tables.creation import API_SERVER
from schedviz.explain.reason_tables.kubelet import KUBELET
from schedviz.explain.reason_tables.whole import SCHEDULER_LOG, TABLE_OF_PODS
from schedviz.explain.sentence import answer_of
from schedviz.kube.printed_amount import printed_amount
from schedviz.trace.phrase import as_sentence, whole_sentence

#: Groups per reason of an overview; the pods of others are counted.
_MAX_GROUPS: Final = 5
#: The state of what a message is about if a scheduler did not write it: of the owner of pods, or of a scheduler that does not run.
_STANDINGS: Final = {API_SERVER: "lacking pods", TABLE_OF_PODS: "not running", SCHEDULER_LOG: "stopped", KUBELET: "not running"}


def card_of_pod(explanation: Explanation, change: SmallestChange | None, *, origin: str = "") -> Card:
    """The card of one pod. `change` is None if none was looked for; `origin` as in `Card`."""
    fixes = tuple(map(_fix, change.suggestions)) if change is not None else ()
    card = Card(
        subject=explanation.pod,
        standing=explanation.standing,
        sentence=answer_of(explanation),
        unit="nodes",
        reasons=tuple(
            _reason(clause, advised=bool(fixes), said=explanation.sentence) for clause in explanation.clauses_to_read if not clause.is_aside
        ),
        others=_others(explanation.clauses),
        other_nodes=sum(clause.count for clause in explanation.clauses if clause.is_aside),
        message=one_full_stop(explanation.message) if explanation.nodes else "",
        said="" if explanation.is_said_by_simulation else one_full_stop(explanation.said),
        disagreement=explanation.disagreement,
        said_since=explanation.said_since,
        findings=tuple(map(_finding, explanation.findings_to_read)),
        todo=whole_sentence(explanation.advice_of_sentence),
        fixes=fixes,
        release=explanation.release,
        origin=origin,
    )
    return visible_card(card)


def card_of_overview(overview: Overview, *, origin: str = "") -> Card:
    """The card of all pending pods. `origin` as in `Card`."""
    reasons = (*(_waiting(reason, overview.other_reasons(reason)) for reason in overview.reasons), *map(_reason, overview.common))
    card = Card(
        subject="",
        standing="",
        sentence=overview.sentence,
        unit="pods",
        reasons=reasons,
        release=overview.release,
        origin=origin,
        simulated=not overview.note,
    )
    return visible_card(card)


def card_of_message(
    pod_message: ParsedMessage,
    *,
    autoscaler_messages: Sequence[ParsedMessage] = (),
    answer: PodAnswer | None = None,
    pods: Sequence[str] = (),
    origin: str = "",
) -> Card:
    """The card of a scheduler's message that came without its cluster, and of autoscalers' messages. `origin` as in `Card`.

    `answer`: what to read before the message; None: nothing. `pods`: all those about which the messages say the same.
    """
    autoscaler_clauses = [clause for each in autoscaler_messages if not says_all(answer, each) for clause in each.message.clauses]
    message = pod_message.message
    general = f"{no_node_sentence(message.nodes).text}."
    if not message.nodes:
        # Without nodes, the first reason says it all: below the name of the pod, it is not said twice.
        named = any(clause.headline for clause in message.clauses)
        general = "" if pod_message.pod and named else as_sentence(message.clauses[0].headline) if named else "The pod is pending"
    is_answered = answer is not None and bool(answer.sentence)
    if answer is not None and is_answered:
        sentence, todo = answer.sentence, answer.advice
    else:
        sentence, todo = message.conclusion or whole_sentence(whole_headline(message)), message.first
    said = "" if is_answered or message.conclusion else whole_headline(message)
    is_over = answer is not None and answer.is_over
    standing = answer.standing if answer is not None and is_over else _standing(pod_message)
    # An image has room for few reasons: the one that the answer names comes before those of the scheduler.
    first = 1 if is_answered else 0
    # What the answer says about an autoscaler's own message is not said twice.
    own = () if says_all(answer, pod_message) else message.clauses
    clauses = (*autoscaler_clauses[:first], *own, *autoscaler_clauses[first:])
    card = Card(
        subject=shown_name(pod_message.pod),
        standing=standing if pod_message.pod else "",
        sentence=sentence or general,
        unit="nodes",
        reasons=() if is_over else tuple(_reason(clause, meaning=True, said=said) for clause in clauses if not clause.is_aside),
        todo=whole_sentence(todo) if todo else "",
        note=answer.note if answer is not None else "",
        others="" if is_over else _others(message.clauses),
        other_nodes=0 if is_over else sum(clause.count for clause in clauses if clause.is_aside),
        conclusion=message.conclusion if is_answered and not is_over else "",
        message="\n".join(
            " ".join(said.split()) for said in (pod_message.text, *(f"{each.writer}: {each.text}" for each in autoscaler_messages))
        ),
        findings=(message.finding,) if message.finding else (),
        origin=origin,
        simulated=False,
    )
    return visible_card(_about(card, pods) if len(pods) > 1 else card)


def _standing(said: ParsedMessage) -> str:
    kinds = {meaning.kind for clause in said.message.clauses if (meaning := meaning_of(clause.reason)) is not None}
    if said.writer == KUBELET and "rejected" in kinds:
        return "rejected"
    if said.writer == KUBELET and "evicted" in kinds:
        return "evicted"
    return _STANDINGS.get(said.writer, "pending")


def _about(card: Card, pods: Sequence[str]) -> Card:
    """The card of one of several pods as that of all of them."""

    def plural(text: str) -> str:
        return in_plural(text, len(pods))

    reasons = tuple(
        msgspec.structs.replace(
            reason,
            headline=plural(reason.headline),
            todo=plural(reason.todo),
            lines=tuple(msgspec.structs.replace(line, text=plural(line.text)) for line in reason.lines),
        )
        for reason in card.reasons
    )
    return msgspec.structs.replace(
        card,
        subject=f"{len(pods)} pods",
        pods=tuple(map(shown_name, pods)),
        sentence=plural(card.sentence),
        todo=plural(card.todo),
        note=plural(card.note),
        others=plural(card.others),
        conclusion=plural(card.conclusion),
        reasons=reasons,
    )


def _finding(finding: Finding) -> str:
    cause = f" Cause: {whole_sentence(finding.cause)}" if finding.cause else ""
    advice = f" {NEXT_STEP} {whole_sentence(finding.advice)}" if finding.advice else ""
    return f"{whole_sentence(finding.sentence)}{cause}{advice}"


def _others(clauses: Sequence[Clause]) -> str:
    return "; ".join(clause.headline or f"{clause.count} {clause.reason}" for clause in clauses if clause.is_aside)


def _reason(clause: Clause, *, meaning: bool = False, advised: bool = False, said: str = "") -> Reason:
    """With `meaning`, explains the reason if there are no numbers. `advised`: verified changes say what to do.

    `said`: the card's sentence; a headline that it contains is not repeated.
    """
    sentences = [clause.meaning] if meaning and clause.meaning and not clause.headline else []
    sentences += [detail.sentence for detail in clause.details if not meaning and detail.sentence not in clause.headline]
    return Reason(
        count=clause.count,
        reason=clause.reason,
        headline="" if clause.headline in said else as_sentence(clause.headline),
        plugin=clause.plugin,
        writer=writer_of(clause) or "kube-scheduler",
        lines=tuple(map(Line, map(whole_sentence, sentences))),
        todo="" if advised else whole_sentence(clause.advice),
        nodes=clause.nodes if is_about_nodes(clause) else (),
        charts=tuple(chart for detail in clause.details for chart in _charts(detail)),
    )


def _charts(detail: AnyDetail) -> Iterator[Chart]:
    if isinstance(detail, ResourceDetail) and any(node.allocatable for node in detail.nodes):
        nodes = (Bar(node.node, node.used, node.allocatable, _free(detail.resource, node.allocatable, node.used)) for node in detail.nodes)
        yield Chart("resource", detail.requested, tuple(nodes))
    if isinstance(detail, SpreadDetail) and detail.domains:
        domains = (Bar(domain.domain, domain.pods, detail.most, f"{domain.pods} of at most {detail.most}") for domain in detail.domains)
        yield Chart("spread", 1, tuple(domains))


def _free(resource: str, allocatable: int, used: int) -> str:
    return f"{printed_amount(resource, max(0, allocatable - used))} of {printed_amount(resource, allocatable)} free"


def _fix(suggestion: Suggestion) -> Fix:
    title = " and ".join(change.what for change in suggestion.changes)
    besides = dict.fromkeys(change.consequence for change in suggestion.changes if change.consequence)
    effects = "; ".join(filter(None, (_effect(suggestion), suggestion.together)))
    return Fix(
        whole_sentence(title),
        " ".join(filter(None, (whole_sentence(effects), *(f"Note: {whole_sentence(consequence)}" for consequence in besides)))),
        _commands(suggestion.changes),
    )


def _commands(changes: Sequence[ChangeView]) -> tuple[str, ...]:
    """What to paste: commands, and YAML for the pod's template."""
    return tuple(text for change in changes for text in (change.kubectl, change.yaml.rstrip()) if text)


def _effect(suggestion: Suggestion) -> str:
    match suggestion.effect:
        case "endsNomination":
            return "ends its nomination"
        case "makesRoom":
            return f"preemption makes room on {suggestion.nodes[0]}" if suggestion.nodes else "preemption makes room"
        case "groupRuns":
            return f"its pod group runs on {suggestion.fits:,} node{'' if suggestion.fits == 1 else 's'}"
    return f"fits on {suggestion.fits:,} node{'' if suggestion.fits == 1 else 's'}" if suggestion.fits else ""


def _waiting(reason: WaitingReason, others: Sequence[Clause]) -> Reason:
    lines = [Line(_line_of(reason, group), group.pods) for group in reason.groups[:_MAX_GROUPS]]
    if remaining := sum(len(group.pods) for group in reason.groups[_MAX_GROUPS:]):
        lines.append(Line(f"and {remaining:,} more"))
    also = "" if reason.groups[0].is_about_all else "Also: "
    todo = whole_sentence("; ".join(filter(None, (what_to_do(reason.changes) or reason.advice, reason.effect))))
    labels = AdviceLabels()
    if todo:
        labels.next()
    lines += [
        Line(f"{as_sentence(f'{also}{clause.headline or clause.reason}')}. {labels.next()} {whole_sentence(clause.advice)}")
        for clause in others
    ]
    return Reason(
        count=reason.count,
        reason=reason.reason if reason.is_quoted else as_sentence(reason.reason),
        headline=as_sentence(reason.headline) if reason.is_quoted and reason.headline != reason.reason else "",
        lines=tuple(lines),
        todo=todo,
        caution=" ".join(dict.fromkeys(whole_sentence(change.consequence) for change in reason.changes if change.consequence)),
        commands=_commands(reason.changes),
    )


def _line_of(reason: WaitingReason, group: PendingGroup) -> str:
    """The numbers of the group, and what would place it if that is not said once for the reason."""
    todo = (
        ""
        if reason.changes or not (group.changes or group.effect)
        else f"{NEXT_STEP} {whole_sentence('; '.join(filter(None, (what_to_do(group.changes), group.effect))))}"
    )
    return ". ".join(filter(None, (reason.besides(group), todo)))
