"""Paging, the same for all long lists: `?after=&before=&limit=&tail=` returns `results`, `next`, `previous` and `Link` headers.

The cursor is the member that orders the list: the number of an event, a cycle or a command, or an opaque text where there is no number.
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
from schedviz.web.api.errors import ApiError
from schedviz.web.api.resource import query
from schedviz.web.api.response_headers import add_header

M = TypeVar("M", bound=Model)

#: The parameters that select a page. Links to other pages keep all other parameters.
_PAGE_PARAMETERS = ("after", "before", "tail", "offset")


class Page(msgspec.Struct, frozen=True):
    """The requested part of a long list: up to `limit` numbers in a range, from its start or, with `tail`, from its end."""

    after: int
    before: int | None
    limit: int
    tail: bool


def link_pages(request: Request, *, following: int | str | None, previous: int | str | None) -> None:
    """Add `Link` headers to the neighbouring pages (RFC 8288)."""
    parameters = {name: value for name, value in request.query_params.dict().items() if name not in _PAGE_PARAMETERS}
    links = [
        f'<{request.build_absolute_uri(f"{request.path}?{urlencode({**parameters, name: str(cursor)})}")}>; rel="{relation}"'
        for relation, name, cursor in (("next", "after", following), ("prev", "before", previous))
        if cursor is not None
    ]
    if links:
        add_header(request, "Link", ", ".join(links))


class Rows(msgspec.Struct, frozen=True):
    """A page of rows without numbers, with the cursors of the neighbouring pages."""

    rows: list[Any]
    next: str | None
    previous: str | None


class Paging(msgspec.Struct, frozen=True):
    """The pages of a list: `default` members long, or as many as the client asks for up to `maximum`.

    `numbered` is the member whose number orders the list ("an event"); None for rows without numbers.
    """

    numbered: str | None
    default: int
    maximum: int

    def parameters(self) -> list[OpenApiParameter]:
        """The OpenAPI parameters."""
        kind, cursor = (int, f"The number of {self.numbered}") if self.numbered else (str, "`next` or `previous` of another page")
        length = f"Maximum length of the page: {self.default} by default, at most {self.maximum}."
        return [
            query("after", kind, f"{cursor}; the page starts after it. By default, at the first."),
            query("before", kind, f"{cursor}; the page ends before it. Without `after`, it holds the last ones before it."),
            query("limit", int, length, maximum=self.maximum),
            query("tail", int, "Return this many from the end, instead of `limit`.", maximum=self.maximum),
        ]

    def page_of(self, request: Request) -> Page:
        """`?after=&before=&limit=&tail=`, of a list with numbers. Raises `ApiError` 400."""
        after, before = optional_number(request, "after"), optional_number(request, "before")
        limit, tail = self._limit(request)
        return Page(after=after or 0, before=before, limit=limit, tail=tail or (before is not None and after is None))

    def rows_of(self, request: Request, rows: QuerySet[M], order: Sequence[str]) -> Rows:
        """The page of `rows` in this order, whose last member is unique. Raises `ApiError` 400 for an invalid cursor.

        Rows that are added or deleted between two requests cause no duplicates and no gaps among the other rows.
        """
        limit, tail = self._limit(request)
        offset = whole_number(request, "offset", default=0)
        after, before = (_position(request, name, rows, order) for name in ("after", "before"))
        if after is not None:
            rows = rows.filter(_beyond(order, after))
        if before is not None:
            rows = rows.filter(_beyond(_reversed(order), before))
        from_end = tail or (before is not None and after is None)
        some: list[M] = list(rows.order_by(*(_reversed(order) if from_end else order))[offset : offset + limit + 1])
        more, some = len(some) > limit, some[:limit]
        if from_end:
            some.reverse()
        has_next = some and (more if not from_end else before is not None)
        has_previous = some and (more if from_end else after is not None or offset > 0)
        page = Rows(some, _cursor(some[-1], order) if has_next else None, _cursor(some[0], order) if has_previous else None)
        link_pages(request, following=page.next, previous=page.previous)
        return page

    def _limit(self, request: Request) -> tuple[int, bool]:
        """The length of the page, and whether it is the last one."""
        tail = optional_number(request, "tail")
        return min(max(1, whole_number(request, "limit", default=self.default) if tail is None else tail), self.maximum), tail is not None


def _reversed(order: Sequence[str]) -> list[str]:
    return [name.removeprefix("-") if name.startswith("-") else f"-{name}" for name in order]


def _cursor(row: Model, order: Sequence[str]) -> str:
    names = [name.removeprefix("-") for name in order]
    cursor = msgspec.json.encode([row.pk, [row.pk if name == "pk" else getattr(row, name) for name in names]], enc_hook=str)
    return base64.urlsafe_b64encode(cursor).decode().rstrip("=")


def _position(request: Request, name: str, rows: QuerySet[M], order: Sequence[str]) -> Callable[[str], Any] | None:
    """The row of the cursor in `?name`, as a function from columns to values; None without a cursor."""
    raw = request.query_params.get(name, "")
    if not raw:
        return None
    try:
        pk, values = msgspec.json.decode(base64.urlsafe_b64decode(raw + "=" * (-len(raw) % 4)), type=tuple[str | int, list[Any]])
        columns = dict(zip([column.removeprefix("-") for column in order], values, strict=True))
        # SQLite compares times as text, and the times that it writes itself have fewer digits, so both sides must be in its own form.
        own = rows.model._default_manager.filter(pk=pk)
        own_exists = own.exists()
    except (binascii.Error, ValueError, msgspec.MsgspecError, TypeError, UnicodeError) as error:
        expected = "`next` or `previous` of another page of this list"
        message = f"?{name}={raw[:80]}: {expected} is expected."
        raise ApiError(400, "invalid", message, path=f"?{name}", expected=expected, found=raw[:80]) from error
    return lambda column: own.values(column)[:1] if own_exists else columns[column]


def _beyond(order: Sequence[str], value_of: Callable[[str], Any]) -> Q:
    """The rows after a position in an order."""
    condition, equal = Q(), Q()
    for name in order:
        column = name.removeprefix("-")
        value = value_of(column)
        condition |= equal & Q(**{f"{column}__{'lt' if name.startswith('-') else 'gt'}": value})
        equal &= Q(**{column: value})
    return condition
