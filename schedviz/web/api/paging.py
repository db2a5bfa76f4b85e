"""Long lists in pages, the same everywhere: `?after=&before=&limit=&tail=` gives `results`, `next`, `previous`, and `Link` headers.

What a list is ordered by is its cursor: the number of an event, a cycle or a command; where there is no number, a text that means nothing
to others.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import msgspec
from django.db.models import Model, Q, QuerySet
from django.utils.http import urlencode
from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request

from schedviz.web.api.access import optional_number, whole_number
from schedviz.web.api.answer_headers import add_header
from schedviz.web.api.errors import ApiError
from schedviz.web.api.resource import query

M = TypeVar("M", bound=Model)

#: Members that lead from one page to another; all others of the query string are kept.
_LEADING = ("after", "before", "tail", "offset")


class Page(msgspec.Struct, frozen=True):
    """Which part of a long list is asked for: up to `limit` numbers between two, the first of them or, with `tail`, the last."""

    after: int
    before: int | None
    limit: int
    tail: bool


def page_of(request: Request, *, default: int, most: int) -> Page:
    """`?after=&before=&limit=&tail=`. Raises `ApiError` 400."""
    after, before = optional_number(request, "after"), optional_number(request, "before")
    limit, tail = _limit(request, default=default, most=most)
    return Page(after=after or 0, before=before, limit=limit, tail=tail or (before is not None and after is None))


def page_parameters(what: str, *, default: int, most: int, number: bool = True) -> list[OpenApiParameter]:
    """The same, as the schema tells it. `what` the list is ordered by: "an event"."""
    kind, cursor = (int, f"The number of {what}") if number else (str, "`next` or `previous` of another page")

    return [
        query("after", kind, f"{cursor}; those after it are given. Left out: from the first."),
        query("before", kind, f"{cursor}; those before it are given, the last of them where there is no `after`."),
        query("limit", int, f"How many at most: {default}, never more than {most}.", most=most),
        query("tail", int, "The last so many, instead of `limit`.", most=most),
    ]


def link_pages(request: Request, *, following: int | str | None, previous: int | str | None) -> None:
    """Tell the addresses of the pages beside this one, as `Link` headers (RFC 8288)."""
    kept = {name: value for name, value in request.query_params.dict().items() if name not in _LEADING}
    links = [
        f'<{request.build_absolute_uri(f"{request.path}?{urlencode({**kept, name: str(cursor)})}")}>; rel="{relation}"'
        for relation, name, cursor in (("next", "after", following), ("prev", "before", previous))
        if cursor is not None
    ]
    if links:
        add_header(request, "Link", ", ".join(links))


class Rows(msgspec.Struct, frozen=True):
    """A page of rows that have no number, with the cursors of the pages beside it."""

    rows: list[Any]
    next: str | None
    previous: str | None


def page_of_rows(request: Request, rows: QuerySet[M], order: Sequence[str], *, default: int, most: int) -> Rows:
    """A page of `rows` in this order, of which the last member is unique. Raises `ApiError` 400 for a cursor that is none.

    A row that comes or goes meanwhile makes none of the others come twice or not at all.
    """
    limit, tail = _limit(request, default=default, most=most)
    offset = whole_number(request, "offset", default=0)
    after, before = (_place(request, name, rows, order) for name in ("after", "before"))
    if after is not None:
        rows = rows.filter(_beyond(order, after))
    if before is not None:
        rows = rows.filter(_beyond(_turned(order), before))
    from_end = tail or (before is not None and after is None)
    some: list[M] = list(rows.order_by(*(_turned(order) if from_end else order))[offset : offset + limit + 1])
    more, some = len(some) > limit, some[:limit]
    if from_end:
        some.reverse()
    has_next = some and (more if not from_end else before is not None)
    has_previous = some and (more if from_end else after is not None or offset > 0)
    found = Rows(some, _cursor(some[-1], order) if has_next else None, _cursor(some[0], order) if has_previous else None)
    link_pages(request, following=found.next, previous=found.previous)
    return found


def _limit(request: Request, *, default: int, most: int) -> tuple[int, bool]:
    tail = optional_number(request, "tail")
    return min(max(1, whole_number(request, "limit", default=default) if tail is None else tail), most), tail is not None


def _turned(order: Sequence[str]) -> list[str]:
    return [name.removeprefix("-") if name.startswith("-") else f"-{name}" for name in order]


def _cursor(row: Model, order: Sequence[str]) -> str:
    names = [name.removeprefix("-") for name in order]
    written = msgspec.json.encode([row.pk, [row.pk if name == "pk" else getattr(row, name) for name in names]], enc_hook=str)
    return base64.urlsafe_b64encode(written).decode().rstrip("=")


def _place(request: Request, name: str, rows: QuerySet[M], order: Sequence[str]) -> Callable[[str], Any] | None:
    """Where a cursor is: gives, for a column, what to compare with."""
    given = request.query_params.get(name, "")
    if not given:
        return None
    try:
        pk, values = msgspec.json.decode(base64.urlsafe_b64decode(given + "=" * (-len(given) % 4)), type=tuple[str | int, list[Any]])
        columns = dict(zip([one.removeprefix("-") for one in order], values, strict=True))
        # SQLite compares times as texts, and those that it writes itself have fewer digits: it is to compare what it has with what it has.
        own = rows.model._default_manager.filter(pk=pk)
        own_exists = own.exists()
    except (binascii.Error, ValueError, msgspec.MsgspecError, TypeError, UnicodeError) as error:
        expected = "`next` or `previous` of another page of this list"
        message = f"?{name}={given[:80]}: {expected} is expected."
        raise ApiError(400, "invalid", message, path=f"?{name}", expected=expected, found=given[:80]) from error
    return lambda column: own.values(column)[:1] if own_exists else columns[column]


def _beyond(order: Sequence[str], value_of: Callable[[str], Any]) -> Q:
    """The rows after a place in an order."""
    found, equal = Q(), Q()
    for name in order:
        column = name.removeprefix("-")
        value = value_of(column)
        found |= equal & Q(**{f"{column}__{'lt' if name.startswith('-') else 'gt'}": value})
        equal &= Q(**{column: value})
    return found
