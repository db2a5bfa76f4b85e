"""The analyses of one user do not occupy all io processes."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from uuid import UUID, uuid4

import msgspec
import pytest
from django.conf import LazySettings
from django.contrib.auth.models import User

from schedviz.sessions import senders
from schedviz.sessions.analysis import analysis_job, analysis_turns, pasted_text_job, requests
from schedviz.sessions.models import CycleDetail, Session
from schedviz.sessions.redis import clock, renewal, single_flight, stream, wakeups, worker_calls
from schedviz.sessions.replay import cycle_detail_job, cycle_details
from tests.conftest import RedisServer, until
from tests.sessions.conftest import MakeSession, send, work_off

pytestmark = pytest.mark.usefixtures("redis")


@pytest.fixture(autouse=True)
def worker(redis: RedisServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """An io worker of two processes, in which nothing runs or waits."""
    monkeypatch.setattr(analysis_turns, "WORKER", analysis_turns._Worker())
    analysis_turns.serve(f"worker-{uuid4()}", 2)
    stream.client().delete(analysis_turns._WAITING_FOR_LONG_PLACE)


@contextmanager
def analysis_slot(sender: str, result_key: str, *, long_kind: str = "") -> Iterator[bool]:
    """Whether an analysis for this sender may run now."""
    with analysis_turns._turn(sender, result_key, long_kind=long_kind) as run:
        yield run is not None


def test_analyses_per_user_are_limited_and_other_users_are_not_affected(settings: LazySettings) -> None:
    settings.ANALYSES_PER_USER = 1
    # Other tests use this Redis, too.
    ada, bob = f"user {uuid4().int % 10**9}", f"user {uuid4().int % 10**9}"

    with analysis_slot(ada, "first") as first, analysis_slot(ada, "second") as second, analysis_slot(bob, "third") as third:
        assert (first, second, third) == (True, False, True)
    with analysis_slot(ada, "second") as again:
        assert again


def test_long_analyses_of_all_users_share_the_limit_of_one(settings: LazySettings) -> None:
    settings.ANALYSES_PER_USER = 1
    ada, bob, kind = f"user {uuid4().int % 10**9}", f"user {uuid4().int % 10**9}", uuid4().hex

    with analysis_slot(ada, "first", long_kind=kind) as first, analysis_slot(bob, "second", long_kind=kind) as second:
        assert (first, second) == (True, False)
        with analysis_slot(bob, "third") as third:
            assert third
    with analysis_slot(bob, "second", long_kind=kind) as again:
        assert again


def attempt(sender: str, kind: str, result: str = "") -> bool:
    """Whether a task of the sender gets a turn, which ends at once."""
    with analysis_slot(sender, result or uuid4().hex, long_kind=kind) as is_turn:
        return is_turn


def test_long_analyses_run_in_turns_by_sender(settings: LazySettings) -> None:
    settings.ANALYSES_PER_USER = 1
    ada, bob, cy = (f"user {uuid4().int % 10**9}" for _ in range(3))
    kind = uuid4().hex

    with analysis_slot(ada, "first", long_kind=kind) as first:
        assert first
        # Ada waits with a second one before others ask.
        assert [attempt(sender, kind) for sender in (ada, bob, cy)] == [False, False, False]
    # The sender that had the last turn goes to the end, though it tries first.
    assert [attempt(sender, kind) for sender in (ada, cy)] == [False, False]
    with analysis_slot(bob, "bob's", long_kind=kind) as is_turn:
        assert is_turn
        assert not attempt(bob, kind)
    assert [attempt(sender, kind) for sender in (bob, ada)] == [False, False]
    assert [attempt(sender, kind) for sender in (cy, ada, bob)] == [True, True, True]


def test_others_do_not_wait_for_a_sender_whose_own_place_is_taken(settings: LazySettings) -> None:
    settings.ANALYSES_PER_USER = 1
    ada, bob = (f"user {uuid4().int % 10**9}" for _ in range(2))
    kind = uuid4().hex

    with analysis_slot(ada, "an explanation"):
        assert not attempt(ada, kind)
        assert attempt(bob, kind)
        with analysis_slot(bob, "a recording", long_kind=kind):
            assert not attempt(bob, kind)
    # Ada has waited for longer all the same.
    assert attempt(ada, kind)


def test_a_group_does_not_wait_for_its_sender_that_waits_for_a_long_analysis(settings: LazySettings, group: str) -> None:
    settings.ANALYSES_PER_USER = 1
    user, ada, bob = f"user {uuid4().int % 10**9}", f"guest {uuid4()}", f"guest {uuid4()}"
    kind = uuid4().hex

    with analysis_slot(user, "a recording", long_kind=kind):
        assert not attempt(ada, kind)
        with analysis_slot(bob, "an explanation") as is_turn:
            assert is_turn
    assert attempt(ada, kind)


@pytest.mark.parametrize("request_of", [requests.RecordingRequest, requests.PendingPodsRequest])
def test_an_analysis_that_nobody_waits_for_any_more_is_not_begun(
    make_session: MakeSession,
    settings: LazySettings,
    sent: list[tuple[object, ...]],
    request_of: type[requests.AnyAnalysisRequest],
) -> None:
    session = owned(make_session(), "ada")
    ada = f"user {session.owner_id}"
    settings.ANALYSES_PER_USER = 1
    request = request_of()
    body, key = msgspec.json.encode(request), requests.result_key(session, request)

    def ask() -> None:
        with pytest.raises(requests.ResultLate):
            requests.request_result(session, request, timeout_seconds=0, sender=ada)

    ask()
    stream.client().pexpire(f"{key}:senders", 34_000)
    assert analysis_job.run(session.pk, body, key)
    assert not stream.client().exists(key)
    assert not stream.client().exists(single_flight.request_key(key)), "the next request sends a task"
    ask()
    stream.client().pexpire(f"{key}:senders", 36_000)
    assert analysis_job.run(session.pk, body, key)
    assert stream.client().exists(key)


def test_analyses_are_unlimited_without_a_limit(settings: LazySettings) -> None:
    settings.ANALYSES_PER_USER = 0
    with analysis_slot("user 7", "first") as first, analysis_slot("user 7", "second") as second:
        assert first
        assert second


def test_a_queued_analysis_waits_for_a_slot_while_it_is_requested_and_is_dropped_otherwise(
    make_session: MakeSession, settings: LazySettings
) -> None:
    settings.ANALYSES_PER_USER = 1
    session = Session.objects.get(pk=make_session())
    Session.objects.filter(pk=session.pk).update(owner=User.objects.create_user("ada"))
    session.refresh_from_db()
    request = requests.PendingPodsRequest()
    key = requests.result_key(session, request)
    body = msgspec.json.encode(request)

    with analysis_slot(f"user {session.owner_id}", "another"):
        assert analysis_job.run(session.pk, body, key), "no sender requests it: it is dropped"
        assert single_flight.claim_request(key)
        assert not analysis_job.run(session.pk, body, key)
    assert not stream.client().exists(key)
    assert analysis_job.run(session.pk, body, key)
    assert stream.client().exists(key)


def test_a_second_task_for_the_same_result_does_not_free_the_slot_of_the_first(
    make_session: MakeSession, settings: LazySettings, sent: list[tuple[object, ...]]
) -> None:
    settings.ANALYSES_PER_USER = 1
    session = owned(make_session(), "ada")
    ada = f"user {session.owner_id}"
    request = requests.PendingPodsRequest()
    body, key = msgspec.json.encode(request), requests.result_key(session, request)
    with pytest.raises(requests.ResultLate):
        requests.request_result(session, request, timeout_seconds=0, sender=ada)

    with analysis_slot(ada, key), single_flight.claim_computation(key) as is_claimed:
        assert is_claimed
        assert not analysis_job.run(session.pk, body, key)
        with analysis_slot(ada, "another question") as is_turn:
            assert not is_turn
    with analysis_slot(ada, "another question") as is_turn:
        assert is_turn


def test_a_waiting_task_stays_claimed_while_a_sender_requests_its_result(
    make_session: MakeSession, settings: LazySettings, sent: list[tuple[object, ...]]
) -> None:
    settings.ANALYSES_PER_USER = 1
    session = owned(make_session(), "ada")
    ada = f"user {session.owner_id}"
    request = requests.PendingPodsRequest()
    body, key = msgspec.json.encode(request), requests.result_key(session, request)
    with pytest.raises(requests.ResultLate):
        requests.request_result(session, request, timeout_seconds=0, sender=ada)

    with analysis_slot(ada, "another question"):
        # After a minute.
        stream.client().delete(single_flight.request_key(key))
        assert not analysis_job.run(session.pk, body, key)
        assert not single_flight.claim_request(key, ada), "no second task is sent"
        stream.client().delete(f"{key}:senders", single_flight.request_key(key))
        assert analysis_job.run(session.pk, body, key), "no sender requests it: it is dropped"


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[tuple[object, ...]]:
    """The arguments of the tasks that are sent for cycle details."""
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


def test_a_cycle_detail_waits_for_a_slot_as_an_analysis_does(
    make_session: MakeSession, settings: LazySettings, sent: list[tuple[object, ...]]
) -> None:
    settings.ANALYSES_PER_USER = 1
    session = owned(make_session(), "ada")
    send(session.pk, "run")
    work_off(session.pk)

    with analysis_slot(f"user {session.owner_id}", "another"):
        assert cycle_detail_job.run(session.pk, 2), "no sender requests it: it is dropped"
        request_detail(session.pk, 2)
        assert not cycle_detail_job.run(session.pk, 2)
    assert not CycleDetail.objects.filter(session_id=session.pk).exists()
    assert cycle_detail_job.run(session.pk, 2)
    assert cycle_details.cycle_detail(session.pk, 2, timeout_seconds=0)["node"]


def test_repeated_requests_for_the_same_cycle_are_computed_once(make_session: MakeSession, sent: list[tuple[object, ...]]) -> None:
    session_id = make_session()
    send(session_id, "run")
    work_off(session_id)

    request_detail(session_id, 2)
    request_detail(session_id, 2)
    request_detail(session_id, 3)

    assert sent == [(str(session_id), 2), (str(session_id), 3)]
    with single_flight.claim_computation(cycle_details.flight_key(session_id, 2)):
        assert cycle_detail_job.run(session_id, 2), "another worker computes it"
    assert not CycleDetail.objects.filter(session_id=session_id).exists()


def test_an_analysis_counts_for_its_sender_and_not_for_the_owner_of_the_session(
    make_session: MakeSession, settings: LazySettings, sent: list[tuple[object, ...]]
) -> None:
    settings.ANALYSES_PER_USER = 1
    session = owned(make_session(), "ada")
    send(session.pk, "run")
    work_off(session.pk)
    sender = f"user {User.objects.create_user('bob').pk}"

    with pytest.raises(cycle_details.DetailLate):
        cycle_details.cycle_detail(session.pk, 2, timeout_seconds=0, sender=sender)
    with pytest.raises(requests.ResultLate):
        requests.request_result(session, requests.PendingPodsRequest(), timeout_seconds=0, sender=sender)
    body, key = msgspec.json.encode(requests.PendingPodsRequest()), requests.result_key(session, requests.PendingPodsRequest())
    with analysis_slot(sender, "another"):
        assert not cycle_detail_job.run(session.pk, 2)
        assert not analysis_job.run(session.pk, body, key)
    with analysis_slot(f"user {session.owner_id}", "another"):
        assert cycle_detail_job.run(session.pk, 2)
        assert analysis_job.run(session.pk, body, key)
    assert cycle_details.stored_detail(session.pk, 2) is not None
    assert stream.client().exists(key)


def test_a_result_that_several_senders_request_is_computed_in_the_slot_of_any_of_them(
    make_session: MakeSession, settings: LazySettings, sent: list[tuple[object, ...]]
) -> None:
    settings.ANALYSES_PER_USER = 1
    session = owned(make_session(), "ada")
    send(session.pk, "run")
    work_off(session.pk)
    viewer = f"user {User.objects.create_user('bob').pk}"
    body, key = msgspec.json.encode(requests.PendingPodsRequest()), requests.result_key(session, requests.PendingPodsRequest())

    def ask(sender: str) -> None:
        with pytest.raises(cycle_details.DetailLate):
            cycle_details.cycle_detail(session.pk, 2, timeout_seconds=0, sender=sender)
        with pytest.raises(requests.ResultLate):
            requests.request_result(session, requests.PendingPodsRequest(), timeout_seconds=0, sender=sender)

    with analysis_slot(viewer, "another"):
        ask(viewer)
        assert not analysis_job.run(session.pk, body, key)
        assert not cycle_detail_job.run(session.pk, 2)
        ask(f"user {session.owner_id}")
        assert analysis_job.run(session.pk, body, key)
        assert cycle_detail_job.run(session.pk, 2)
    assert stream.client().exists(key)
    assert not stream.client().exists(f"{key}:senders")


def test_pasted_texts_wait_for_a_slot_and_are_dropped_when_their_caller_has_given_up(settings: LazySettings) -> None:
    settings.ANALYSES_PER_USER = 1
    sender, abandoned, awaited = f"user {uuid4().int % 10**9}", f"schedviz:awaited-reply:{uuid4()}", f"schedviz:awaited-reply:{uuid4()}"
    body = msgspec.json.encode(pasted_text_job.PastedText("0/1 nodes are available: 1 Insufficient cpu.", sender=sender))
    stream.client().set(worker_calls._caller_key(awaited), b"1", ex=60)

    assert pasted_text_job.run(body, abandoned)
    with analysis_slot(sender, "another"):
        assert not pasted_text_job.run(body, awaited)
    assert pasted_text_job.run(body, awaited)
    assert not stream.client().exists(abandoned)
    assert b"Insufficient cpu" in stream.client().lindex(awaited, 0)


@pytest.fixture
def group(monkeypatch: pytest.MonkeyPatch) -> str:
    """A group of senders that other tests do not use."""
    name = f"group-{uuid4()}"
    monkeypatch.setitem(senders._GROUPS, "guest", name)
    return name


def test_the_senders_of_a_group_share_a_limit_and_are_served_in_turn(settings: LazySettings, group: str) -> None:
    settings.ANALYSES_PER_USER = 1
    ada, bob, cy, new = (f"guest {uuid4()}" for _ in range(4))

    with (
        analysis_slot(ada, "1") as first,
        analysis_slot(bob, "2") as second,
        analysis_slot(cy, "3") as third,
        analysis_slot(ada, "4") as fourth,
    ):
        assert (first, second, third, fourth) == (True, False, False, False)
    # Senders that started to wait later, and senders that never had a slot.
    for name in (ada, cy, new):
        with analysis_slot(name, "5") as again:
            assert not again
    for name, result in ((bob, "2"), (cy, "3"), (ada, "4"), (new, "5"), (ada, "6")):
        with analysis_slot(name, result) as is_turn:
            assert is_turn
    with analysis_slot(f"user {uuid4().int % 10**9}", "7") as outside, analysis_slot(ada, "8") as inside:
        assert outside
        assert inside
    assert not stream.client().exists(f"schedviz:analyses-waiting-since:{group}")


def test_a_sender_that_no_longer_waits_does_not_block_others(settings: LazySettings, group: str, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.ANALYSES_PER_USER = 1
    ada, bob = (f"guest {uuid4()}" for _ in range(2))
    with analysis_slot(ada, "1"), analysis_slot(bob, "2"):
        pass
    with analysis_slot(ada, "3") as is_turn:
        assert not is_turn
    monkeypatch.setattr(analysis_turns, "_WAITING_SECONDS", -1)
    with analysis_slot(ada, "3") as is_turn:
        assert is_turn


def test_a_sender_with_its_result_or_an_abandoned_request_no_longer_waits(
    make_session: MakeSession, settings: LazySettings, group: str, sent: list[tuple[object, ...]]
) -> None:
    settings.ANALYSES_PER_USER = 1
    session = Session.objects.get(pk=make_session())
    ada, bob, cy = (f"guest {uuid4()}" for _ in range(3))
    request = requests.PendingPodsRequest()
    body, key = msgspec.json.encode(request), requests.result_key(session, request)
    text, abandoned = msgspec.json.encode(pasted_text_job.PastedText("a text", sender=bob)), f"schedviz:awaited-reply:{uuid4()}"
    caller = worker_calls._caller_key(abandoned)
    stream.client().set(caller, b"1", ex=60)
    for sender in (ada, bob):
        with pytest.raises(requests.ResultLate):
            requests.request_result(session, request, timeout_seconds=0, sender=sender)

    def waiting() -> set[bytes]:
        names: Any = stream.client().hkeys(f"schedviz:analyses-waiting-since:{group}")
        return set(names)

    with analysis_slot(cy, "another"):
        assert not analysis_job.run(session.pk, body, key)
        assert not pasted_text_job.run(text, abandoned)
        assert waiting() == {ada.encode(), bob.encode()}
    assert analysis_job.run(session.pk, body, key)
    assert not waiting()
    with analysis_slot(cy, "another"):
        assert not pasted_text_job.run(text, abandoned)
        stream.client().delete(caller)
        assert waiting() == {bob.encode()}
    assert pasted_text_job.run(text, abandoned)
    assert not waiting()


def test_a_slot_is_renewed_while_its_worker_is_alive(settings: LazySettings, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.ANALYSES_PER_USER = 1
    sender = f"user {uuid4().int % 10**9}"
    monkeypatch.setattr(renewal, "RENEWAL_SECONDS", 0.01)
    now = [1_000_000.0]
    monkeypatch.setattr(clock, "seconds", lambda: now[0])
    key = f"schedviz:analyses:{sender}"

    def ends() -> float:
        held: Any = stream.client().zrange(key, 0, -1, withscores=True)
        return float(held[0][1]) if held else 0.0

    with analysis_slot(sender, "first"):
        assert ends() == now[0] + 15
        now[0] += 14
        until(lambda: ends() == now[0] + 15)
        now[0] += 14
        with analysis_slot(sender, "second") as is_turn:
            assert not is_turn
    stream.client().zadd(key, {"of a worker that was killed": now[0] + 15})
    now[0] += 16
    with analysis_slot(sender, "second") as is_turn:
        assert is_turn


def test_slots_and_waiting_senders_from_before_the_clock_was_set_back_are_ignored(
    settings: LazySettings, group: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.ANALYSES_PER_USER = 1
    ada, bob, cy = (f"guest {uuid4()}" for _ in range(3))
    now = [1_000_000.0]
    monkeypatch.setattr(clock, "seconds", lambda: now[0])
    with analysis_slot(ada, "1") as first, analysis_slot(bob, "2") as second:
        assert (first, second) == (True, False)
    # Ada's worker was killed, and Bob has given up.
    for key in (f"schedviz:analyses:{ada}", f"schedviz:analyses-of-group:{group}"):
        stream.client().zadd(key, {"of a worker that was killed": now[0] + 15})

    now[0] -= 3600

    with analysis_slot(cy, "3") as third:
        assert third
    with analysis_slot(ada, "4") as fourth:
        assert fourth


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Analyses are long after a moment."""
    monkeypatch.setattr(analysis_turns, "_SHORT_SECONDS", 0.1)


