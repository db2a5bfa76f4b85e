"""Rows in the order of a column, some at a time, each time with a statement of its own and nothing open in between.

Django's `iterator()` keeps a cursor open at PostgreSQL. Where a reader is left before its end in a cycle of references (an exception that
another refers to is enough) the garbage collector closes it: in the midst of whatever statement this thread runs just then over the same
connection, whose lock is not given twice. That thread waited for ever.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.db.models import QuerySet


def in_steps(rows: QuerySet[Any], column: str, *others: str, at_once: int, backwards: bool = False) -> Iterator[tuple[Any, ...]]:
    """The column, no value of which may come twice, and others of each row, in order or from the last to the first."""
    ordered = rows.order_by(f"-{column}" if backwards else column).values_list(column, *others)
    beyond = f"{column}__lt" if backwards else f"{column}__gt"
    some = list(ordered[:at_once])
    yield from some
    while len(some) == at_once:
        some = list(ordered.filter(**{beyond: some[-1][0]})[:at_once])
        yield from some
