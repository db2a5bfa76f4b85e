"""Literals that cannot be used are found when an expression is compiled: those that a function does not take, and those of mixed types.

Upstream: cel-go cel/validator.go, ext/formatting.go stringFormatValidator
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from schedviz.cel import lexer
from schedviz.cel.checker import Checked
from schedviz.cel.errors import CelError, CompileError, Issue
from schedviz.cel.library import formatting
from schedviz.cel.library.regular_expressions import is_pattern
from schedviz.cel.library.times import DURATION, TIMESTAMP, parse_duration, parse_timestamp
from schedviz.cel.syntax import Call, Comprehension, ListLiteral, Literal, MapLiteral, Node, Select
from schedviz.cel.types import BOOL, BYTES, DOUBLE, INT, STRING, UINT, Type

#: By the letter of a clause of a format: the types that it takes. `s` takes all plain types and more.
_FORMATTED: Final = {
    "d": (INT, UINT),
    "f": (DOUBLE, STRING),
    "e": (DOUBLE, STRING),
    "b": (INT, UINT, BOOL),
    "x": (INT, UINT, STRING, BYTES),
    "X": (INT, UINT, STRING, BYTES),
    "o": (INT, UINT),
}


def validate_literals(tree: Node, source: str) -> None:
    """Check the constant arguments of `duration`, `timestamp` and `matches`. Raises `CompileError`."""
    issues = [
        Issue(f"invalid {function} argument", *lexer.place(source, argument.offset))
        for function, argument in _constant_arguments(tree)
        if not _is_valid(function, argument.value)
    ]
    if issues:
        raise CompileError(source, issues)


def validate_types(tree: Node, source: str, checked: Checked) -> None:
    """Check that the elements of a list or map have one type: `dyn` is one of its own. Raises `CompileError`.

    Upstream: homogeneousAggregateLiteralValidator
    """
    issues = [
        Issue(f"expected type '{checked.type_of(first)}' but found '{checked.type_of(other)}'", *lexer.place(source, other.offset))
        for first, other in _mixed(tree, checked)
    ]
    if issues:
        raise CompileError(source, issues)


def validate_formats(tree: Node, source: str, checked: Checked) -> None:
    """Check constant formats, and the types of the values in their list. Raises `CompileError`."""
    issues = [Issue(message, *lexer.place(source, place.offset)) for place, message in _wrong_formats(tree, checked)]
    if issues:
        raise CompileError(source, issues)


def _wrong_formats(node: Node, checked: Checked) -> Iterator[tuple[Node, str]]:
    """The first problem of each constant format, and the part of the expression that has it."""
    if (
        isinstance(node, Call)
        and node.function == "format"
        and isinstance(node.target, Literal)
        and isinstance(node.target.value, str)
        and len(node.arguments) == 1
        and isinstance(node.arguments[0], ListLiteral)
    ):
        problem = _format_problem(node, node.target.value, node.arguments[0].elements, checked)
        if problem is not None:
            yield problem
    for part in _parts(node):
        yield from _wrong_formats(part, checked)


def _format_problem(call: Call, form: str, values: tuple[Node, ...], checked: Checked) -> tuple[Node, str] | None:
    used = 0
    try:
        for letter in formatting.clauses(form, len(values)):
            wrong = _not_formatted(values[used], letter, checked)
            if wrong is not None:
                return wrong, f"error during formatting: {formatting.RULES[letter]}, was given {checked.type_of(wrong).runtime_name}"
            used += 1
    except CelError as error:
        return call, str(error)
    if len(values) > used:
        return call, f"too many arguments supplied to string.format (expected {used}, got {len(values)})"
    return None


def _not_formatted(node: Node, letter: str, checked: Checked) -> Node | None:
    """The node, or the part of its literal, that the clause does not take; None: it takes the whole."""
    type_ = checked.type_of(node)
    if letter != "s":
        return None if type_.kind == "dyn" or type_ in _FORMATTED[letter] else node
    if not _is_shown(type_):
        return node
    parts: tuple[Node, ...] = ()
    if isinstance(node, ListLiteral):
        parts = node.elements
    elif isinstance(node, MapLiteral):
        parts = tuple(part for entry in node.entries for part in entry)
    return next((wrong for part in parts if (wrong := _not_formatted(part, letter, checked)) is not None), None)


def _is_shown(type_: Type) -> bool:
    return type_.kind in ("plain", "list", "map", "type", "null", "dyn") or type_ in (DURATION, TIMESTAMP)


def _mixed(node: Node, checked: Checked) -> Iterator[tuple[Node, Node]]:
    """Pairs of elements of one literal that have different types: its first element, and the first that differs."""
    if isinstance(node, Call) and node.function == "format":
        # It takes lists of any values.
        return
    if isinstance(node, ListLiteral) and node.elements and not node.optional:
        yield from _differing(node.elements, checked)
    elif isinstance(node, MapLiteral) and not node.optional:
        for elements in zip(*node.entries, strict=True):
            yield from _differing(elements, checked)
    for part in _parts(node):
        yield from _mixed(part, checked)


def _differing(elements: Iterable[Node], checked: Checked) -> Iterator[tuple[Node, Node]]:
    first, *others = elements
    expected = checked.type_of(first)
    for other in others:
        if checked.type_of(other) != expected:
            yield first, other
            return


def _is_valid(function: str, text: object) -> bool:
    if not isinstance(text, str):
        return True
    if function == "matches":
        return is_pattern(text)
    try:
        return (parse_duration(text) if function == "duration" else parse_timestamp(text)) is not None
    except CelError:
        return False


def _constant_arguments(node: Node) -> Iterator[tuple[str, Literal]]:
    if isinstance(node, Call) and node.function in ("duration", "timestamp", "matches") and node.arguments:
        argument = node.arguments[0]
        if isinstance(argument, Literal):
            yield node.function, argument
    for part in _parts(node):
        yield from _constant_arguments(part)


def _parts(node: Node) -> Iterator[Node]:
    match node:
        case Select():
            yield node.operand
        case Call():
            yield from node.arguments if node.target is None else (node.target, *node.arguments)
        case ListLiteral():
            yield from node.elements
        case MapLiteral():
            for key, value in node.entries:
                yield key
                yield value
        case Comprehension():
            yield from (node.source, node.start, node.condition, node.step, node.result)
