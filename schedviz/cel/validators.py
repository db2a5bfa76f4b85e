"""Literals that a function cannot take are found when an expression is compiled. Upstream: cel-go cel/validator.go"""

from __future__ import annotations

from collections.abc import Iterator

from schedviz.cel import lexer
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
