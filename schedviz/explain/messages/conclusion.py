"""The reasons of a message in one sentence, and what to try first."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

import msgspec

from schedviz.engine.framework.plugins import names
from schedviz.explain.explanation import Clause
from schedviz.explain.meaning import Named
from schedviz.explain.messages.combined_clauses import OF_TAINTS, is_of_several_taints, listed_taints, names_taint, without_control_plane
from schedviz.explain.messages.explained_clause import about_missing_node
from schedviz.explain.messages.main_reason import decisive_clause, is_of_control_plane, only_cause
from schedviz.explain.messages.parsed_message import Message
from schedviz.explain.messages.reasons import meaning_of
from schedviz.explain.no_node import no_node_sentence
from schedviz.explain.reason_tables.nodes import OF_UNTOLERATED_TAINT
from schedviz.trace.phrase import Phrase, counted, joined, phrase

#: Reasons that a conclusion lists; more are counted.
_MAX_LISTED: Final = 5
#: So many taints are one reason in a conclusion.
_MIN_COMBINED_TAINTS: Final = 3
#: The reason of nodes that the pod's node affinity does not name.
_NOT_NAMED: Final = re.compile(r"node\(s\) didn't satisfy plugin(?:\(s\))? (?:NodeAffinity|\[NodeAffinity\])")
#: The same, and in the words of releases after 1.27, of which a local volume is another cause.
_NOT_MEANT: Final = re.compile(rf"{_NOT_NAMED.pattern}|node (?:is|was) filtered out by the prefilter result")
_TOO_MANY_PODS: Final = "Too many pods"
_ROOM_FOR_PODS: Final = phrase(
    "make room on that node: move or delete pods there. Give the pods of a DaemonSet a `priorityClassName`, so that they get room first"
)
_ROOM: Final = phrase(
    "make room on that node: move or delete pods there, or lower the pod's requests. Give the pods of a DaemonSet a `priorityClassName`, "
    "so that they get room first"
)
#: What is found of a text that lacks the reasons of most nodes.
STATUS_IS_WHOLE: Final = phrase("An event has at most 1,024 characters; the pod's status has the whole message.")
_WHOLE_MESSAGE: Final = "read the whole message: `kubectl get pod{pod} -o json | grep 'nodes are available'`"
#: A headline with a relative clause, as one of a list: the commas of both would collide.
_IN_LIST: Final = dict(
    zip(
        OF_UNTOLERATED_TAINT,
        (phrase("{nodes} has the untolerated taint `{taint}`").template, phrase("{nodes} have the untolerated taint `{taint}`").template),
        strict=True,
    )
)
#: What is said about a resource of which no node has enough, and between two of those.
_ENOUGH_FREE: Final = "{nodes} has enough free {resource}"
_OR: Final = phrase("{first} or {next}").template
_NONE_FREE: Final = phrase("none has enough free {resource}").template
_NEITHER_FREE: Final = phrase("neither has enough free {resource}").template
#: The subject of a reason that all nodes have, and of one that the only node has.
_EVERY: Final = (phrase("none"), phrase("all"))
_OF_TWO: Final = (phrase("neither"), phrase("both"))
_ONLY: Final = phrase("it")
_ONLY_LACKS: Final = phrase("it does not have enough free {resource}").template
#: What to do about a pod whose spec names its node.
_OF_PINNED: Final = phrase("resolve what rejects that node, or remove `spec.nodeName` from the pod")


def with_missing_node(nodes: int, clauses: Sequence[Clause]) -> Sequence[Clause]:
    """The clauses. If the only one is that the pod's node affinity names another node than each of these, it says that there is none."""
    if len(clauses) != 1 or clauses[0].count != nodes or not _NOT_NAMED.match(clauses[0].reason):
        return clauses
    return (about_missing_node(clauses[0]),)


def with_common_advice(clauses: Sequence[Clause]) -> tuple[Clause, ...]:
    """The clauses, of which many about taints say once what to do, with the first."""
    taints = [clause for clause in clauses if names_taint(clause)]
    if len(taints) < _MIN_COMBINED_TAINTS:
        return tuple(clauses)
    advice = {id(clause): None for clause in taints} | {id(taints[0]): OF_TAINTS}
    return tuple(advised(clause, advice[id(clause)]) if id(clause) in advice else clause for clause in clauses)


def advised(clause: Clause, advice: Phrase | None) -> Clause:
    """The clause with another advice; None: without any, and without its causes."""
    advised = clause.with_phrases(advice=advice)
    return advised if advice is not None else msgspec.structs.replace(advised, causes=())


