"""Literals that cannot be used are found when an expression is compiled: those that a function does not take, and those of mixed types.

Upstream: cel-go cel/validator.go
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from schedviz.cel import lexer
from schedviz.cel.checker import Checked
from schedviz.cel.errors import CelError, CompileError, Issue
from schedviz.cel.library.times import parse_duration, parse_timestamp
from schedviz.cel.syntax import Call, Comprehension, ListLiteral, Literal, MapLiteral, Node, Select


def validate_literals(tree: Node, source: str) -> None:
    """Check the constant arguments of `duration` and `timestamp`. Raises `CompileError`."""
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
    try:
        return (parse_duration(text) if function == "duration" else parse_timestamp(text)) is not None
    except CelError:
        return False


def _constant_arguments(node: Node) -> Iterator[tuple[str, Literal]]:
    if isinstance(node, Call) and node.function in ("duration", "timestamp") and node.arguments:
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
