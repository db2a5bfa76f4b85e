"""`WaitingReason`: groups of pending pods with the same reason, or that the same change would place."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from schedviz.explain.changes.change import ChangeView, what_to_do
from schedviz.explain.details.clause_details import ALSO_LACKING
from schedviz.explain.details.resources import TOO_LARGE
from schedviz.explain.details.short_names import ShortNames
from schedviz.explain.explanation import Part
from schedviz.explain.meaning import Named
from schedviz.explain.messages.reasons import general_advice, meaning_of
from schedviz.explain.pending.pending_group import PendingGroup
from schedviz.explain.pending.reason_names import JOINED, TRIED_SOON, as_phrase, in_general, is_quoted
from schedviz.explain.resource_names import resource_name
from schedviz.trace.phrase import Phrase, joined, phrase

#: Longer sentences are no titles.
_MAX_TITLE_LENGTH: Final = 120
_INSUFFICIENT: Final = "Insufficient "


class WaitingReason(Part, frozen=True):
    """Groups that wait for the same reason, or that the same change would place."""

    #: Its name: the reason of the explanation's main clause, or what else the pods wait for. Groups of several reasons name each.
    reason: str
    reason_phrase: Phrase
    #: The same in one plain sentence, with the numbers that all groups have in common.
    headline: str
    headline_phrase: Phrase
    #: Whether `reason` is the scheduler's own text, which is shown besides.
    is_quoted: bool
    #: The number of pods.
    count: int
    groups: tuple[PendingGroup, ...]
    #: They only wait for their next attempt: they fit on nodes now, and nothing prevents an attempt.
    placeable: bool = False
    #: What to do about it, with commands between backticks. "" if there is nothing to do, or if `changes` of this reason or of its
    #: groups say it.
    advice: str = ""
    #: The verified change that all groups have in common; empty: they have none, or different ones.
    changes: tuple[ChangeView, ...] = ()
    #: How many of the pods it places together, and what would place the others: "places only 1 of 4 pods; for the others, …". "": one pod,
    #: or nobody counted.
    effect: str = ""
    effect_phrase: Phrase | None = None
    #: For translation.
    advice_phrase: Phrase | None = None

    def besides(self, group: PendingGroup) -> str:
        """What a group says besides the headline: its own sentence, or else its numbers; "" if the headline has said it."""
        return next((said for said in (group.headline, group.detail) if said not in ("", self.headline)), "")


class KnownNodes(NamedTuple):
    """What headlines say about the nodes of the cluster."""

    short: ShortNames
    #: The number of cordoned nodes.
    cordoned: int


def waiting_reason(reason: Phrase, members: Sequence[PendingGroup], advice: Phrase | None, nodes: KnownNodes) -> WaitingReason:
    placeable = reason.template == TRIED_SOON
    count = sum(len(group.pods) for group in members)
    common = members[0].changes if len({what_to_do(group.changes) for group in members}) == 1 else ()
    # What to do about some groups would be read as what to do about all of them.
    said = advice if not placeable and not any(group.changes for group in members) else None
    headline = _headline(reason, members, common, nodes)
    return WaitingReason(
        reason=reason.text,
        reason_phrase=reason,
        headline=headline.text,
        headline_phrase=headline,
        is_quoted=is_quoted(reason),
        count=count,
        groups=tuple(members),
        placeable=placeable,
        advice=said.text if said is not None else "",
        changes=common,
        advice_phrase=said,
    )


def joined_reasons(by_reason: dict[str, list[PendingGroup]], phrases: dict[str, Phrase], nodes: KnownNodes) -> Iterator[WaitingReason]:
    """Groups of different reasons that the same change would place; they are taken out of `by_reason`."""
    reasons: dict[str, dict[str, None]] = {}
    for text, members in by_reason.items():
        for group in filter(lambda group: group.changes, members):
            reasons.setdefault(what_to_do(group.changes), {})[text] = None
    for what, texts in reasons.items():
        if len(texts) > 1:
            groups_ = [group for text in texts for group in by_reason[text] if what_to_do(group.changes) == what]
            for text in texts:
                by_reason[text] = [group for group in by_reason[text] if what_to_do(group.changes) != what]
            yield waiting_reason(joined([phrases[text] for text in texts], JOINED), groups_, None, nodes)


def _headline(reason: Phrase, members: Sequence[PendingGroup], common: Sequence[ChangeView], nodes: KnownNodes) -> Phrase:
    """What the groups have in common, in one plain sentence."""
    headlines = {group.headline: group.headline_phrase for group in members}
    if len(headlines) == 1 and (shared := members[0].headline_phrase) is not None:
        was_tried = any(clause.nodes for clause in members[0].clauses)
        # Below a short title, each group says its sentence.
        return (
            min(shared, in_general(reason), key=lambda said: len(said.text))
            if was_tried and len(shared.text) > _MAX_TITLE_LENGTH
            else shared
        )
    if all(is_too_large(group) for group in members):
        return phrase("the pods request more {resource} than any node has", resource=resource_name(reason.text.removeprefix(_INSUFFICIENT)))
    # Verified: with the change they fit, and without it they do not.
    match [(change.kind, change.phrase.values) for change in common]:
        case [("uncordon", values)] if nodes.cordoned == 1:
            return phrase("node {node} is cordoned, and these pods fit on no other node", node=nodes.short.of(str(values["node"])))
        case [("uncordon", values)]:
            template = "{count} nodes are cordoned, such as {node}, and these pods fit on no other node"
            return phrase(template, count=nodes.cordoned, node=nodes.short.of(str(values["node"])))
        case [("toleration", values)]:
            return phrase("these pods do not tolerate the taint `{taint}`, and fit on no node without it", taint=values["taint"])
    return in_general(reason)


def is_too_large(group: PendingGroup) -> bool:
    """Whether the pod requests more than any node has, by the group's headline."""
    said = group.headline_phrase
    if said is not None and said.template == ALSO_LACKING and isinstance(first := said.values["headline"], Phrase):
        said = first
    return said is not None and said.template == TOO_LARGE


def shared_advice(reason: str, members: Sequence[PendingGroup], advice: dict[str, Phrase | None]) -> Phrase | None:
    """What to do about groups of which none has a change: the first group's advice, without the names in its commands if they differ."""
    every = [advice[group.pods[0]] for group in members]
    first = next((each for each in every if each is not None), None)
    if first is None or all(each is None or each.text == first.text or each.template != first.template for each in every):
        return first
    names = Named().values
    meaning = meaning_of(reason)
    general = general_advice(first.template)
    if meaning is not None and general == first.template and not first.values.keys() <= {*names, *meaning.values}:
        # It names what only the first group's explanation knows.
        return meaning.advice_phrase() or as_phrase(meaning.advice)
    return Phrase(general, {name: names.get(name, value) for name, value in first.values.items()})


def is_of_capacity(reason: WaitingReason) -> bool:
    """Whether the pods wait for room: of equally many, others come first, whose remedy is often one command."""
    kinds = {change.kind for change in (*reason.changes, *(change for group in reason.groups for change in group.changes))}
    return reason.reason.startswith(_INSUFFICIENT) or not kinds.isdisjoint({"node", "victim"})
