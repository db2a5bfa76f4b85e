"""Parses a FitError's text, from an event, a log or `kubectl describe`, into its clauses."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final, Protocol

import msgspec

from schedviz.explain.explanation import Clause, NodeVerdict, Part
from schedviz.explain.reasons import meaning_of

#: Longer texts are cut. An event's note has at most 1,024 characters; a condition's message is rarely longer.
LONGEST: Final = 20_000

#: Counts have at most nine digits, and begin where no digit precedes: otherwise a long run of digits takes quadratic time.
_HEAD: Final = re.compile(r"(?<!\d)(?P<fit>\d{1,9})/(?P<all>\d{1,9}) nodes are available(?:: |\.|$)", re.ASCII)
_CLAUSE: Final = re.compile(r"(?<!\d)(?P<count>\d{1,9}) (?P<reason>.+)", re.DOTALL | re.ASCII)
#: A comma between clauses, which is followed by a count, unlike a comma inside a reason.
_BETWEEN: Final = re.compile(r", (?=\d{1,9} )", re.ASCII)


class NotAMessageError(ValueError):
    """The text does not contain `0/N nodes are available`."""


class Message(Part, frozen=True):
    """The contents of a FitError's text."""

    nodes: int
    clauses: tuple[Clause, ...] = ()
    #: A PreFilter plugin's reason for all nodes.
    pre_filter: str = ""
    #: Preemption's findings, in the same form.
    preemption: tuple[Clause, ...] = ()
    #: Nodes without a clause: not evaluated, or the text was cut. Negative: nodes with several reasons.
    unaccounted: int = 0


class PodMessage(Part, frozen=True):
    """A message in a longer text, and its clauses."""

    #: `namespace/name`; "": the text does not name it.
    pod: str
    #: When it was sent, as the text has it ("5m ago"); "": unknown.
    at: str
    text: str
    message: Message


class Found(Protocol):
    """A message that was found in a text."""

    @property
    def pod(self) -> str: ...
    @property
    def at(self) -> str: ...
    @property
    def message(self) -> str: ...


def parse_messages(found: Iterable[Found]) -> list[PodMessage]:
    """The messages in order, without those that `parse_message` refuses."""
    parsed: list[PodMessage] = []
    for each in found:
        try:
            parsed.append(PodMessage(each.pod, each.at, each.message, parse_message(each.message)))
        except NotAMessageError:
            continue
    return parsed


def parse_message(text: str) -> Message:
    """The clauses of `0/5 nodes are available: 3 Insufficient cpu, 2 node(s) were unschedulable. preemption: …`.

    Text before it is skipped. Raises `NotAMessageError`.
    """
    text = " ".join(text[:LONGEST].split())
    head = _HEAD.search(text)
    if head is None:
        raise NotAMessageError('Expected a text with "0/N nodes are available: …", as in the events of a Pending pod; found none.')
    clauses_text, _, preempting = text[head.end() :].partition("preemption: ")
    sentences = [part.strip() for part in clauses_text.strip().rstrip(".").split(". ") if part.strip()]
    listed = [sentence for sentence in sentences if _CLAUSE.match(sentence)]
    clauses = tuple(clause for sentence in listed for clause in _clauses(sentence))
    after = _HEAD.search(preempting)
    nodes = int(head["all"])
    return Message(
        nodes,
        clauses,
        pre_filter=". ".join(sentence for sentence in sentences if sentence not in listed),
        preemption=_clauses(preempting[after.end() :].strip().rstrip(".")) if after is not None else (),
        unaccounted=nodes - sum(clause.count for clause in clauses) if clauses else 0,
    )


def said_clauses(message: str) -> tuple[Clause, ...]:
    """The clauses of a scheduler's message; empty for another text."""
    try:
        return parse_message(message).clauses
    except NotAMessageError:
        return ()


def _clauses(sentence: str) -> tuple[Clause, ...]:
    found = []
    for part in _BETWEEN.split(sentence):
        match = _CLAUSE.fullmatch(part)
        if match is None:
            continue
        reason = match["reason"].strip()
        meaning = meaning_of(reason)
        found.append(
            Clause(
                int(match["count"]),
                reason,
                meaning.plugin if meaning is not None else "",
                "",
                (),
                meaning=meaning.sentence if meaning is not None else "",
                causes=meaning.causes if meaning is not None else (),
                meaning_phrase=meaning.phrase if meaning is not None else None,
            )
        )
    return tuple(found)


def with_nodes(clauses: Sequence[Clause], verdicts: Sequence[NodeVerdict]) -> tuple[Clause, ...]:
    """The clauses of a text, with the nodes to which each applies now. Their number may have changed."""
    nodes: dict[str, list[str]] = {}
    for verdict in verdicts:
        for reason in verdict.reasons:
            nodes.setdefault(reason, []).append(verdict.node)
    return tuple(msgspec.structs.replace(clause, nodes=tuple(nodes.get(clause.reason, ()))) for clause in clauses)
