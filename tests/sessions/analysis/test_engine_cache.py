"""A cached engine is reused for requests at its position, one at a time, unless a request has changed it."""

from __future__ import annotations

from collections.abc import Iterator
from uuid import UUID

import msgspec
import pytest

from schedviz.engine import Simulation
from schedviz.sessions.analysis import answering, requests
from schedviz.sessions.analysis.engine_cache import ENGINE_CACHE, Moment
from schedviz.sessions.analysis.requests import AnalysisRequest, Change, WhatIf, Why
from schedviz.sessions.models import Session
from tests.sessions.conftest import MakeSession, pod, send, work_off


@pytest.fixture(autouse=True)
def forgotten() -> Iterator[None]:
    ENGINE_CACHE.clear()
    yield
    ENGINE_CACHE.clear()


def ask(session_id: UUID, question: AnalysisRequest, place: str) -> dict[str, object]:
    answering.answer(session_id, msgspec.json.encode(question), place)
    result = requests._stored_answer(place)
    assert result is not None
    assert not result.failed, result.failed
    answer: dict[str, object] = msgspec.json.decode(result.value)
    return answer


def moment_of(session_id: UUID) -> Moment:
    session = Session.objects.get(pk=session_id)
    return (session.pk, session.event, session.applied_seq)


def kept(session_id: UUID) -> Simulation | None:
    moment = moment_of(session_id)
    result = ENGINE_CACHE.pop(moment)
    if result is not None:
        ENGINE_CACHE.put(moment, result)
    return result


def test_the_next_question_about_a_moment_is_put_to_the_same_engine_and_has_the_same_answer(make_session: MakeSession) -> None:
    session_id = make_session(nodes=2, pods=2)
    alone = ask(session_id, Why(pod="default/pod-2"), "alone")
    ENGINE_CACHE.clear()

    ask(session_id, Why(pod="default/pod-1"), "first")
    engine = kept(session_id)
    again = ask(session_id, Why(pod="default/pod-2"), "second")

    assert engine is not None
    assert kept(session_id) is engine
    assert again == alone


def test_another_moment_has_another_engine(make_session: MakeSession) -> None:
    session_id = make_session(nodes=2, pods=2)
    ask(session_id, Why(pod="default/pod-1"), "before")
    engine = kept(session_id)
    send(session_id, "cycle")
    work_off(session_id)

    assert kept(session_id) is None
    assert ask(session_id, Why(pod="default/pod-1"), "after")["standing"] == "scheduled"
    assert kept(session_id) is not engine


@pytest.mark.parametrize("question", [Change(pod="default/pod-1"), WhatIf(pod=pod("copy"), copies=2)])
def test_a_request_that_changes_the_engine_leaves_none_in_the_cache(make_session: MakeSession, question: AnalysisRequest) -> None:
    session_id = make_session(nodes=2, pods=2)
    ask(session_id, question, "changed")
    assert kept(session_id) is None


def test_one_at_a_time_has_it(make_session: MakeSession) -> None:
    session_id = make_session(nodes=2, pods=2)
    ask(session_id, Why(pod="default/pod-1"), "place")
    assert ENGINE_CACHE.pop(moment_of(session_id)) is not None
    assert ENGINE_CACHE.pop(moment_of(session_id)) is None
