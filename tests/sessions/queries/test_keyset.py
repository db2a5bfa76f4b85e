"""Rows are read in batches, and stopping early leaves no open cursor."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from uuid import UUID

import pytest
from django.db import connection

from schedviz.sessions.history import reading
from schedviz.sessions.models import Chunk, Session
from schedviz.sessions.queries.keyset import read_in_batches
from tests.sessions.conftest import MakeSession, send, work_off


@pytest.fixture
def session_id(make_session: MakeSession) -> UUID:
    made = make_session()
    for _ in range(7):
        send(made, "step", unit="cycle")
        work_off(made)
    return made


@pytest.mark.parametrize("batch_size", [1, 2, 3, 7, 100])
def test_all_rows_are_read_in_order_for_every_batch_size(session_id: UUID, batch_size: int) -> None:
    rows = Chunk.objects.filter(session_id=session_id)
    expected = list(rows.order_by("number").values_list("number", "last_event"))
    assert len(expected) >= 7

    assert list(read_in_batches(rows, "number", "last_event", batch_size=batch_size)) == expected
    assert list(read_in_batches(rows, "number", "last_event", batch_size=batch_size, backwards=True)) == expected[::-1]
    assert list(read_in_batches(rows.none(), "number", batch_size=batch_size)) == []


@contextmanager
def collecting_in_statements(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The garbage collector runs while a statement waits and PostgreSQL's driver holds the connection's lock."""
    with monkeypatch.context() as patch:
        if connection.vendor == "postgresql":
            driver: Any = connection.connection
            wait = driver.wait

            def collect_and_wait(*arguments: Any, **named: Any) -> Any:
                gc.collect()
                return wait(*arguments, **named)

            patch.setattr(driver, "wait", collect_and_wait)
        yield


@pytest.mark.timeout(60)
def test_an_unfinished_read_in_a_reference_cycle_does_not_block_a_thread(session_id: UUID, monkeypatch: pytest.MonkeyPatch) -> None:
    end = Session.objects.get(pk=session_id).event
    left = [reading.each_event(session_id, after=0, until=end)]
    next(left[0])
    left.append(left)  # type: ignore[arg-type]
    del left

    with collecting_in_statements(monkeypatch):
        assert Session.objects.get(pk=session_id).event == end
