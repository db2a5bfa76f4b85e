"""Messages with what the rest of a text adds to them, and without what it makes needless."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from schedviz.engine.framework.plugins import names
from schedviz.explain.explanation import Clause
from schedviz.explain.meaning import Named
from schedviz.explain.messages.combined_clauses import with_grouped_taints, with_place
from schedviz.explain.messages.conclusion import advised
from schedviz.explain.messages.explained_clause import with_names
from schedviz.explain.messages.main_reason import is_of_volume
from schedviz.explain.messages.message import UNBOUND, with_clauses
from schedviz.explain.messages.parsed_message import ParsedMessage
from schedviz.trace.phrase import Phrase, joined, phrase

#: In the reasons of nodes that the node lifecycle controller has found not ready.
_NOT_READY: Final = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable", "were not ready")
#: How the names of volumes begin that the local static provisioner makes.
_LOCAL: Final = "local-pv-"
_ON_FULL_NODE: Final = phrase(
    "the volume is local, so the pod can run only on the node that holds it: `kubectl describe pv{volumes}` names the node under "
    "`Node Affinity`. Free up resources there, or lower the pod's requests"
)
_ON_ITS_NODE: Final = phrase(
    "the volume is local, so the pod can run only on the node that holds it: `kubectl describe pv{volumes}` names the node under "
    "`Node Affinity`. Check why that node does not accept the pod"
)


def _with(said: ParsedMessage, clauses: tuple[Clause, ...]) -> ParsedMessage:
    """The message with other clauses. What they say together stays."""
    return msgspec.structs.replace(said, message=msgspec.structs.replace(said.message, clauses=clauses))


def without_advice(said: ParsedMessage) -> ParsedMessage:
    """The message without what to try first."""
    return msgspec.structs.replace(said, message=said.message.with_phrases(first=None))


def without_advice_of(said: ParsedMessage, refusal: str) -> ParsedMessage:
    """The message without what to try first, and without what to do about reasons that an autoscaler's `refusal` has, too.

    A node that the autoscaler does not add is no advice either.
    """
    has_reason = any(clause.reason in refusal for clause in said.message.clauses)
    clauses = tuple(
        advised(clause, None) if clause.reason in refusal or (has_reason and clause.plugin == names.NODE_RESOURCES_FIT) else clause
        for clause in said.message.clauses
    )
    return without_advice(_with(said, clauses))


def without_any_advice(said: ParsedMessage) -> ParsedMessage:
    """The message whose clauses say neither causes nor what to do."""
    clauses = tuple(advised(clause, None) for clause in said.message.clauses)
    return _with(said, clauses)


def led_by(said: ParsedMessage, reason: str) -> ParsedMessage:
    """The message whose first clause is the one with this reason, which needs no advice: it was given before."""
    leading = [advised(clause, None) for clause in said.message.clauses if clause.reason == reason]
    others = [clause for clause in said.message.clauses if clause.reason != reason]
    return _with(said, (*leading, *others))


def without_advice_about_volumes(said: ParsedMessage) -> ParsedMessage:
    """The message without what to try first, and whose clauses about volumes say neither causes nor what to do."""
    clauses = tuple(
        advised(clause, None) if clause.plugin in (names.VOLUME_BINDING, names.VOLUME_ZONE) else clause for clause in said.message.clauses
    )
    return without_advice(_with(said, clauses))


def without_repeats(said: ParsedMessage, *, without_claims: bool = False) -> ParsedMessage:
    """The message whose clauses do not repeat what it says to try first, nor the causes and the advice of a clause before them.

    `without_claims`: nor what to do about claims without a volume, which was said.
    """
    known = {said.message.first}
    clauses = []
    for clause in _with_devices_as_one(said.message.clauses, said.message.first):
        repeats = clause.advice in known or (without_claims and clause.reason.startswith(UNBOUND))
        known.add(clause.advice)
        clauses.append(advised(clause, None) if repeats else clause)
    return _with(said, tuple(clauses))


def _with_devices_as_one(clauses: Sequence[Clause], first: str) -> list[Clause]:
    """The clauses, of which those about several devices say once what to do, with the first. `first`: what to try first."""
    alike: dict[str, list[Clause]] = {}
    for clause in clauses:
        if clause.advice_phrase is not None and clause.advice != first and "/" in str(clause.advice_phrase.values.get("resource", "")):
            alike.setdefault(clause.advice_phrase.template, []).append(clause)
    advice: dict[int, Phrase | None] = {}
    for template, of_devices in alike.items():
        values = [clause.advice_phrase.values for clause in of_devices if clause.advice_phrase is not None]
        if len(values) > 1:
            # The template has them between backticks.
            resources = joined([Phrase("{name}", {"name": each["resource"]}) for each in values], "{first}` and `{next}")
            advice |= {id(clause): None for clause in of_devices}
            advice[id(of_devices[0])] = Phrase(template, {**values[0], "resource": resources})
    return [advised(clause, advice[id(clause)]) if id(clause) in advice else clause for clause in clauses]


def with_taints_as_one(said: ParsedMessage) -> ParsedMessage:
    """The message with one clause for many taints that the pod does not tolerate, or for those of one key."""
    clauses = with_grouped_taints(said.message.clauses)
    if len(clauses) == len(said.message.clauses):
        return said
    message = with_clauses(said.message, clauses)
    # What to try first was decided by the clauses as they were.
    return msgspec.structs.replace(
        said, message=msgspec.structs.replace(message, first=said.message.first, first_phrase=said.message.first_phrase)
    )


def with_place_of_earlier(said: ParsedMessage, earlier: Sequence[ParsedMessage]) -> ParsedMessage:
    """The message whose advice to add a node respects what older messages say about the pod's volume and its node selector."""
    clauses = with_place(said.message.clauses, [clause for each in earlier for clause in each.message.clauses])
    if clauses == said.message.clauses:
        return said
    return msgspec.structs.replace(said, message=with_clauses(said.message, clauses))


