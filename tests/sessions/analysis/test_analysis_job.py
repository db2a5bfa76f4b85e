"""Results of analysis requests."""

from __future__ import annotations

import msgspec
import pytest
from billiard.exceptions import SoftTimeLimitExceeded

from schedviz.sessions.analysis import analysis_job, requests
from schedviz.sessions.analysis.requests import WhyRequest
from schedviz.sessions.models import Session
from schedviz.sessions.redis import single_flight
from schedviz.sessions.transfer import deletion
from schedviz.web.api.problem_details import TITLES
from tests.sessions.conftest import MakeSession


def run(session: Session, request: requests.AnyAnalysisRequest) -> None:
    key = requests.result_key(session, request)
    assert single_flight.claim_request(key)
    analysis_job.run(session.pk, msgspec.json.encode(request), key)


def test_a_result_over_the_limit_is_refused_with_its_size(make_session: MakeSession, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(analysis_job, "MAX_RESULT_BYTES", 100)
    session = Session.objects.get(pk=make_session(nodes=2, pods=1))
    request = WhyRequest(pod="default/pod-1")
    run(session, request)

    with pytest.raises(requests.ResultTooLarge, match=r"The result has \S+ bytes; at most 100 are returned\. Ask about one pod"):
        requests.request_result(session, request, timeout_seconds=0)


def test_an_analysis_that_takes_too_long_is_refused_with_the_limit(
    make_session: MakeSession, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def take_long(*_: object) -> bytes:
        # As Celery does at `soft_time_limit` of the task.
        raise SoftTimeLimitExceeded

    monkeypatch.setattr(analysis_job, "_result_of_engine", take_long)
    session = Session.objects.get(pk=make_session(nodes=2, pods=1))
    request = WhyRequest(pod="default/pod-1")
    run(session, request)

    with pytest.raises(requests.AnalysisFailed, match=r"takes longer than 60 s, which is the limit\. Ask about one pod"):
        requests.request_result(session, request, timeout_seconds=0)
    assert not [record for record in caplog.records if record.exc_info]


def test_an_analysis_without_memory_is_refused_and_is_no_error_in_the_log(
    make_session: MakeSession, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def need_too_much(*_: object) -> bytes:
        raise MemoryError

    monkeypatch.setattr(analysis_job, "_result_of_engine", need_too_much)
    session = Session.objects.get(pk=make_session(nodes=2, pods=1))
    request = WhyRequest(pod="default/pod-1")
    run(session, request)

    with pytest.raises(requests.AnalysisFailed, match=r"needs more memory than an io process may use\. Ask about fewer events"):
        requests.request_result(session, request, timeout_seconds=0)
    assert not [record for record in caplog.records if record.exc_info]


def test_an_engine_error_is_not_reported_as_missing_history(
    make_session: MakeSession, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_: object) -> bytes:
        raise KeyError("a bug")

    monkeypatch.setattr(analysis_job, "_result_of_engine", fail)
    session = Session.objects.get(pk=make_session(nodes=2, pods=1))
    request = WhyRequest(pod="default/pod-1")
    run(session, request)

    with pytest.raises(requests.AnalysisFailed, match="the engine raised an error") as failed:
        requests.request_result(session, request, timeout_seconds=0)
    assert TITLES[failed.value.code] == "The analysis failed"
    assert [record for record in caplog.records if record.exc_info]


def test_an_analysis_of_a_session_that_is_deleted_meanwhile_finds_nothing(
    make_session: MakeSession, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    session = Session.objects.get(pk=make_session(nodes=2, pods=1))
    before, during = WhyRequest(pod="default/pod-1"), WhyRequest(pod="default/pod-1", at=1)

    def delete(*_: object) -> bytes:
        deletion.delete_session(session.pk)
        raise KeyError("no row")

    monkeypatch.setattr(analysis_job, "_encoded_result", delete)
    copy = Session(pk=session.pk)
    for request in (during, before):
        run(copy, request)

        with pytest.raises(requests.SubjectNotFound, match="The session was deleted"):
            requests.request_result(copy, request, timeout_seconds=0)
    assert not [record for record in caplog.records if record.exc_info]
