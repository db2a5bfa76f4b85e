"""The grammar of breakpoints: parses a text to a tree, or reports the column of the error."""

from __future__ import annotations

import difflib
import functools
import json
from collections.abc import Iterable
from typing import Any, NamedTuple, get_args

import lark
import msgspec

from schedviz.trace.breakpoint_tree import (
    And,
    Compare,
    HintReturned,
    NodeChanged,
    Not,
    Or,
    Popped,
    Reached,
    StatusReturned,
    Tree,
    attributes_of,
)
from schedviz.trace.events import AnyEvent

MAX_LENGTH = 500
#: The maximum nesting of parentheses and `not`s.
MAX_DEPTH = 50

_GRAMMAR = r"""
?start: or_test
?or_test: and_test ("or" and_test)*
?and_test: not_test ("and" not_test)*
?not_test: "not" not_test -> negation
    | "(" or_test ")"
    | _POPPED name -> popped
    | NODE name "changed" -> node_changed
    | STATUS name ["by" name] ["at" name] -> status
    | POD name "reached" QUEUE -> reached
    | HINT name ["by" name] ["for" name] -> hint
    | field OPERATOR literal -> compare
    | field "in" "[" literal ("," literal)* "]" -> one_of
    | field "matches" STRING -> matches

field: (NAME | NODE | STATUS | POD | HINT) ("." (NAME | NODE | STATUS | POD | HINT))*
name: GLOB | STRING
?literal: STRING -> string | NUMBER -> number | CONSTANT -> constant

_POPPED: "popped"
NODE: "node"
STATUS: "status"
POD: "pod"
HINT: "hint"
QUEUE: "activeQ" | "backoffQ" | "errorBackoffQ" | "unschedulablePods"
OPERATOR: "==" | "!=" | "<=" | ">=" | "<" | ">"
CONSTANT: "true" | "false" | "null"
NAME: /[A-Za-z_][A-Za-z0-9_]*/
GLOB: /[A-Za-z0-9*?_][A-Za-z0-9._*?\/-]*/
STRING: /"(?:[^"\\\x00-\x1f]|\\.)*"/
NUMBER: /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?/
%ignore /[ \t\r\n]+/
"""

#: The parser's terminals, as error messages name them.
_WORDS = {
    "_POPPED": "popped",
    "NODE": "node",
    "STATUS": "status",
    "POD": "pod",
    "HINT": "hint",
    "QUEUE": "activeQ, backoffQ, errorBackoffQ or unschedulablePods",
    "OPERATOR": "== != < <= > or >=",
    "CONSTANT": "true, false or null",
    "NAME": "a member of events",
    "GLOB": "a name",
    "STRING": 'a "text"',
    "NUMBER": "a number",
    "LPAR": "(",
    "RPAR": ")",
    "LSQB": "[",
    "RSQB": "]",
    "COMMA": ",",
    "DOT": ".",
    "NOT": "not",
    "AND": "and",
    "OR": "or",
    "BY": "by",
    "AT": "at",
    "FOR": "for",
    "IN": "in",
    "MATCHES": "matches",
    "CHANGED": "changed",
    "REACHED": "reached",
    "$END": "the end",
}
_CODES = ("Success", "Error", "Unschedulable", "UnschedulableAndUnresolvable", "Wait", "Skip", "Pending")
_HINTS = ("Queue", "QueueSkip")
_QUEUES = {"activeQ": "activeQ", "backoffQ": "backoffQ", "errorBackoffQ": "errorBackoffQ", "unschedulablePods": "unschedulable"}


class BreakpointError(Exception):
    """A breakpoint that cannot be parsed: `column` (from 1) is the position, `expected` what could follow there, `found` what does."""

    def __init__(self, message: str, *, column: int, expected: str = "", found: str = "") -> None:
        super().__init__(f"column {column}: {message}")
        self.column = column
        self.expected = expected
        self.found = found


def parse(text: str) -> Tree:
    """The tree of a breakpoint. Raises `BreakpointError`."""
    if len(text) > MAX_LENGTH:
        raise BreakpointError(f"a breakpoint has at most {MAX_LENGTH} characters, this has {len(text)}.", column=MAX_LENGTH + 1)
    _check_depth(text)
    try:
        parsed = _parser().parse(text)
    except lark.exceptions.UnexpectedInput as error:
        raise _explained(text, error) from None
    try:
        tree: Tree = _Trees().transform(parsed)
    except lark.exceptions.VisitError as error:
        if isinstance(error.orig_exc, BreakpointError):
            raise error.orig_exc from None
        raise
    return tree


@functools.cache
def _parser() -> lark.Lark:
    return lark.Lark(_GRAMMAR, parser="lalr", maybe_placeholders=True)


def _check_depth(text: str) -> None:
    """Reject deep nesting. Parentheses in quoted texts count too, which is harmless."""
    depth = 0
    for column, character in enumerate(text, start=1):
        depth += (character == "(") - (character == ")")
        if depth > MAX_DEPTH:
            raise BreakpointError(f"more than {MAX_DEPTH} parentheses are open.", column=column)
    if text.split().count("not") > MAX_DEPTH:
        raise BreakpointError(f"a breakpoint has at most {MAX_DEPTH} `not`s.", column=1)