def asked(sender: str) -> str:
    """The key of a result that a sender asks for."""
    result_key = f"schedviz:answer:{uuid4().hex}"
    assert single_flight.claim_request(result_key, sender)
    return result_key


def for_ever() -> None:
    while True:
        time.sleep(0.01)


@pytest.mark.usefixtures("short")
def test_a_long_analysis_is_put_back_while_another_holds_all_processes_but_one(
    settings: LazySettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.ANALYSES_PER_USER = 1
    ada, bob, cy = (f"user {uuid4().int % 10**9}" for _ in range(3))
    long_one, short_one = asked(bob), asked(cy)
    computed: list[str] = []

    with analysis_slot(ada, "a recording", long_kind=uuid4().hex) as is_turn:
        assert is_turn
        assert not analysis_turns.run_in_turn([bob], long_one, for_ever), "interrupted, and its task tries again"
        monkeypatch.setattr(analysis_turns, "_SHORT_SECONDS", 60)
        assert not single_flight.claim_request(long_one, bob), "no second task is sent"
        assert single_flight.senders_of(long_one) == [bob]
        # The next time it does not begin, and so leaves the process to others at once.
        assert not analysis_turns.run_in_turn([bob], long_one, lambda: computed.append("bob"))
        assert analysis_turns.run_in_turn([cy], short_one, lambda: computed.append("cy"))
    assert analysis_turns.run_in_turn([bob], long_one, lambda: computed.append("bob"))
    assert computed == ["cy", "bob"]


@pytest.mark.usefixtures("short")
def test_a_long_analysis_continues_in_a_free_place_and_holds_it(settings: LazySettings) -> None:
    settings.ANALYSES_PER_USER = 1
    ada, bob = (f"user {uuid4().int % 10**9}" for _ in range(2))
    seen: list[bool] = []

    def compute() -> None:
        until(lambda: stream.client().exists(analysis_turns._long_sender_key(ada)))
        time.sleep(0.1)
        seen.append(attempt(bob, uuid4().hex))
        seen.append(attempt(bob, ""))

    assert analysis_turns.run_in_turn([ada], asked(ada), compute)
    assert seen == [False, True]
    assert attempt(bob, uuid4().hex), "the place is free again"


def test_long_places_are_taken_in_turns_by_sender(settings: LazySettings) -> None:
    settings.ANALYSES_PER_USER = 1
    ada, bob, cy = (f"user {uuid4().int % 10**9}" for _ in range(3))
    for sender in (ada, bob, cy):
        analysis_turns._remember_long(sender)

    with analysis_slot(ada, "first") as first:
        assert first
        assert [attempt(sender, "") for sender in (ada, bob, cy)] == [False, False, False]
    assert [attempt(sender, "") for sender in (ada, cy)] == [False, False]
    assert [attempt(sender, "") for sender in (bob, cy, ada)] == [True, True, True]


@pytest.mark.parametrize(("processes", "places"), [(1, 1), (2, 1), (4, 3)])
def test_a_worker_keeps_one_of_its_processes_free_of_long_analyses(settings: LazySettings, processes: int, places: int) -> None:
    settings.ANALYSES_PER_USER = 1
    analysis_turns.serve(f"worker-{uuid4()}", processes)
    long_senders = [f"user {uuid4().int % 10**9}" for _ in range(4)]
    with ExitStack() as stack:
        running = [stack.enter_context(analysis_slot(sender, "a recording", long_kind=uuid4().hex)) for sender in long_senders]
        assert running.count(True) == places
        # Another worker has its own.
        analysis_turns.serve(f"worker-{uuid4()}", processes)
        stream.client().delete(analysis_turns._WAITING_FOR_LONG_PLACE)
        assert attempt(f"user {uuid4().int % 10**9}", uuid4().hex)


@pytest.mark.usefixtures("short")
def test_a_pasted_text_that_takes_long_is_put_back(settings: LazySettings, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.ANALYSES_PER_USER = 1
    ada, bob = (f"user {uuid4().int % 10**9}" for _ in range(2))
    body, awaited = msgspec.json.encode(pasted_text_job.PastedText("a text", sender=bob)), f"schedviz:awaited-reply:{uuid4()}"
    stream.client().set(worker_calls._caller_key(awaited), b"1", ex=60)
    monkeypatch.setattr(pasted_text_job, "explain_pasted", lambda _request: for_ever())

    with analysis_slot(ada, "a recording", long_kind=uuid4().hex):
        assert not pasted_text_job.run(body, awaited)
    assert not stream.client().exists(awaited)
