"""Equal requests are computed once, however many clients send them, however often."""

from __future__ import annotations

import base64
import json
from typing import Any
from uuid import UUID

import pytest

from schedviz.sessions.analysis import analysis_job, requests
from schedviz.sessions.analysis.requests import AnalysisResult, PendingPodsRequest, ResultLate
from schedviz.sessions.models import Session
from schedviz.sessions.redis import single_flight, stream, wakeups
from tests.sessions.conftest import MakeSession

pytestmark = pytest.mark.usefixtures("transactional_db", "redis")

PLACE = "schedviz:answer:a-test"


def sent() -> list[list[Any]]:
    """The arguments of the requests that wait for a worker. None runs here."""
    waiting: Any = stream.client().lrange(wakeups.IO_QUEUE, 0, -1)
    messages = [json.loads(message) for message in waiting]
    return [json.loads(base64.b64decode(message["body"]))[0] for message in messages if message["headers"]["task"] == wakeups.ANALYSE]


def ask(session_id: UUID) -> bytes:
    return requests.request_result(Session.objects.get(pk=session_id), PendingPodsRequest(), timeout_seconds=0)


def test_a_repeated_request_shares_the_running_computation(make_session: MakeSession) -> None:
    session_id = make_session()

    for _ in range(3):
        with pytest.raises(ResultLate, match="It continues"):
            ask(session_id)

    assert len(sent()) == 1


def test_a_stored_result_is_not_computed_again(make_session: MakeSession) -> None:
    session_id = make_session(pods=0)
    with pytest.raises(ResultLate):
        ask(session_id)
    ((_, request, place),) = sent()

    analysis_job.run(session_id, request.encode(), place)
    assert ask(session_id) == b"[]"

    requests.store_result(place, AnalysisResult(missing="This was here before."))
    analysis_job.run(session_id, request.encode(), place)
    with pytest.raises(requests.SubjectNotFound, match="This was here before"):
        ask(session_id)
    assert len(sent()) == 1


def test_only_one_of_two_workers_computes_a_result() -> None:
    with single_flight.claim_computation(PLACE) as first, single_flight.claim_computation(PLACE) as second:
        assert (first, second) == (True, False)
    with single_flight.claim_computation(PLACE) as again:
        assert again, "the first has ended without a result"
        requests.store_result(PLACE, AnalysisResult())
    with single_flight.claim_computation(PLACE) as afterwards:
        assert not afterwards


def test_a_request_may_be_sent_again_once_it_has_a_result_or_could_not_be_sent() -> None:
    assert single_flight.claim_request(PLACE)
    assert not single_flight.claim_request(PLACE)
    single_flight.release_request(PLACE)
    assert single_flight.claim_request(PLACE)
    with single_flight.claim_computation(PLACE):
        assert not single_flight.claim_request(PLACE)
    assert single_flight.claim_request(PLACE)