def _explained(text: str, error: lark.exceptions.UnexpectedInput) -> BreakpointError:
    if isinstance(error, lark.exceptions.UnexpectedToken):
        terminals: Iterable[str] = error.accepts or error.expected
        ended = error.token.type == "$END"
        column = len(text.rstrip()) + 1 if ended else (error.column or 1)
        actual = "the end" if ended else str(error.token)
    else:
        terminals = error.allowed if isinstance(error, lark.exceptions.UnexpectedCharacters) else ()
        column = (error.pos_in_stream or 0) + 1
        actual = text[column - 1 :].split(maxsplit=1)[0] if text[column - 1 :].split() else "the end"
    expected = _listed(terminals or ())
    if not actual[0].isalnum():
        actual = f'"{actual}"'
    return BreakpointError(f"expected {expected}, found {actual[:40]}", column=column, expected=expected, found=actual[:40])


def _listed(terminals: Iterable[str]) -> str:
    order = list(_WORDS)
    labels = [
        _WORDS.get(name, name) for name in sorted(set(terminals), key=lambda name: order.index(name) if name in order else len(order))
    ]
    return labels[0] if len(labels) == 1 else f"{', '.join(labels[:-1])} or {labels[-1]}" if labels else "nothing more"


class _Trees(lark.Transformer[lark.Token, Any]):
    """Converts the parser's tree to ours."""

    def or_test(self, operands: list[Tree]) -> Tree:
        return Or(tuple(operands))

    def and_test(self, operands: list[Tree]) -> Tree:
        return And(tuple(operands))

    def negation(self, operands: list[Tree]) -> Tree:
        return Not(operands[0])

    def popped(self, parts: list[lark.Token]) -> Tree:
        return Popped(pod=str(parts[0]))

    def node_changed(self, parts: list[Any]) -> Tree:
        return NodeChanged(node=str(parts[1]))

    def status(self, parts: list[Any]) -> Tree:
        _, code, plugin, stage = parts
        if not any(mark in code for mark in "*?") and code not in _CODES:
            raise _unknown("status", str(code), _CODES, code.column)
        return StatusReturned(code=str(code), plugin=str(plugin or "*"), stage=str(stage or "*"))

    def reached(self, parts: list[Any]) -> Tree:
        return Reached(pod=str(parts[1]), queue=_QUEUES[parts[2]])

    def hint(self, parts: list[Any]) -> Tree:
        _, hint, plugin, pod = parts
        if hint not in _HINTS:
            raise _unknown("hint", str(hint), _HINTS, hint.column)
        return HintReturned(hint=str(hint), plugin=str(plugin or "*"), pod=str(pod or "*"))

    def compare(self, parts: list[Any]) -> Tree:
        field, operator, literal = parts
        value = literal.value
        if operator in ("==", "!="):
            _check_type(field, literal)
        elif not isinstance(value, str | int | float) or isinstance(value, bool):
            message, expected = f"{operator} compares numbers and texts, not {json.dumps(value)}", "a number or a text"
            raise BreakpointError(message, column=literal.column, expected=expected, found=json.dumps(value))
        return Compare(field=_names(field), operator=str(operator), value=value)

    def one_of(self, parts: list[Any]) -> Tree:
        field, *literals = parts
        for literal in literals:
            _check_type(field, literal)
        return Compare(field=_names(field), operator="in", value=tuple(literal.value for literal in literals))

    def matches(self, parts: list[Any]) -> Tree:
        field, pattern = parts
        return Compare(field=_names(field), operator="matches", value=_text(pattern))

    def field(self, names: list[lark.Token]) -> list[lark.Token]:
        members = _members()
        if str(names[0]) not in members:
            raise _unknown("member of events", str(names[0]), members, names[0].column or 1)
        return names

    def name(self, parts: list[lark.Token]) -> lark.Token:
        token = parts[0]
        return lark.Token.new_borrow_pos("NAME", _text(token), token) if token.type == "STRING" else token

    def string(self, parts: list[lark.Token]) -> _Value:
        return _Value(_text(parts[0]), parts[0].column or 1)

    def number(self, parts: list[lark.Token]) -> _Value:
        return _Value(json.loads(parts[0]), parts[0].column or 1)

    constant = number


class _Value(NamedTuple):
    """A literal and its position."""

    value: Any
    column: int


def _check_type(field: list[lark.Token], literal: _Value) -> None:
    """Reject an unknown type of events, which would never match."""
    if _names(field) == ("t",) and literal.value not in _types():
        raise _unknown("type of events", str(literal.value), _types(), literal.column)


def _names(field: list[lark.Token]) -> tuple[str, ...]:
    return tuple(str(name) for name in field)


def _text(token: lark.Token) -> str:
    try:
        value: str = json.loads(token)
    except ValueError:
        raise BreakpointError("this text has an escape that JSON does not have", column=token.column or 1, found=str(token)[:40]) from None
    return value


def _unknown(noun: str, found: str, known_names: Iterable[str], column: int) -> BreakpointError:
    names = sorted(known_names)
    near = difflib.get_close_matches(found, names, n=1)
    meant = f"; did you mean {near[0]}?" if near else ""
    return BreakpointError(f"there is no {noun} {found[:40]!r}{meant}", column=column, expected=", ".join(names), found=found[:40])


@functools.cache
def _types() -> frozenset[str]:
    return frozenset(str(kind.__struct_config__.tag) for kind in get_args(AnyEvent))


@functools.cache
def _members() -> frozenset[str]:
    kinds: tuple[type[msgspec.Struct], ...] = get_args(AnyEvent)
    return frozenset({"t"}.union(*(attributes_of(kind) for kind in kinds)))