def _conclusion(nodes: int, clauses: Sequence[Clause]) -> Phrase | None:
    """The reasons of the nodes that are meant to run pods."""
    if nodes and len(clauses) > 1 and _is_pinned_by_name(clauses):
        return phrase(
            "The pod is pinned to one node (`spec.nodeName`), so only what rejects that node matters. Of the {count} nodes, {reasons}.",
            count=nodes,
            reasons=_listed(_brief(clauses, nodes)),
        )
    if (meant := _reasons_of_meant_node(nodes, clauses)) and all(meaning_of(clause.reason) for clause in meant):
        that = phrase("that node")
        reasons = [meaning.headline(1, that) for clause in meant if (meaning := meaning_of(clause.reason)) is not None]
        return phrase(
            "The pod is meant for one node, and {reasons}. The other {count} nodes do not matter.",
            reasons=joined(reasons, "{first}, and {next}"),
            count=nodes - 1,
        )
    others, left = without_control_plane(nodes, clauses)
    reasons = [clause.headline_phrase for clause in others if clause.headline_phrase is not None]
    if len(clauses) < 2 or len(reasons) < len(others) or not reasons:
        return None
    if len(others) == 1 and others[0].count == left:
        # The clause itself says so.
        return None
    if not nodes:
        return phrase("{reasons}.", reasons=_listed(reasons))
    whole = no_node_sentence(nodes)
    if (decisive := _decisive_reasons(clauses, nodes)) is not None:
        return phrase("{whole}: {reasons}.", whole=whole, reasons=decisive)
    return phrase("{whole}: {reasons}.", whole=whole, reasons=_listed(_brief(clauses, nodes)))


def _is_pinned_by_name(clauses: Sequence[Clause]) -> bool:
    """Whether some nodes are not the one that the pod's spec names."""
    return any(clause.plugin == names.NODE_NAME and clause.count for clause in clauses)


def _reasons_of_meant_node(nodes: int, clauses: Sequence[Clause]) -> list[Clause]:
    """The reasons of the only node that the pod is meant for, such as one of a DaemonSet; empty: there are several such nodes, or none."""
    meant = [clause for clause in clauses if not _NOT_MEANT.fullmatch(clause.reason)]
    others = sum(clause.count for clause in clauses if clause not in meant)
    # Only a shortage of several resources has several reasons for one node.
    is_one = len(meant) == 1 or all(clause.plugin == names.NODE_RESOURCES_FIT for clause in meant)
    return meant if others and others == nodes - 1 and is_one and all(clause.count == 1 for clause in meant) else []


def _decisive_reasons(clauses: Sequence[Clause], nodes: int) -> Phrase | None:
    """The reasons, that of the nodes first which the pod selects and tolerates; None if no such reason is alone."""
    decisive = decisive_clause(clauses, nodes)
    meaning = meaning_of(decisive.reason) if decisive is not None else None
    if decisive is None or meaning is None or not meaning.of_nodes[0]:
        return None
    others = [clause for clause in clauses if clause is not decisive]
    subject = counted(
        decisive.count,
        "the only node that the pod's node selector and tolerations allow",
        "the {count} nodes that the pod's node selector and tolerations allow",
    )
    brief = _listed(_brief(others, nodes, names_taints=False))
    return phrase("{reason}; of the others, {others}", reason=meaning.headline(decisive.count, subject), others=brief)


def _brief(clauses: Sequence[Clause], nodes: int, *, names_taints: bool = True) -> list[Phrase]:
    """The reasons of a message for a list, those of the most nodes first: "8 are cordoned". Untolerated taints are one reason.

    `names_taints`: many taints are listed.
    """
    counting = [clause for clause in clauses if clause.count]
    taints = [clause for clause in counting if names_taint(clause)]
    if len(taints) < _MIN_COMBINED_TAINTS and not any(map(is_of_several_taints, taints)):
        taints = []
    lacking = _shortages_of_all(counting, nodes)
    said = [
        (
            is_of_control_plane(clause),
            -clause.count,
            _headline_about_all(clause, nodes) if clause.count == nodes else _counting(clause.headline_phrase, clause.count),
        )
        for clause in counting
        if clause not in taints and clause not in lacking and clause.headline_phrase is not None
    ]
    if lacking:
        free = joined(
            [Phrase("{resource}", {**meaning.values}) for clause in lacking if (meaning := meaning_of(clause.reason)) is not None], _OR
        )
        said.append(
            (
                False,
                -nodes,
                Phrase(_ONLY_LACKS if nodes == 1 else _NEITHER_FREE if nodes == len(_OF_TWO) else _NONE_FREE, {"resource": free}),
            )
        )
    if taints:
        count = sum(clause.count for clause in taints)
        tainted = phrase("{count} have taints that the pod does not tolerate ({taints})", count=count, taints=listed_taints(taints))
        said.append((False, -count, tainted if names_taints else phrase("{count} have taints that the pod does not tolerate", count=count)))
    return [reason for *_, reason in sorted(said, key=lambda each: each[:2])]


