"""Keyset pagination: reads rows in batches, each with its own query, so that no cursor stays open.

Django's `iterator()` keeps a server-side cursor open on PostgreSQL. If an unfinished iterator is part of a reference cycle (an exception
with a context suffices), the garbage collector closes the cursor during whatever statement the thread is executing on the same connection.
The connection's lock is not reentrant, so the thread deadlocks.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.db.models import QuerySet


def read_in_batches(rows: QuerySet[Any], column: str, *others: str, batch_size: int, backwards: bool = False) -> Iterator[tuple[Any, ...]]:
    """Yield a unique column and others of each row, ascending or descending by that column."""
    ordered = rows.order_by(f"-{column}" if backwards else column).values_list(column, *others)
    beyond = f"{column}__lt" if backwards else f"{column}__gt"
    batch = list(ordered[:batch_size])
    yield from batch
    while len(batch) == batch_size:
        batch = list(ordered.filter(**{beyond: batch[-1][0]})[:batch_size])
        yield from batch
