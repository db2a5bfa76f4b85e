"""Makes clauses with their meanings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from schedviz.explain.explanation import Clause
from schedviz.explain.meaning import Meaning, Named
from schedviz.explain.messages.reason_releases import releases_of
from schedviz.explain.messages.reasons import meaning_of
from schedviz.trace.phrase import Phrase, phrase, some

_WRONG_NODE: Final = phrase(
    "correct the node name in the pod's node affinity (`metadata.name`); if a DaemonSet made the pod for a deleted node, "
    "its controller deletes the pod"
)
_GONE_NODE: Final = phrase("no action is needed: the DaemonSet controller deletes the pods of nodes that no longer exist")


def explained_clause(
    count: int,
    reason: str,
    *,
    plugin: str = "",
    code: str = "",
    nodes: tuple[str, ...] = (),
    otherwise: Meaning | None = None,
) -> Clause:
    """A clause with the meaning of its reason; `otherwise` is that of a reason without one. `plugin` is that of the meaning if it is ""."""
    meaning = meaning_of(reason) or otherwise
    if meaning is None:
        return Clause(count, reason, plugin, code, nodes)
    advice = meaning.advice_phrase(Named(nodes), count)
    headline = None if meaning is otherwise else meaning.headline(count)
    return Clause(
        0 if meaning.is_note else count,
        reason,
        plugin or meaning.plugin,
        code,
        nodes,
        meaning=meaning.sentence,
        headline=headline.text if headline is not None else "",
        headline_phrase=headline,
        causes=meaning.causes,
        advice=advice.text if advice is not None else meaning.advice_template(Named(nodes), count),
        advice_phrase=advice,
        meaning_phrase=meaning.phrase,
        releases=() if meaning is otherwise else releases_of(reason),
    )


def with_names(clause: Clause, named: Named) -> Clause:
    """The clause with names in the commands of its advice, unless its advice is not that of its reason any more."""
    meaning = meaning_of(clause.reason)
    template = clause.advice_phrase.template if clause.advice_phrase is not None else clause.advice
    if meaning is None or not template or template not in (meaning.advice, meaning.of_named, meaning.of_one):
        return clause
    known = clause.advice_phrase.values.get("where", "") if clause.advice_phrase is not None else ""
    advice = meaning.advice_phrase(named if named.where else named._replace(where=_text_or_phrase(known)), clause.count)
    return clause if advice is None else clause.with_phrases(advice=advice)


def _text_or_phrase(value: str | int | Phrase) -> str | Phrase:
    return value if isinstance(value, Phrase) else str(value)


def about_missing_node(clause: Clause, names: Sequence[str] = (), *, is_of_daemon_set: bool = False) -> Clause:
    """The clause about nodes that the pod's node affinity does not name, if the node that it names (`names`) does not exist."""
    headline = phrase("the node that the pod's node affinity names does not exist")
    if names:
        headline = phrase("the pod's node affinity names {node}, which does not exist", node=some(names))
    advice = _WRONG_NODE
    if is_of_daemon_set:
        advice = _GONE_NODE
    return msgspec.structs.replace(clause, causes=()).with_phrases(headline=headline, advice=advice)


def is_about_nodes(clause: Clause) -> bool:
    """Whether its nodes say anything: a claim that does not exist is missing on all of them."""
    meaning = meaning_of(clause.reason)
    return meaning is None or bool(meaning.of_nodes[0])
