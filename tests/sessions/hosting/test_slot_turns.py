"""Free slots are taken first by sessions of the sender with the fewest slots."""

from __future__ import annotations

from uuid import UUID

import pytest
from django.contrib.auth.models import User

from schedviz.sessions import senders
from schedviz.sessions.hosting import lease, slot_turns
from schedviz.sessions.hosting.slots import Slots
from schedviz.sessions.models import Session
from tests.conftest import RedisServer, Worker, until
from tests.sessions.conftest import MakeSession, send

pytestmark = pytest.mark.django_db(transaction=True)
#: Sessions of one user in front of another's: more than three slots host within a few seconds.
MANY = 24


@pytest.fixture(autouse=True)
def a_session_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slot_turns, "SLOTS", Slots(1, lambda: 1))


def _session_of(make_session: MakeSession, owner: User, *, hosted: bool = False) -> UUID:
    session_id = make_session(nodes=1, pods=1)
    Session.objects.filter(pk=session_id).update(owner=owner)
    if hosted:
        assert lease.acquire(session_id) is not None
    else:
        send(session_id, "cycle")
    return session_id


def test_a_waiting_session_of_a_user_with_fewer_slots_comes_first(make_session: MakeSession) -> None:
    ada, bob = User.objects.create_user("ada"), User.objects.create_user("bob")
    _session_of(make_session, ada, hosted=True)
    of_ada, of_bob = _session_of(make_session, ada), _session_of(make_session, bob)

    assert slot_turns.next_session(of_ada) == of_bob
    assert slot_turns.next_session(of_bob) == of_bob


def test_sessions_of_users_with_as_many_slots_keep_their_order(make_session: MakeSession) -> None:
    ada, bob = User.objects.create_user("ada"), User.objects.create_user("bob")
    of_ada, of_bob = _session_of(make_session, ada), _session_of(make_session, bob)

    assert slot_turns.next_session(of_ada) == of_ada
    assert slot_turns.next_session(of_bob) == of_bob


def test_a_session_that_no_longer_waits_is_not_replaced(make_session: MakeSession) -> None:
    ada, bob = User.objects.create_user("ada"), User.objects.create_user("bob")
    hosted = _session_of(make_session, ada, hosted=True)
    _session_of(make_session, bob)

    assert slot_turns.next_session(hosted) == hosted


def test_visitors_of_the_demo_count_together(make_session: MakeSession, monkeypatch: pytest.MonkeyPatch) -> None:
    user, *visitors = (User.objects.create_user(name) for name in ("user", "first", "second"))
    networks = {visitor.pk: f"address {number}" for number, visitor in enumerate(visitors)}
    monkeypatch.setattr(senders, "_networks_of", lambda ids: {pk: networks[pk] for pk in ids if pk in networks})
    _session_of(make_session, visitors[0], hosted=True)
    of_visitor, of_user = _session_of(make_session, visitors[1]), _session_of(make_session, user)

    assert slot_turns.next_session(of_visitor) == of_user


def test_nothing_is_looked_up_while_no_session_waits_for_a_slot(make_session: MakeSession, monkeypatch: pytest.MonkeyPatch) -> None:
    ada, bob = User.objects.create_user("ada"), User.objects.create_user("bob")
    _session_of(make_session, ada, hosted=True)
    of_ada, _ = _session_of(make_session, ada), _session_of(make_session, bob)
    monkeypatch.setattr(slot_turns, "SLOTS", Slots(1, lambda: 0))

    assert slot_turns.next_session(of_ada) == of_ada


def test_a_user_with_many_waiting_sessions_does_not_keep_another_from_a_slot(make_session: MakeSession, redis: RedisServer) -> None:
    ada, bob = User.objects.create_user("ada"), User.objects.create_user("bob")
    for _ in range(MANY):
        _session_of(make_session, ada)
    of_bob = _session_of(make_session, bob)
    worker = Worker("engine", pool="threads", size=3, name="late")
    worker.start()
    try:
        until(lambda: Session.objects.get(pk=of_bob).applied_seq == 1, seconds=60)
        assert Session.objects.filter(owner=ada, applied_seq=0).count() >= MANY // 2
        until(lambda: not Session.objects.filter(applied_seq=0).exists(), seconds=120)
    finally:
        worker.stop()
