"""The lineage of a session: which sessions store which part of its history. Lineages of forks are tested in tests/sessions/forks."""

from __future__ import annotations

from uuid import UUID, uuid4

from schedviz.sessions.history import lineage, reading


def test_the_lineage_of_an_unknown_session_is_empty(transactional_db: None) -> None:
    nobody: UUID = uuid4()

    assert lineage.segments(nobody) == []
    assert reading.events(nobody) == []
