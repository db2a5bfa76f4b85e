"""A row read by a prepared query equals the one that Django returns."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime

import pytest
from django.contrib.auth.models import User
from django.db.models import Model
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from schedviz.sessions.models import Command, Session
from schedviz.sessions.queries.prepared import stored_id
from schedviz.sessions.queries.rows import RowBy, RowsWhere
from schedviz.web.models import Token

pytestmark = pytest.mark.django_db


def values(row: Model) -> dict[str, object]:
    return {field.attname: getattr(row, field.attname) for field in row._meta.concrete_fields}


def test_every_kind_of_column_is_read_as_django_reads_it() -> None:
    owner = User.objects.create_user("owner")
    session = Session.objects.create(name="a", owner=owner, source={"generate": {"nodes": 3}}, hit=None, progress={"done": 1})
    token = Token.objects.create(owner=owner, name="t", digest="d" * 64, expires_at=datetime(2030, 1, 1, tzinfo=UTC))

    for row, found in (
        (session, RowBy(Session, "id")(session.pk)),
        (owner, RowBy(User, "id")(owner.pk)),
        (token, RowBy(Token, "digest")(token.digest)),
    ):
        assert found is not None
        assert values(found) == values(type(row).objects.get(pk=row.pk))  # type: ignore[attr-defined]


def test_a_row_that_was_read_can_be_changed_and_saved() -> None:
    made = Session.objects.create(name="before")
    result = RowBy(Session, "id")(made.pk)
    assert result is not None

    result.name = "after"
    result.save()

    assert Session.objects.get().name == "after"


def test_a_missing_row_is_read_as_none() -> None:
    assert RowBy(Session, "id")(uuid.uuid4()) is None


def test_a_row_is_read_with_its_related_row_in_one_query(django_assert_num_queries: DjangoAssertNumQueries) -> None:
    owner = User.objects.create_user("owner", email="owner@example.org")
    token = Token.objects.create(owner=owner, name="t", digest="d" * 64, expires_at=datetime(2030, 1, 1, tzinfo=UTC))

    with django_assert_num_queries(1):
        result = RowBy(Token, "digest", with_related="owner")(token.digest)
        assert result is not None
        values_of_owner = values(result.owner)

    assert values(result) == values(Token.objects.get())
    assert values_of_owner == values(User.objects.get())


def test_rows_are_read_in_the_order_and_up_to_the_limit_of_the_condition() -> None:
    session, other = Session.objects.create(name="a"), Session.objects.create(name="b")
    for seq in (1, 2, 3, 4):
        outcome = {"event": seq} if seq < 4 else None
        Command.objects.create(session=session, seq=seq, key=str(seq), body=b"{}", outcome=outcome, applied_at=timezone.now())
    Command.objects.create(session=other, seq=3, key="3", body=b"{}")
    last = RowsWhere(Command, "session_id = %s AND seq > %s ORDER BY seq DESC LIMIT %s")

    result = last(stored_id(session.pk), 1, 2)

    wanted = Command.objects.filter(session=session, seq__gt=1).order_by("-seq")[:2]
    assert [values(one) for one in result] == [values(one) for one in wanted]
    assert [one.seq for one in result] == [4, 3]
    assert not last(stored_id(session.pk), 4, 2)
