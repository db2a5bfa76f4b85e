"""The analyses of one user do not occupy all io processes."""

from __future__ import annotations

from uuid import UUID, uuid4

import msgspec
import pytest
from django.conf import LazySettings
from django.contrib.auth.models import User

from schedviz.sessions.analysis import analysis_job, requests
from schedviz.sessions.analysis.analysis_turns import turn_of
from schedviz.sessions.forks.requests import fork
from schedviz.sessions.models import CycleDetail, Session
from schedviz.sessions.redis import single_flight, stream, wakeups
from schedviz.sessions.replay import cycle_detail_job, cycle_details
from schedviz.sessions.transfer import import_job
from tests.sessions.conftest import MakeSession, send, work_off

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


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[tuple[object, ...]]:
    """The arguments of the tasks that requests for cycles in detail send."""
    result: list[tuple[object, ...]] = []

    def enqueue(task: str, *arguments: object, queue: str) -> bool:
        if task == wakeups.CYCLE_DETAIL:
            result.append(arguments)
        return True

    monkeypatch.setattr(wakeups, "enqueue", enqueue)
    return result


def owned(session_id: UUID, name: str) -> Session:
    Session.objects.filter(pk=session_id).update(owner=User.objects.create_user(name))
    return Session.objects.get(pk=session_id)


def request_detail(session_id: UUID, cycle: int) -> None:
    with pytest.raises(cycle_details.DetailLate):
        cycle_details.cycle_detail(session_id, cycle, timeout_seconds=0)


def test_a_cycle_in_detail_waits_for_its_turn_as_an_analysis(
    make_session: MakeSession, settings: LazySettings, sent: list[tuple[object, ...]]
) -> None:
    settings.ANALYSES_PER_USER = 1
    session = owned(make_session(), "ada")
    send(session.pk, "run")
    work_off(session.pk)

    with turn_of(session.owner_id, "another"):
        assert cycle_detail_job.run(session.pk, 2, asked_of=session.pk), "nobody asks: it is dropped"
        request_detail(session.pk, 2)
        assert not cycle_detail_job.run(session.pk, 2, asked_of=session.pk)
    assert not CycleDetail.objects.filter(session_id=session.pk).exists()
    assert cycle_detail_job.run(session.pk, 2, asked_of=session.pk)
    assert cycle_details.cycle_detail(session.pk, 2, timeout_seconds=0)["node"]


def test_requests_for_the_same_cycle_are_computed_once(make_session: MakeSession, sent: list[tuple[object, ...]]) -> None:
    session_id = make_session()
    send(session_id, "run")
    work_off(session_id)

    request_detail(session_id, 2)
    request_detail(session_id, 2)
    request_detail(session_id, 3)

    assert sent == [(str(session_id), 2), (str(session_id), 3)]
    with single_flight.claim_computation(cycle_details.flight_key(session_id, 2)):
        assert cycle_detail_job.run(session_id, 2, asked_of=session_id), "another worker computes it"
    assert not CycleDetail.objects.filter(session_id=session_id).exists()


def test_a_cycle_that_a_fork_shares_with_its_parent_counts_for_the_owner_of_the_fork(
    make_session: MakeSession, settings: LazySettings, sent: list[tuple[object, ...]]
) -> None:
    settings.ANALYSES_PER_USER = 1
    parent = owned(make_session(), "ada")
    send(parent.pk, "run")
    work_off(parent.pk)
    parent.refresh_from_db()
    forked = fork(parent, User.objects.create_user("bob")).session
    import_job.import_uploads(forked.pk)
    assert Session.objects.get(pk=forked.pk).status == Session.Status.READY

    request_detail(forked.pk, 2)
    assert sent == [(str(parent.pk), 2, str(forked.pk))]
    with turn_of(forked.owner_id, "another"):
        assert not cycle_detail_job.run(parent.pk, 2, asked_of=forked.pk)
    with turn_of(parent.owner_id, "another"):
        assert cycle_detail_job.run(parent.pk, 2, asked_of=forked.pk)
    assert cycle_details.stored_detail(parent.pk, 2) is not None
