"""Answers to analysis requests."""

from __future__ import annotations

import msgspec
import pytest

from schedviz.sessions.analysis import answering, requests
from schedviz.sessions.analysis.requests import Why
from schedviz.sessions.models import Session
from tests.sessions.conftest import MakeSession


def test_an_answer_over_the_limit_is_refused_with_its_size(make_session: MakeSession, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answering, "ANSWER_BYTES", 100)
    session = Session.objects.get(pk=make_session(nodes=2, pods=1))
    question = Why(pod="default/pod-1")
    answering.answer(session.pk, msgspec.json.encode(question), requests._answer_key(session, question))

    with pytest.raises(requests.AnswerTooLarge, match=r"The answer has \S+ bytes; at most 100 are returned\. Ask about one pod"):
        requests.ask(session, question, timeout_seconds=0)
