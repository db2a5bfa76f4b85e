"""A cached engine is reused for requests at its position, one at a time, unless a request has changed it."""

from __future__ import annotations

from collections.abc import Iterator
from uuid import UUID

import msgspec
import pytest

from schedviz.engine import Simulation
from schedviz.sessions.analysis import analysis_job, requests
from schedviz.sessions.analysis.engine_cache import ENGINE_CACHE, EngineKey
from schedviz.sessions.analysis.requests import AnalysisRequest, SmallestChangeRequest, WhatIfRequest, WhyRequest
from schedviz.sessions.models import Session
from schedviz.sessions.redis import single_flight
from tests.sessions.conftest import MakeSession, pod, send, work_off


@pytest.fixture(autouse=True)
def forgotten() -> Iterator[None]:
    ENGINE_CACHE.clear()
    yield
    ENGINE_CACHE.clear()


def run(session_id: UUID, request: AnalysisRequest, place: str) -> dict[str, object]:
    assert single_flight.claim_request(place)
    analysis_job.run(session_id, msgspec.json.encode(request), place)
    result = requests._stored_result(place)
    assert result is not None
    assert not result.failed, result.failed
    answer: dict[str, object] = msgspec.json.decode(result.value)
    return answer


def key_of(session_id: UUID) -> EngineKey:
    session = Session.objects.get(pk=session_id)
    return (session.pk, session.event, session.applied_seq)


def kept(session_id: UUID) -> Simulation | None:
    key = key_of(session_id)
    result = ENGINE_CACHE.pop(key)
    if result is not None:
        ENGINE_CACHE.put(key, result)
    return result


def test_the_next_request_about_a_moment_reuses_its_engine_and_gets_the_same_result(make_session: MakeSession) -> None:
    session_id = make_session(nodes=2, pods=2)
    alone = run(session_id, WhyRequest(pod="default/pod-2"), "alone")
    ENGINE_CACHE.clear()

    run(session_id, WhyRequest(pod="default/pod-1"), "first")
    engine = kept(session_id)
    again = run(session_id, WhyRequest(pod="default/pod-2"), "second")

    assert engine is not None
    assert kept(session_id) is engine
    assert again == alone


def test_each_moment_has_its_own_engine(make_session: MakeSession) -> None:
    session_id = make_session(nodes=2, pods=2)
    run(session_id, WhyRequest(pod="default/pod-1"), "before")
    engine = kept(session_id)
    send(session_id, "cycle")
    work_off(session_id)

    assert kept(session_id) is None
    assert run(session_id, WhyRequest(pod="default/pod-1"), "after")["standing"] == "scheduled"
    assert kept(session_id) is not engine


@pytest.mark.parametrize("analysis_request", [SmallestChangeRequest(pod="default/pod-1"), WhatIfRequest(pod=pod("copy"), copies=2)])
def test_an_engine_that_a_request_changed_is_not_cached(make_session: MakeSession, analysis_request: AnalysisRequest) -> None:
    session_id = make_session(nodes=2, pods=2)
    run(session_id, analysis_request, "changed")
    assert kept(session_id) is None


def test_a_cached_engine_is_given_to_one_request_at_a_time(make_session: MakeSession) -> None:
    session_id = make_session(nodes=2, pods=2)
    run(session_id, WhyRequest(pod="default/pod-1"), "place")
    assert ENGINE_CACHE.pop(key_of(session_id)) is not None
    assert ENGINE_CACHE.pop(key_of(session_id)) is None
