"""The analyses of one user do not occupy all io processes."""

from __future__ import annotations

from uuid import uuid4

import msgspec
import pytest
from django.conf import LazySettings
from django.contrib.auth.models import User

from schedviz.sessions.analysis import analysis_job, requests
from schedviz.sessions.analysis.analysis_turns import turn_of
from schedviz.sessions.models import Session
from schedviz.sessions.redis import single_flight, stream
from tests.sessions.conftest import MakeSession

pytestmark = pytest.mark.usefixtures("redis")


def test_as_many_analyses_of_one_user_run_as_allowed_and_others_beside_them(settings: LazySettings) -> None:
    settings.ANALYSES_PER_USER = 1
    # Other tests use this Redis, too.
    ada, bob = uuid4().int % 10**9, uuid4().int % 10**9

    with turn_of(ada, "first") as first, turn_of(ada, "second") as second, turn_of(bob, "third") as third:
        assert (first, second, third) == (True, False, True)
    with turn_of(ada, "second") as again:
        assert again


def test_there_is_no_limit_by_default(settings: LazySettings) -> None:
    with turn_of(7, "first") as first, turn_of(7, "second") as second:
        assert first
        assert second


def test_an_analysis_waits_for_its_turn_as_long_as_somebody_asks_for_it(make_session: MakeSession, settings: LazySettings) -> None:
    settings.ANALYSES_PER_USER = 1
    session = Session.objects.get(pk=make_session())
    Session.objects.filter(pk=session.pk).update(owner=User.objects.create_user("ada"))
    session.refresh_from_db()
    request = requests.PendingPodsRequest()
    key = requests._result_key(session, request)
    body = msgspec.json.encode(request)

    with turn_of(session.owner_id, "another"):
        assert analysis_job.run(session.pk, body, key), "nobody asks: it is dropped"
        assert single_flight.claim_request(key)
        assert not analysis_job.run(session.pk, body, key)
    assert not stream.client().exists(key)
    assert analysis_job.run(session.pk, body, key)
    assert stream.client().exists(key)
