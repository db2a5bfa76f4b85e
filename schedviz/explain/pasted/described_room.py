"""`with_described_room`: the answers with how much the described nodes have free of what the scheduler says is insufficient."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from schedviz.engine.framework.plugins import names
from schedviz.explain.messages.parsed_message import ParsedMessage, newest_of_each_source
from schedviz.explain.pasted.pod_answer import PodAnswer
from schedviz.kube.printed_amount import printed_amount
from schedviz.kube.quantity import Quantity, QuantityError, parse
from schedviz.kube.text_facts import NodeCapacity, TextFact
from schedviz.trace.phrase import Phrase, counted, phrase

_INSUFFICIENT: Final = "Insufficient "
_TOO_MANY_PODS: Final = "Too many pods"
#: Only few nodes are described by people.
_MAX_NODES: Final = 3


def with_described_room(
    answers: Sequence[PodAnswer], messages: Sequence[ParsedMessage], facts: Sequence[TextFact], age: Callable[[str], float]
) -> tuple[PodAnswer, ...]:
    """The answers; those about pods whose newest message lacks CPU, memory or a place note what is free, not of devices."""
    rooms = [fact for fact in facts if isinstance(fact, NodeCapacity)]
    if not rooms:
        return tuple(answers)
    return tuple(_noting(answer, [each for each in messages if each.pod == answer.pod], rooms, age) for answer in answers)


def _noting(answer: PodAnswer, messages: Sequence[ParsedMessage], rooms: Sequence[NodeCapacity], age: Callable[[str], float]) -> PodAnswer:
    if answer.is_over or not messages:
        return answer
    newest = newest_of_each_source(messages, age)[0]
    lacking = [
        "pods" if clause.reason == _TOO_MANY_PODS else clause.reason.removeprefix(_INSUFFICIENT)
        for clause in newest.message.clauses
        if clause.plugin == names.NODE_RESOURCES_FIT and clause.reason.startswith((_INSUFFICIENT, _TOO_MANY_PODS))
    ]
    if newest.writer or len(rooms) > newest.message.nodes:
        return answer
    shown = [(room, resource) for resource in lacking if resource in ("cpu", "memory", "pods") for room in rooms[:_MAX_NODES]]
    notes = [free for room, resource in shown if (free := _free(room, resource)) is not None]
    return answer.with_note(*notes) if notes else answer


def _free(room: NodeCapacity, resource: str) -> Phrase | None:
    """How much of a resource a described node has free; None: the description does not say so."""
    offered, used = _amount(room.allocatable.get(resource, "")), _amount(room.requested.get(resource, ""))
    if offered is None:
        return None
    if resource == "pods":
        return _places(room, offered.value)
    if used is None:
        return _offered(room, resource, offered)
    amounts = _base(resource, offered) - _base(resource, used), _base(resource, offered), _base(resource, used)
    free, all_, requested = (printed_amount(resource, max(amount, 0)) for amount in amounts)
    if resource == "cpu":
        return phrase("A described node has {free} CPU free: its pods request {used} of {all} CPU.", free=free, used=requested, all=all_)
    return phrase("A described node has {free} of memory free: its pods request {used} of {all}.", free=free, used=requested, all=all_)


def _places(room: NodeCapacity, count: int) -> Phrase:
    if not room.node:
        return phrase("A described node takes at most {pods}.", pods=counted(count, "{count} pod", "{count} pods"))
    return phrase("The node `{node}` takes at most {pods}.", node=room.node, pods=counted(count, "{count} pod", "{count} pods"))


def _offered(room: NodeCapacity, resource: str, offered: Quantity) -> Phrase | None:
    """What a node has in total, of which its pods use an unknown part."""
    if not room.node:
        return None
    amount = printed_amount(resource, _base(resource, offered))
    if resource == "cpu":
        return phrase("The node `{node}` has {amount} CPU allocatable for all its pods.", node=room.node, amount=amount)
    return phrase("The node `{node}` has {amount} of memory allocatable for all its pods.", node=room.node, amount=amount)


def _base(resource: str, amount: Quantity) -> int:
    return amount.milli_value if resource == "cpu" else amount.value


def _amount(text: str) -> Quantity | None:
    try:
        return parse(text)
    except QuantityError:
        return None
