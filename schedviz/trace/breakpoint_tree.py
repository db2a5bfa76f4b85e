"""Breakpoints as trees, and which events they match."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Callable
from typing import Any

import msgspec

from schedviz.trace.events import POP_CAUSES, AnyEvent, BindingStageEnded, CacheNode, CachePod, QueueMoved, RequeueConsidered, StageEnded

Literal = str | int | float | bool | None
#: Whether a run stops at an event.
Test = Callable[[AnyEvent], bool]


class Popped(msgspec.Struct, frozen=True, tag=True):
    """`popped default/web-7`: a pod left activeQ (v1.36: or backoffQ) for its scheduling cycle."""

    pod: str


class NodeChanged(msgspec.Struct, frozen=True, tag=True):
    """`node node3 changed`: a node's NodeInfo in the cache changed."""

    node: str


class StatusReturned(msgspec.Struct, frozen=True, tag=True):
    """`status Error by NodeResourcesFit at Filter`: a plugin returned this status, for the pod or for a node."""

    code: str
    plugin: str = "*"
    stage: str = "*"


class Reached(msgspec.Struct, frozen=True, tag=True):
    """`pod default/* reached unschedulablePods`: a pod entered a queue from elsewhere. `queue` is its name in events."""

    pod: str
    queue: str


class HintReturned(msgspec.Struct, frozen=True, tag=True):
    """`hint Queue by NodeResourcesFit for default/web-7`: v1.36: a plugin's queueing hint returned this for the pod."""

    hint: str
    plugin: str = "*"
    pod: str = "*"


class Compare(msgspec.Struct, frozen=True, tag=True):
    """`cycle > 10`: compares a member of the event. For a list, one element must match; a missing member never matches."""

    field: tuple[str, ...]
    operator: str
    value: Literal | tuple[Literal, ...]


class Not(msgspec.Struct, frozen=True, tag=True):
    """`not …`"""

    operand: Tree


class And(msgspec.Struct, frozen=True, tag=True):
    """`… and …`"""

    operands: tuple[Tree, ...]


class Or(msgspec.Struct, frozen=True, tag=True):
    """`… or …`"""

    operands: tuple[Tree, ...]


Tree = Popped | NodeChanged | StatusReturned | Reached | HintReturned | Compare | Not | And | Or


def test_of(tree: Tree) -> Test:
    """A function that returns whether the tree matches an event."""
    match tree:
        case Popped():
            return _popped(tree)
        case NodeChanged():
            return _node_changed(tree)
        case StatusReturned():
            return _status_returned(tree)
        case Reached():
            return _reached(tree)
        case HintReturned():
            return _hint_returned(tree)
        case Compare():
            return _compare(tree)
        case Not():
            operand = test_of(tree.operand)
            return lambda event: not operand(event)
        case And():
            conjuncts = [test_of(operand) for operand in tree.operands]
            return lambda event: all(conjunct(event) for conjunct in conjuncts)
    disjuncts = [test_of(operand) for operand in tree.operands]
    return lambda event: any(disjunct(event) for disjunct in disjuncts)


def _popped(tree: Popped) -> Test:
    is_pod = _glob(tree.pod)

    def test(event: AnyEvent) -> bool:
        return type(event) is QueueMoved and event.cause in POP_CAUSES and any(is_pod(move.pod) for move in event.moves)

    return test


def _node_changed(tree: NodeChanged) -> Test:
    is_node = _glob(tree.node)

    def test(event: AnyEvent) -> bool:
        if type(event) is CacheNode:
            return is_node(event.node) or any(is_node(change.node) for change in event.nodes)
        return type(event) is CachePod and any(is_node(change.node) for change in event.nodes)

    return test


def _status_returned(tree: StatusReturned) -> Test:
    is_code, is_plugin, is_stage = _glob(tree.code), _glob(tree.plugin), _glob(tree.stage)

    def test(event: AnyEvent) -> bool:
        if not isinstance(event, StageEnded | BindingStageEnded) or not is_stage(event.stage):
            return False
        if any(is_code(status.code) and is_plugin(status.plugin) for status in event.statuses):
            return True
        return type(event) is StageEnded and any(is_code(rejection.code) and is_plugin(rejection.plugin) for rejection in event.rejections)

    return test


