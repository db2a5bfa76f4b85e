"""More sessions have work than a worker has slots: each is hosted again and again, in order."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Iterator
from uuid import UUID

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.db.models import F

from schedviz.sessions import senders
from schedviz.sessions.hosting import sweep
from schedviz.sessions.hosting.slots import FairSemaphore, Slots
from schedviz.sessions.models import Chunk, Session
from tests.conftest import RedisServer, Worker, until
from tests.sessions.conftest import MakeSession, send

SESSIONS, SLOTS = 75, 32
#: Slots of a worker with fewer.
SMALL = 3
#: Cycles of each session: enough for at least two slices.
CYCLES = 66


def _worker(size: int) -> Iterator[Worker]:
    worker = Worker("engine", pool="threads", size=size, name="crowded")
    worker.start()
    until(worker.is_ready)
    yield worker
    worker.stop()


@pytest.fixture
def crowded_worker(redis: RedisServer, transactional_db: None) -> Iterator[Worker]:
    yield from _worker(SLOTS)


@pytest.fixture
def small_worker(redis: RedisServer, transactional_db: None) -> Iterator[Worker]:
    yield from _worker(SMALL)


def test_no_session_starves_if_there_are_twice_as_many_sessions_as_slots(make_session: MakeSession, crowded_worker: Worker) -> None:
    sessions = [make_session(nodes=2, pods=CYCLES) for _ in range(SESSIONS)]
    for session_id in sessions:
        send(session_id, "run")

    def all_done() -> bool:
        # As often as the sweeper does: without a pause this thread would take the processor from the worker.
        time.sleep(sweep.SWEEP_SECONDS)
        sweep.sweep()
        return not Session.objects.exclude(applied_seq=F("last_seq")).exists()

    until(all_done, seconds=400)

    assert set(Session.objects.values_list("cycle", flat=True)) == {CYCLES}
    assert not Session.objects.exclude(message="").exists()
    # In the order in which slices were committed, over all sessions.
    commits = list(Chunk.objects.order_by("pk").values_list("session_id", flat=True))
    assert len(commits) >= 2 * SESSIONS
    assert longest_overtaking(commits, sessions) <= 12


def longest_overtaking(commits: list[UUID], sessions: list[UUID]) -> int:
    """The largest number of slices of one session while another with work had none."""
    most = 0
    since: dict[UUID, dict[UUID, int]] = {session_id: {} for session_id in sessions}
    left = {session_id: commits.count(session_id) for session_id in sessions}
    for session_id in commits:
        left[session_id] -= 1
        del since[session_id]
        for others in since.values():
            others[session_id] = others.get(session_id, 0) + 1
            most = max(most, others[session_id])
        if left[session_id]:
            since[session_id] = {}
    return most


def _enter_in_order(gate: FairSemaphore, senders: list[str], passed: list[int]) -> list[threading.Thread]:
    """Threads that wait at the semaphore in this order; each notes its number when it is admitted."""

    def pass_through(number: int, sender: str) -> None:
        with gate.place_of(sender):
            passed.append(number)

    threads = []
    for number, sender in enumerate(senders):
        threads.append(threading.Thread(target=pass_through, args=(number, sender)))
        threads[-1].start()
        until(lambda number=number: len(gate._waiting) == number + 1)
    return threads


def test_a_fair_semaphore_admits_threads_of_a_sender_in_order_of_arrival() -> None:
    gate, passed = FairSemaphore(1), []
    with gate.place_of("ada"):
        threads = _enter_in_order(gate, ["ada"] * 4, passed)
    # A session that returns at once queues behind the waiting ones.
    with gate.place_of("ada"):
        passed.append(99)
    for thread in threads:
        thread.join()

    assert passed == [0, 1, 2, 3, 99]


def test_a_fair_semaphore_admits_senders_in_turn() -> None:
    gate, passed = FairSemaphore(1), []
    with gate.place_of("ada"):
        threads = _enter_in_order(gate, ["ada", "ada", "ada", "bob", "bob", "eve"], passed)
    for thread in threads:
        thread.join()

    assert passed == [3, 5, 0, 4, 1, 2]


def test_one_sender_does_not_take_all_places_of_a_fair_semaphore() -> None:
    gate, passed = FairSemaphore(3, width_of_sender=2), []
    with gate.place_of("ada"), gate.place_of("ada"):
        threads = _enter_in_order(gate, ["ada"], passed)
        with gate.place_of("bob"):
            assert not passed
    threads[0].join()
    assert passed == [0]


def test_a_fair_semaphore_admits_at_most_its_number_of_threads() -> None:
    gate, inside, most = FairSemaphore(2), itertools.count(), 0
    lock, now = threading.Lock(), 0

    def work() -> None:
        nonlocal most, now
        for _ in inside:
            if _ > 400:
                return
            with gate.place_of("ada"):
                with lock:
                    now += 1
                    most = max(most, now)
                with lock:
                    now -= 1

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert most <= 2
    assert gate._free == 2


def test_no_more_sessions_release_their_slot_than_are_waiting() -> None:
    waiting = 2
    slots = Slots(4, lambda: waiting)
    with slots.hosting(1), slots.hosting(1), slots.hosting(1), slots.hosting(1):
        assert [slots.begin_leaving(1) for _ in range(3)] == [True, True, False]
        waiting = 0
        assert not slots.begin_leaving(1)


def test_no_session_leaves_while_a_slot_is_handed_over() -> None:
    slots = Slots(2, lambda: 1)
    with slots.hosting(1):
        assert not slots.begin_leaving(1)
        with slots.hosting(1):
            assert slots.begin_leaving(1)


def test_the_sender_with_the_most_slots_gives_way() -> None:
    slots = Slots(3, lambda: 1)
    with slots.hosting(1), slots.hosting(2):
        assert slots.has_most(1)
        assert slots.has_most(2)
        with slots.hosting(1):
            assert not slots.begin_leaving(2)
            assert slots.begin_leaving(1)
        assert slots.taken == 2
        with slots.hosting(3):
            assert slots.begin_leaving(2)
    with slots.hosting(1), slots.hosting(1), slots.hosting(2):
        assert slots.begin_leaving(2, of_any_sender=True)


def test_visitors_of_the_demo_give_way_together_and_first_those_of_the_address_with_the_most(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(senders, "_networks_of", lambda ids: {number: f"address {number % 2}" for number in ids if number > 10})
    slots = Slots(8, lambda: 1)
    with slots.hosting(1), slots.hosting(1), slots.hosting(11), slots.hosting(12), slots.hosting(13):
        assert [slots.has_most(owner) for owner in (1, 11, 12, 13)] == [False, True, False, True]


def test_sessions_that_are_stepped_all_the_time_do_not_keep_their_slots_while_another_user_waits(
    make_session: MakeSession, small_worker: Worker
) -> None:
    ada, bob = User.objects.create_user("ada"), User.objects.create_user("bob")
    stepped = [make_session(nodes=2, pods=CYCLES) for _ in range(SMALL + 1)]
    Session.objects.filter(pk__in=stepped).update(owner=ada)
    other = make_session(nodes=2, pods=CYCLES)
    Session.objects.filter(pk=other).update(owner=bob)
    epochs = []
    stop = threading.Event()

    def step_all_the_time() -> None:
        while not stop.wait(0.4):
            for session_id in stepped:
                send(session_id, "cycle")
        connection.close()

    stepping = threading.Thread(target=step_all_the_time)
    stepping.start()
    try:
        until(lambda: Session.objects.filter(pk__in=stepped).exclude(applied_seq=0).count() >= SMALL)
        for _ in range(3):
            seq = send(other, "cycle")
            until(lambda seq=seq: Session.objects.get(pk=other).applied_seq == seq, seconds=20)
            epochs.append(Session.objects.get(pk=other).epoch)
            time.sleep(1.5)
        assert len(set(epochs)) == 1, "the user with fewer slots was displaced"
        until(lambda: not Session.objects.filter(pk__in=stepped, applied_seq=0).exists(), seconds=20)
    finally:
        stop.set()
        stepping.join()
