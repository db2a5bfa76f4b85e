"""Makes clauses with their meanings."""

from __future__ import annotations

import msgspec

from schedviz.explain.explanation import Clause
from schedviz.explain.meaning import Meaning
from schedviz.explain.reason_releases import releases_of
from schedviz.explain.reasons import meaning_of


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
    advice = meaning.advice_phrase(nodes)
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
        advice=advice.text if advice is not None else meaning.advice,
        advice_phrase=advice,
        meaning_phrase=meaning.phrase,
        releases=() if meaning is otherwise else releases_of(reason),
    )


def with_node_names(clause: Clause, nodes: tuple[str, ...]) -> Clause:
    """The clause with its nodes, which the command of its advice names."""
    meaning = meaning_of(clause.reason)
    advice = meaning.advice_phrase(nodes) if meaning is not None and clause.advice_phrase is not None else None
    if meaning is None or advice is None or clause.advice_phrase is None or clause.advice_phrase.template != meaning.advice:
        return msgspec.structs.replace(clause, nodes=nodes)
    return msgspec.structs.replace(clause, nodes=nodes, advice=advice.text, advice_phrase=advice)