def _reached(tree: Reached) -> Test:
    is_pod = _glob(tree.pod)
    # v1.36 keeps the pods in backoffQ whose attempt ended in an error in a heap of their own.
    queues = {"backoffQ", "errorBackoffQ"} if tree.queue == "backoffQ" else {tree.queue}

    def test(event: AnyEvent) -> bool:
        if type(event) is not QueueMoved:
            return False
        return any(move.target in queues and move.source not in queues and is_pod(move.pod) for move in event.moves)

    return test


def _hint_returned(tree: HintReturned) -> Test:
    is_plugin, is_pod = _glob(tree.plugin), _glob(tree.pod)

    def test(event: AnyEvent) -> bool:
        if type(event) is not RequeueConsidered:
            return False
        return any(
            any(answer.hint == tree.hint and is_plugin(answer.plugin) for answer in decision.hints) and any(map(is_pod, decision.pods))
            for decision in event.decisions
        )

    return test


def _compare(tree: Compare) -> Test:
    if tree.field == ("t",):
        read: Callable[[Any], Any] = _type_of
    else:
        first, *others = tree.field

        def read(event: Any) -> Any:
            value = _member(event, first)
            for name in others:
                value = _inside(value, name)
            return value

    holds = _comparison(tree.operator, tree.value)

    def test(event: AnyEvent) -> bool:
        value = read(event)
        return any(map(holds, value)) if isinstance(value, list) else holds(value)

    return test


def _comparison(operator: str, value: Any) -> Callable[[Any], bool]:
    match operator:
        case "==":
            return lambda actual: _is_same(actual, value)
        case "!=":
            return lambda actual: actual is not _ABSENT and not _is_same(actual, value)
        case "in":
            return lambda actual: any(_is_same(actual, expected) for expected in value)
        case "matches":
            matches = _glob(value)
            return lambda actual: isinstance(actual, str) and matches(actual)
    compare = _ORDERS[operator]
    return lambda actual: _are_ordered(actual, value) and compare(actual, value)


_ORDERS: dict[str, Callable[[Any, Any], bool]] = {
    "<": lambda actual, value: actual < value,
    "<=": lambda actual, value: actual <= value,
    ">": lambda actual, value: actual > value,
    ">=": lambda actual, value: actual >= value,
}

_ABSENT: Any = object()


def _is_same(actual: Any, value: Any) -> bool:
    # In Python True equals 1; in JSON it does not.
    return isinstance(actual, bool) == isinstance(value, bool) and actual == value


def _are_ordered(actual: Any, value: Any) -> bool:
    numbers = isinstance(actual, int | float) and isinstance(value, int | float) and not isinstance(actual, bool)
    return numbers or (isinstance(actual, str) and isinstance(value, str))


def _type_of(event: Any) -> Any:
    return type(event).__struct_config__.tag


def _member(part: Any, name: str) -> Any:
    """A member by its name in JSON."""
    if isinstance(part, msgspec.Struct):
        attribute = attributes_of(type(part)).get(name)
        return _ABSENT if attribute is None else getattr(part, attribute)
    if isinstance(part, dict):
        return part.get(name, _ABSENT)
    return _ABSENT


def _inside(value: Any, name: str) -> Any:
    if isinstance(value, list):
        members = [_member(item, name) for item in value]
        return [inner for member in members for inner in (member if isinstance(member, list) else [member])]
    return _member(value, name)


_attributes: dict[type[msgspec.Struct], dict[str, str]] = {}


def attributes_of(kind: type[msgspec.Struct]) -> dict[str, str]:
    """The members of a struct: their names in JSON, and in Python."""
    attributes = _attributes.get(kind)
    if attributes is None:
        attributes = _attributes[kind] = {field.encode_name: field.name for field in msgspec.structs.fields(kind)}
    return attributes


def _glob(pattern: str) -> Callable[[str], bool]:
    """A name pattern in which `*` matches any text and `?` one character."""
    if "*" not in pattern and "?" not in pattern:
        return pattern.__eq__
    if pattern == "*":
        return lambda _: True
    expression = re.compile(fnmatch.translate(pattern.replace("[", "[[]")))
    return lambda name: expression.match(name) is not None
