"""Syntax trees of expressions. Macros are expanded: a tree has no `has`, `all` or `map`, but presence tests and comprehensions.

Nodes are compared by identity, so that the type checker can keep a type for each.
"""

from __future__ import annotations

from typing import Any

import msgspec


class Node(msgspec.Struct, eq=False):
    """A part of an expression. `offset` is the character that messages point to."""

    offset: int


class Literal(Node, eq=False):
    """A constant."""

    value: Any


class Identifier(Node, eq=False):
    """A variable. A name with a leading dot is never that of a loop."""

    name: str


class Select(Node, eq=False):
    """`operand.field`, or (`has`) a test whether it is present."""

    operand: Node
    field: str
    is_test: bool = False


class Call(Node, eq=False):
    """A function or operator. `target` is what comes before the dot of a member function."""

    function: str
    arguments: tuple[Node, ...]
    target: Node | None = None


class ListLiteral(Node, eq=False):
    """A list; the elements at `optional` are left out if they have no value."""

    elements: tuple[Node, ...]
    optional: frozenset[int] = frozenset()


class MapLiteral(Node, eq=False):
    """A map; the entries at `optional` are left out if their value has none."""

    entries: tuple[tuple[Node, Node], ...]
    optional: frozenset[int] = frozenset()


class Comprehension(Node, eq=False):
    """A loop: `accumulator` begins as `start` and becomes `step` for each element, while `condition` holds; then `result` is the value."""

    source: Node
    variable: str
    #: The second variable of a two-variable comprehension; "": there is none.
    second_variable: str
    accumulator: str
    start: Node
    condition: Node
    step: Node
    result: Node