def with_broken_nodes(said: ParsedMessage, nodes: Sequence[str]) -> ParsedMessage:
    """The message with the names of the nodes that are not ready, if they are as many as it counts."""
    clauses = tuple(
        with_names(clause, Named(nodes, said.pod))
        if clause.count == len(nodes) and any(part in clause.reason for part in _NOT_READY)
        else clause
        for clause in said.message.clauses
    )
    if clauses == said.message.clauses:
        return said
    return msgspec.structs.replace(said, message=with_clauses(said.message, clauses))


def with_volumes(said: ParsedMessage, volumes: Sequence[str], claims: Sequence[str] = ()) -> ParsedMessage:
    """The message with the names of the pod's volumes in its commands."""
    named = Named(pod=said.pod, claims=claims, volumes=volumes)
    clauses = tuple(with_names(clause, named) if is_of_volume(clause) else clause for clause in said.message.clauses)
    if volumes and all(volume.startswith(_LOCAL) for volume in volumes) and any(map(is_of_volume, clauses)):
        clauses = _with_local_volume(clauses, named)
    if clauses == said.message.clauses:
        return said
    return msgspec.structs.replace(said, message=with_clauses(said.message, clauses))


def _with_local_volume(clauses: Sequence[Clause], named: Named) -> tuple[Clause, ...]:
    """The clauses about a pod whose volume is local: no other node helps than the one that holds it."""
    lacking = [clause for clause in clauses if clause.plugin == names.NODE_RESOURCES_FIT]
    advice = Phrase((_ON_FULL_NODE if lacking else _ON_ITS_NODE).template, {"volumes": named.values["volumes"]})
    return tuple(
        msgspec.structs.replace(advised(clause, advice), causes=() if is_of_volume(clause) else clause.causes)
        if is_of_volume(clause) or clause in lacking
        else clause
        for clause in clauses
    )