def _shortages_of_all(counting: Sequence[Clause], nodes: int) -> list[Clause]:
    """The clauses of CPU, memory or storage of which no node has enough, if there are several: one sentence says it."""
    lacking = [
        clause
        for clause in counting
        if clause.count == nodes and (meaning := meaning_of(clause.reason)) is not None and meaning.of_none == _ENOUGH_FREE
    ]
    return lacking if len(lacking) > 1 else []


def _headline_about_all(clause: Clause, nodes: int) -> Phrase:
    """The headline of a reason that all nodes have, beside other reasons: "none matches the pod's node selector"."""
    meaning = meaning_of(clause.reason)
    if meaning is None or not meaning.of_nodes[1]:
        return clause.headline_phrase or Phrase(clause.reason.replace("{", "{{").replace("}", "}}"))
    if nodes == 1:
        return meaning.headline(1, _ONLY)
    subject = _OF_TWO if nodes == len(_OF_TWO) else _EVERY
    return meaning.headline_of(subject[0], is_none=True) if meaning.of_none else meaning.headline_of(subject[1])


def _counting(headline: Phrase, count: int) -> Phrase:
    """The headline with the mere number of nodes, and without what the pod asks for."""
    inner = headline.values.get("headline")
    if isinstance(inner, Phrase):
        return _counting(inner, count)
    template = _IN_LIST.get(headline.template, headline.template)
    return Phrase(template, {**headline.values, "nodes": phrase("{count}", count=count)}) if "nodes" in headline.values else headline


def _listed(reasons: Sequence[Phrase]) -> Phrase:
    """The first reasons with commas and an "and" before the last; further ones are counted."""
    first, left = list(reasons[:_MAX_LISTED]), len(reasons) - _MAX_LISTED
    if left == 1:
        # To count it would take as much room.
        first.append(reasons[-1])
    elif left > 0:
        first.append(phrase("{count} other reasons apply", count=left))
    if len(first) == 1:
        return first[0]
    # "None matches the node selector or affinity and 2 are cordoned" would be read wrongly.
    is_short = len(first) == 2 and not any(
        reason.values.get("nodes") in (*_EVERY, *_OF_TWO) or reason.template in (_NONE_FREE, _NEITHER_FREE) for reason in first
    )
    between = "{first} and {next}" if is_short else "{first}, and {next}"
    return Phrase(between, {"first": joined(first[:-1]), "next": first[-1]})


def _first(clauses: Sequence[Clause], nodes: int) -> Phrase | None:
    """What to try first, if the counts leave one possibility."""
    if _is_pinned_by_name(clauses):
        return _OF_PINNED
    meant = _reasons_of_meant_node(nodes, clauses)
    if meant and meant[0].plugin == names.NODE_RESOURCES_FIT:
        return _ROOM_FOR_PODS if meant[0].reason == _TOO_MANY_PODS else _ROOM
    cause = only_cause(clauses, nodes)
    return cause.advice_to_say if cause is not None else None


def concluded(message: Message, clauses: tuple[Clause, ...]) -> Message:
    """The message with these clauses, and what they say together."""
    if message.finding_phrase == STATUS_IS_WHOLE:
        return cut_off(message, clauses)
    if len(clauses) > 1 and _is_pinned_by_name(clauses):
        clauses = tuple(advised(clause, None) for clause in clauses)
    if any(clause.plugin == names.NODE_RESOURCES_FIT for clause in _reasons_of_meant_node(message.nodes, clauses)):
        # Another node would not help.
        clauses = tuple(advised(clause, None) for clause in clauses)
    conclusion = _conclusion(message.nodes, clauses)
    first = _first(clauses, message.nodes) if conclusion is not None else None
    return msgspec.structs.replace(message, clauses=clauses).with_phrases(conclusion=conclusion, first=first)


def cut_off(message: Message, clauses: tuple[Clause, ...], pod: str = "", selector: str = "") -> Message:
    """The message that lacks the reasons of most nodes. `selector`: the pod's node selector, if it is known."""
    said = phrase(
        "The text is cut off after the reasons for {known} of the {count} nodes, so the main reason is probably missing.",
        known=message.nodes - message.unaccounted,
        count=message.nodes,
    )
    if selector:
        said = phrase("{sentence} The pod's node selector is `{selector}`.", sentence=said, selector=selector)
    first = Phrase(_WHOLE_MESSAGE, {**Named(pod=pod).values})
    return msgspec.structs.replace(message, clauses=clauses).with_phrases(conclusion=said, first=first)
