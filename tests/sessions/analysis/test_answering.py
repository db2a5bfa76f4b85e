"""Answers to analysis requests."""

from __future__ import annotations

import msgspec
import pytest
from billiard.exceptions import SoftTimeLimitExceeded

from schedviz.sessions.analysis import answering, requests
from schedviz.sessions.analysis.requests import Why
from schedviz.sessions.errors import HistoryUnavailable
from schedviz.sessions.models import Session
from tests.sessions.conftest import MakeSession


def test_an_answer_over_the_limit_is_refused_with_its_size(make_session: MakeSession, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answering, "ANSWER_BYTES", 100)
    session = Session.objects.get(pk=make_session(nodes=2, pods=1))
    question = Why(pod="default/pod-1")
    answering.answer(session.pk, msgspec.json.encode(question), requests._answer_key(session, question))

    with pytest.raises(requests.AnswerTooLarge, match=r"The answer has \S+ bytes; at most 100 are returned\. Ask about one pod"):
        requests.ask(session, question, timeout_seconds=0)


def test_an_answer_that_takes_too_long_is_refused_with_the_limit(
    make_session: MakeSession, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def take_long(*_: object) -> bytes:
        # As Celery does at `soft_time_limit` of the task.
        raise SoftTimeLimitExceeded

    monkeypatch.setattr(answering, "_answered", take_long)
    session = Session.objects.get(pk=make_session(nodes=2, pods=1))
    question = Why(pod="default/pod-1")
    answering.answer(session.pk, msgspec.json.encode(question), requests._answer_key(session, question))

    with pytest.raises(HistoryUnavailable, match=r"takes longer than 60 s to compute, which is the limit\. Ask about one pod"):
        requests.ask(session, question, timeout_seconds=0)
    assert not [record for record in caplog.records if record.exc_info]
