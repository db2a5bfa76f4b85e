"""`with_described_room`: the answers with how much the described nodes have free of what the scheduler says is insufficient."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import msgspec

from schedviz.engine.framework.plugins import names
from schedviz.explain.messages.parsed_message import ParsedMessage, newest_of_each_source
from schedviz.explain.pasted.pod_answer import Event, PodAnswer
from schedviz.kube.printed_amount import printed_amount
from schedviz.kube.quantity import Quantity, QuantityError, parse
from schedviz.trace.phrase import Phrase, joined, phrase

_INSUFFICIENT: Final = "Insufficient "
#: Only few nodes are described by people.
_MAX_NODES: Final = 3


def with_described_room(
    answers: Sequence[PodAnswer], messages: Sequence[ParsedMessage], events: Sequence[Event], age: Callable[[str], float]
) -> tuple[PodAnswer, ...]:
    """The answers; those about pods whose newest message lacks CPU or memory note what is free. Devices are noted elsewhere."""
    rooms = [event for event in events if event.offers and event.requested]
    if not rooms:
        return tuple(answers)
    return tuple(_noting(answer, [each for each in messages if each.pod == answer.pod], rooms, age) for answer in answers)


def _noting(answer: PodAnswer, messages: Sequence[ParsedMessage], rooms: Sequence[Event], age: Callable[[str], float]) -> PodAnswer:
    if answer.is_over or not messages:
        return answer
    newest = newest_of_each_source(messages, age)[0]
    lacking = [
        clause.reason.removeprefix(_INSUFFICIENT)
        for clause in newest.message.clauses
        if clause.plugin == names.NODE_RESOURCES_FIT and clause.reason.startswith(_INSUFFICIENT)
    ]
    if newest.writer or len(rooms) > newest.message.nodes:
        return answer
    shown = [(room, resource) for resource in lacking if resource in ("cpu", "memory") for room in rooms[:_MAX_NODES]]
    notes = [free for room, resource in shown if (free := _free(room, resource)) is not None]
    if not notes:
        return answer
    note = joined([*([answer.note_phrase] if answer.note_phrase is not None else []), *notes], "{first} {next}")
    return msgspec.structs.replace(answer, note=note.text, note_phrase=note)


def _free(room: Event, resource: str) -> Phrase | None:
    """How much of a resource a described node has free; None: the description does not say so."""
    offered, used = _amount(room.offers.get(resource, "")), _amount(room.requested.get(resource, ""))
    if offered is None or used is None:
        return None
    amounts = _base(resource, offered) - _base(resource, used), _base(resource, offered), _base(resource, used)
    free, all_, requested = (printed_amount(resource, max(amount, 0)) for amount in amounts)
    if resource == "cpu":
        return phrase("A described node has {free} CPU free: its pods request {used} of {all} CPU.", free=free, used=requested, all=all_)
    return phrase("A described node has {free} of memory free: its pods request {used} of {all}.", free=free, used=requested, all=all_)


def _base(resource: str, amount: Quantity) -> int:
    return amount.milli_value if resource == "cpu" else amount.value


def _amount(text: str) -> Quantity | None:
    try:
        return parse(text)
    except QuantityError:
        return None
