"""What the clauses of one message say together: a reason of all nodes, what a node must be that would help, several taints as one.

A message has one reason for each node, so advice about one clause has to respect the others: a node that is added for more CPU is no use
outside the zone of the pod's volume.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Final

import msgspec

from schedviz.engine.framework.plugins import names
from schedviz.explain.explanation import Clause
from schedviz.explain.messages.main_reason import is_of_control_plane, is_of_volume
from schedviz.explain.messages.reasons import meaning_of
from schedviz.explain.reason_tables.volumes import SEVERAL_ZONES
from schedviz.trace.phrase import Phrase, joined, phrase, some

#: In the headline of a taint that the pod does not tolerate, and may be given a toleration for.
_UNTOLERATED: Final = "which the pod does not tolerate"
#: So many taints are one reason. Fewer are one if they have the same key.
_MIN_COMBINED_TAINTS: Final = 3
#: Taints that are named with their values; of more, only the keys are.
_MAX_VALUES: Final = 4
_MAX_KEYS: Final = 5
#: What to do about many taints.
OF_TAINTS: Final = phrase(
    "if the pod belongs on some of these nodes, add tolerations for their taints; otherwise, add untainted nodes{where}", where=""
)
#: Between the reasons of a clause of several taints.
_BETWEEN_REASONS: Final = re.compile(r"(?<=\}), (?=\d+ )|(?<=tolerate), (?=\d+ )", re.ASCII)
_TAINT_IN_REASON: Final = re.compile(r"\{(?P<key>[^{}:]*+):?(?P<value>[^{}]*+)\}")
_SELECTOR: Final = re.compile(r"node\(s\) didn't match (?:Pod's )?node (?:selector|affinity)(?:/selector)?")
_SPREAD: Final = re.compile(r"node\(s\) didn't match pod topology spread constraints?(?:\(s\))?")
#: A cause of the reason of a topology spread beside cordoned and tainted nodes.
_UNUSABLE_DOMAIN: Final = phrase("by default, cordoned and tainted nodes still count toward their topology domain").template
_CHECK_DOMAIN: Final = phrase(
    "check whether the topology domain with the fewest matching pods has only cordoned or tainted nodes. If so, uncordon a node there, "
    "remove the taint, add a toleration, or set `nodeTaintsPolicy: Honor` in the constraint; otherwise, free up or add capacity in that "
    "domain"
)
_IN_ZONE: Final = phrase(" in the volume's zone")
_WITH_LABELS: Final = phrase(" with the labels that the pod's node selector or affinity requires")
_IN_ZONE_WITH_LABELS: Final = phrase(" in the volume's zone with the labels that the pod's node selector or affinity requires")


def is_of_several_taints(clause: Clause) -> bool:
    """Whether it stands for the clauses of several taints."""
    return clause.headline_phrase is not None and _inner(clause.headline_phrase).template in _OF_SEVERAL


def quoted_reasons(clause: Clause) -> list[str]:
    """What the scheduler wrote, one for each taint: `2 node(s) had untolerated taint {a: b}`; otherwise the reason, without its number."""
    return _BETWEEN_REASONS.split(clause.reason) if is_of_several_taints(clause) else [clause.reason]


def names_taint(clause: Clause) -> bool:
    """Whether it is about taints that the pod may be given a toleration for."""
    headline = _inner(clause.headline_phrase) if clause.headline_phrase is not None else None
    return headline is not None and (_UNTOLERATED in headline.template or headline.template in _OF_SEVERAL) and "taint" in headline.values


def without_control_plane(nodes: int, clauses: Sequence[Clause]) -> tuple[list[Clause], int]:
    """The clauses that count nodes outside the control plane, and how many nodes are outside it."""
    others = [clause for clause in clauses if clause.count and not is_of_control_plane(clause)]
    return others, nodes - sum(clause.count for clause in clauses if is_of_control_plane(clause))


def with_reason_of_all(nodes: int, clauses: Sequence[Clause]) -> tuple[Clause, ...]:
    """The clauses; one that all nodes have, or all that are not of the control plane, says so: "none of the 3 worker nodes …"."""
    others, left = without_control_plane(nodes, clauses)
    if len(others) != 1 or others[0].count != left or others[0].headline_phrase is None:
        return tuple(clauses)
    meaning = meaning_of(others[0].reason)
    if meaning is None or others[0].headline_phrase != meaning.headline(left):
        return tuple(clauses)
    said = meaning.headline_of_all(left, workers=left < nodes)
    whole = others[0].with_phrases(headline=said)
    return tuple(whole if clause is others[0] else clause for clause in clauses)


def with_empty_domains(clauses: Sequence[Clause]) -> tuple[Clause, ...]:
    """The clauses; that of the topology spread names nodes which others say the pod cannot use, and which count all the same."""
    if not any(clause.plugin in (names.NODE_UNSCHEDULABLE, names.TAINT_TOLERATION) for clause in clauses):
        return tuple(clauses)
    return tuple(
        msgspec.structs.replace(clause, causes=(_UNUSABLE_DOMAIN, *clause.causes)).with_phrases(advice=_CHECK_DOMAIN)
        if _SPREAD.fullmatch(clause.reason)
        else clause
        for clause in clauses
    )


def without_several_volumes(clause: Clause) -> Clause:
    """The clause of a pod that has one volume."""
    return msgspec.structs.replace(clause, causes=tuple(cause for cause in clause.causes if cause != SEVERAL_ZONES))


def with_place(clauses: Sequence[Clause], earlier: Sequence[Clause] = ()) -> tuple[Clause, ...]:
    """The clauses with advice to add a node in the volume's zone, or with the selected labels, where other clauses require that.

    `earlier`: clauses of older messages about the same pod.
    """
    known = (*clauses, *earlier)
    is_bound = any(is_of_volume(clause) or clause.plugin == names.VOLUME_ZONE for clause in known)
    selects = any(_SELECTOR.fullmatch(clause.reason) for clause in known)
    if not is_bound and not selects:
        return tuple(clauses)
    where = _IN_ZONE if not selects else _IN_ZONE_WITH_LABELS if is_bound else _WITH_LABELS
    return tuple(_placed(clause, where) for clause in clauses)


def _placed(clause: Clause, where: Phrase) -> Clause:
    if clause.advice_phrase is None or "where" not in clause.advice_phrase.values:
        return clause
    advice = Phrase(clause.advice_phrase.template, {**clause.advice_phrase.values, "where": where})
    return clause.with_phrases(advice=advice)


def with_grouped_taints(clauses: Sequence[Clause]) -> tuple[Clause, ...]:
    """The clauses; three or more about taints that the pod does not tolerate are one, and so are those of one key."""
    taints = [clause for clause in clauses if names_taint(clause) and _TAINT_IN_REASON.search(clause.reason)]
    keys = Counter(map(_key, taints))
    if len(taints) < _MIN_COMBINED_TAINTS:
        taints = [clause for clause in taints if keys[_key(clause)] > 1]
    if len(taints) < 2:
        return tuple(clauses)
    grouped = _grouped(taints)
    return tuple(grouped if clause is taints[0] else clause for clause in clauses if clause is taints[0] or clause not in taints)


def _grouped(taints: Sequence[Clause]) -> Clause:
    """The clauses of several taints as one, whose reason has theirs as the scheduler wrote them, with their numbers of nodes."""
    first = taints[0]
    count = sum(clause.count for clause in taints)
    named = listed_taints(taints, _MAX_KEYS)
    if len(taints) > _MAX_VALUES:
        counts: Counter[str] = Counter()
        for clause in taints:
            counts[_key(clause)] += clause.count
        named = (
            joined([phrase("`{key}` on {count}", key=key, count=number) for key, number in counts.items()], maximum=_MAX_KEYS)
            if len(counts) > 1
            else f"`{_key(first)}`"
        )
    headline = phrase(
        "{nodes} have taints that the pod does not tolerate: {taint}", nodes=phrase("{count} nodes", count=count), taint=named
    )
    said = _wrapped(first.headline_phrase, headline)
    advice = next((clause.advice_phrase for clause in taints if clause.advice), None)
    advice = None if advice is None else Phrase(OF_TAINTS.template, {"where": advice.values.get("where", "")})
    return msgspec.structs.replace(
        first,
        count=count,
        reason=", ".join(f"{clause.count} {clause.reason}" for clause in taints),
        causes=next((clause.causes for clause in taints if clause.advice), ()),
        is_aside=all(clause.is_aside for clause in taints),
    ).with_phrases(meaning=None, headline=said, advice=advice)


_OF_SEVERAL: Final = frozenset({"{nodes} have taints that the pod does not tolerate: {taint}"})


def _inner(headline: Phrase) -> Phrase:
    """The headline without what the pod asks for."""
    inner = headline.values.get("headline")
    return _inner(inner) if isinstance(inner, Phrase) else headline


def _wrapped(like: Phrase | None, headline: Phrase) -> Phrase:
    """The headline with what the pod asks for, as another one has it."""
    if like is None or not isinstance(inner := like.values.get("headline"), Phrase):
        return headline
    return Phrase(like.template, {**like.values, "headline": _wrapped(inner, headline)})


def _key(clause: Clause) -> str:
    match = _TAINT_IN_REASON.search(clause.reason)
    return "" if match is None else match["key"]


def listed_taints(clauses: Sequence[Clause], maximum: int = 3) -> str | Phrase:
    """The taints of the clauses between backticks; of a clause of several taints, as its headline lists them."""
    several = [clause for clause in clauses if is_of_several_taints(clause)]
    if not several:
        return some([f"`{printed_taint(clause)}`" for clause in clauses], maximum)
    listed = [_inner(clause.headline_phrase).values["taint"] for clause in several if clause.headline_phrase is not None]
    single = [f"`{printed_taint(clause)}`" for clause in clauses if clause not in several]
    if len(listed) == 1 and not single:
        return listed[0] if not isinstance(listed[0], int) else str(listed[0])
    return joined([Phrase("{taints}", {"taints": each}) for each in (*listed, *single)], maximum=maximum)


def printed_taint(clause: Clause) -> str:
    """The taint as kubectl prints it."""
    headline = clause.headline_phrase
    return "" if headline is None else str(_inner(headline).values.get("taint", ""))
