"""Commands are applied once and in order even if processes crash, and stored commands can be replayed."""

from __future__ import annotations

import threading
import time
from contextlib import ExitStack
from typing import Any
from uuid import UUID

import msgspec
import pytest
from django.db import DatabaseError, DataError, OperationalError, connection
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from schedviz.engine import Simulation
from schedviz.sessions import frames
from schedviz.sessions.errors import Fenced
from schedviz.sessions.history import checkpoints, cycle_groups
from schedviz.sessions.hosting import engine_host, lease, slice_commit, slice_runner, worker_loop
from schedviz.sessions.hosting.slots import Slots
from schedviz.sessions.hosting.watchdog import WATCHDOG
from schedviz.sessions.models import Checkpoint, Chunk, Command, Session
from schedviz.sessions.redis import stream, wakeups
from schedviz.sessions.replay import replayer, starting_point
from schedviz.trace.commands import Latency
from schedviz.trace.events import CommandDone
from tests.conftest import until
from tests.sessions.conftest import MakeSession, crash, node, pod, send, stored_events, work_off


def digest_at_head(session_id: Any) -> str:
    """The engine's digest after a replay of everything from the first checkpoint."""
    session = Session.objects.get(pk=session_id)
    first = Checkpoint.objects.filter(session_id=session_id, complete=True).order_by("event", "pk")[0]
    simulation = Simulation.restore(checkpoints.stored_engine(first))
    replayer.replay(simulation, first, to_seq=session.applied_seq, to_event=session.event)
    return simulation.state_hash()


def test_commands_are_executed_in_order(make_session: MakeSession) -> None:
    session_id = make_session()
    for op in ("cycle", "snapshot", "cycle", "run"):
        send(session_id, op)

    session = work_off(session_id)

    done = [event for event in stored_events(session_id) if isinstance(event, CommandDone)]
    assert [(event.seq, event.op) for event in done] == [(1, "cycle"), (2, "snapshot"), (3, "cycle"), (4, "run")]
    assert session.applied_seq == session.last_seq == 4
    assert session.cycle == 10
    assert session.status == Session.Status.READY
    assert session.lease_owner == ""


def test_every_command_has_its_outcome(make_session: MakeSession) -> None:
    session_id = make_session()
    send(session_id, "cycle")
    send(session_id, "run", max=3)

    work_off(session_id)

    outcomes = list(Command.objects.filter(session_id=session_id).order_by("seq").values_list("outcome", flat=True))
    assert [outcome["cycles"] for outcome in outcomes] == [1, 3]
    assert outcomes[1]["stopped"] == "max"


def test_every_cycle_has_a_summary(make_session: MakeSession) -> None:
    session_id = make_session()
    send(session_id, "run")

    work_off(session_id)

    assert cycle_groups.numbers(session_id) == list(range(1, 11))


def test_a_long_run_is_committed_in_slices(make_session: MakeSession) -> None:
    session_id = make_session(pods=200)
    send(session_id, "run")

    work_off(session_id)

    chunks = list(Chunk.objects.filter(session_id=session_id).order_by("number"))
    assert len(chunks) >= 4
    assert all(chunk.last_cycle - chunk.first_cycle <= slice_runner.SLICE_CYCLES for chunk in chunks)
    assert chunks[-1].last_cycle == 200


def test_frames_are_published_under_their_chunk_numbers(make_session: MakeSession) -> None:
    session_id = make_session()
    send(session_id, "cycle")
    work_off(session_id)
    send(session_id, "cycle")
    work_off(session_id)

    entries: Any = stream.client().xrange(stream.frames_key(session_id))

    assert [identifier for identifier, _ in entries] == [b"1-0", b"2-0"]
    assert [members[b"frame"] for _, members in entries] == [
        frames.to_send(bytes(data))
        for data in Chunk.objects.filter(session_id=session_id).order_by("number").values_list("data", flat=True)
    ]


def test_a_new_owner_publishes_what_the_previous_owner_had_not(make_session: MakeSession) -> None:
    session_id = make_session()
    for _ in range(3):
        send(session_id, "cycle")
        work_off(session_id)
    stream.client().flushall()
    crash(session_id)

    work_off(session_id)

    assert stream.last_published(session_id) == 3


def test_an_older_epoch_cannot_commit(make_session: MakeSession) -> None:
    session_id = make_session()
    taken = lease.acquire(session_id)
    assert taken is not None
    mine, session = taken
    before = slice_commit.Position.of(session)
    lease.clear_owner(lease.owner_prefix())
    assert lease.acquire(session_id) is not None

    work = slice_commit.SliceContents(after=before, done=[], events=[], cycles=[], status=Session.Status.READY, message="")
    with pytest.raises(Fenced):
        slice_commit.commit(mine, session, before, work)


def test_a_fenced_owner_writes_nothing(make_session: MakeSession, monkeypatch: pytest.MonkeyPatch) -> None:
    session_id = make_session()
    send(session_id, "cycle")
    work = Simulation.work

    def work_while_somebody_takes_over(self: Simulation, **options: Any) -> Any:
        lease.clear_owner(lease.owner_prefix())
        lease.acquire(session_id)
        return work(self, **options)

    monkeypatch.setattr(Simulation, "work", work_while_somebody_takes_over)
    work_off(session_id)

    session = Session.objects.get(pk=session_id)
    assert session.applied_seq == 0
    assert not Chunk.objects.filter(session_id=session_id).exists()


def test_only_one_owner_works_on_a_session(make_session: MakeSession) -> None:
    session_id = make_session()
    assert lease.acquire(session_id) is not None
    send(session_id, "cycle")

    work_off(session_id)

    assert Session.objects.get(pk=session_id).applied_seq == 0


def test_the_successor_of_a_killed_owner_produces_the_same_events(make_session: MakeSession, monkeypatch: pytest.MonkeyPatch) -> None:
    session_id = make_session(pods=300)
    send(session_id, "run")
    die_at_commit(3, monkeypatch)
    with pytest.raises(SystemExit):
        work_off(session_id)
    between = Session.objects.get(pk=session_id)
    crash(session_id)
    session = work_off(session_id)

    assert (between.applied_seq, between.chunk) == (0, 2)
    assert (session.applied_seq, session.cycle) == (1, 300)
    events = stored_events(session_id)
    straight = straight_events(session_id)
    assert msgspec.json.encode(events) == msgspec.json.encode(straight)


def straight_events(session_id: Any) -> list[Any]:
    """The events of all commands, executed by one engine from the first checkpoint."""
    first = Checkpoint.objects.filter(session_id=session_id, complete=True).order_by("event", "pk")[0]
    simulation = Simulation.restore(checkpoints.stored_engine(first))
    events: list[Any] = []
    for stored in replayer.stored_commands(session_id, after_seq=0):
        replayer._do(simulation, stored, begun=False, between_cycles=lambda: False)
        events += simulation.drain_events()
    return events


def test_a_pause_overtakes_a_run(make_session: MakeSession) -> None:
    session_id = make_session(pods=2000)
    send(session_id, "run")
    host = threading.Thread(target=_host, args=(session_id,))
    host.start()
    until(lambda: Session.objects.get(pk=session_id).cycle > 0)

    began = time.monotonic()
    pause = send(session_id, "pause")
    until(lambda: Session.objects.get(pk=session_id).applied_seq == pause)
    took = time.monotonic() - began
    host.join()

    session = Session.objects.get(pk=session_id)
    run = Command.objects.get(session_id=session_id, seq=1)
    assert run.outcome["stopped"] == "paused"
    assert 0 < session.cycle < 2000
    assert session.status == Session.Status.PAUSED
    assert took < 2
    assert msgspec.json.encode(stored_events(session_id)) == msgspec.json.encode(straight_events(session_id))


def _host(session_id: Any, linger_seconds: float = 0) -> None:
    try:
        worker_loop.host_session(session_id, linger_seconds=linger_seconds)
    finally:
        connection.close()


def test_a_pause_also_ends_runs_that_have_not_started(make_session: MakeSession) -> None:
    session_id = make_session()
    for op in ("run", "cycle", "run", "pause"):
        send(session_id, op)

    session = work_off(session_id)

    outcomes = list(Command.objects.filter(session_id=session_id).order_by("seq").values_list("outcome", flat=True))
    assert [outcome["cycles"] for outcome in outcomes] == [0, 1, 0, 0]
    assert session.applied_seq == 4
    assert digest_at_head(session_id)


def test_a_rate_limited_run_commits_its_cycles_over_time_and_pauses_immediately(make_session: MakeSession) -> None:
    session_id = make_session(pods=100)
    send(session_id, "run", rate=10)
    host = threading.Thread(target=_host, args=(session_id,))
    began = time.monotonic()
    host.start()
    until(lambda: Session.objects.get(pk=session_id).cycle >= 8)
    took = time.monotonic() - began

    pause = send(session_id, "pause")
    began_ = time.monotonic()
    until(lambda: Session.objects.get(pk=session_id).applied_seq == pause)
    paused = time.monotonic() - began_
    host.join()

    assert took > 0.6
    assert paused < 0.5
    assert Session.objects.get(pk=session_id).cycle < 30
    assert Chunk.objects.filter(session_id=session_id).count() > 3


def test_a_slow_run_can_be_paused_between_two_cycles(make_session: MakeSession) -> None:
    session_id = make_session(pods=100)
    send(session_id, "run", rate=0.1)
    host = threading.Thread(target=_host, args=(session_id,))
    host.start()
    until(lambda: Session.objects.get(pk=session_id).cycle == 1)

    began = time.monotonic()
    pause = send(session_id, "pause")
    until(lambda: Session.objects.get(pk=session_id).applied_seq == pause)

    assert time.monotonic() - began < 1
    host.join()


@pytest.fixture
def breaking(monkeypatch: pytest.MonkeyPatch) -> None:
    """Latency for services raises, for namespaces it ends the owner."""
    start = Simulation.start

    def start_or_break(self: Simulation, one: Any, *, seq: int = 0) -> None:
        if isinstance(one, Latency) and one.kind == "Service":
            raise RuntimeError("a bug")
        if isinstance(one, Latency) and one.kind == "Namespace":
            raise SystemExit
        start(self, one, seq=seq)

    monkeypatch.setattr(Simulation, "start", start_or_break)


@pytest.mark.usefixtures("breaking")
def test_a_command_that_breaks_the_engine_is_quarantined_and_the_others_continue(make_session: MakeSession) -> None:
    session_id = make_session()
    send(session_id, "cycle")
    send(session_id, "latency", kind="Service", seconds=1)
    send(session_id, "cycle")

    session = work_off(session_id)

    broken = Command.objects.get(session_id=session_id, seq=2)
    assert broken.quarantined
    assert "a bug" in broken.outcome["error"]
    assert "Command 2 was quarantined" in session.message
    assert (session.applied_seq, session.cycle) == (3, 2)
    assert digest_at_head(session_id)


def test_a_cancelled_query_during_a_command_does_not_quarantine_it(make_session: MakeSession, monkeypatch: pytest.MonkeyPatch) -> None:
    session_id = make_session()
    send(session_id, "run")

    def cancelled(_: object) -> str:
        monkeypatch.undo()
        raise OperationalError("canceling statement due to user request")

    monkeypatch.setattr(slice_runner.quotas, "reason_to_stop", cancelled)
    monkeypatch.setattr(slice_runner, "SLICE_CYCLES", 2)
    assert work_off(session_id).applied_seq == 0
    lease.clear_owner(lease.owner_prefix())
    session = work_off(session_id)

    assert (session.applied_seq, session.cycle) == (1, 10)
    command = Command.objects.get(session_id=session_id)
    assert not command.quarantined
    assert command.outcome["error"] == ""


@pytest.mark.parametrize(("error", "is_fault_of_command"), [(OperationalError, False), (DataError, True)])
def test_repeated_database_errors_back_off_the_session_or_quarantine_the_command_at_fault(
    make_session: MakeSession, monkeypatch: pytest.MonkeyPatch, *, error: type[DatabaseError], is_fault_of_command: bool
) -> None:
    session_id = make_session()
    send(session_id, "run")

    def failing(_: object) -> str:
        raise error("out of luck")

    with monkeypatch.context() as patch:
        patch.setattr(slice_runner.quotas, "reason_to_stop", failing)
        patch.setattr(slice_runner, "SLICE_CYCLES", 2)
        owners = 0
        while (session := Session.objects.get(pk=session_id)).lease_owner != lease.BACKOFF_OWNER and not session.applied_seq:
            work_off(session_id)
            owners += 1
            lease.clear_owner(lease.owner_prefix())

    assert owners == 4
    assert Command.objects.get(session_id=session_id).quarantined is is_fault_of_command
    if not is_fault_of_command:
        assert session.message.startswith("3 attempts in a row to continue this session failed")
        rest_is_over(session_id)
        assert work_off(session_id).cycle == 10


def test_a_stuck_command_is_quarantined_by_the_same_owner_and_the_others_continue(
    make_session: MakeSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    start = Simulation.start

    def start_or_spin(self: Simulation, one: Any, *, seq: int = 0) -> None:
        while isinstance(one, Latency):
            pass
        start(self, one, seq=seq)

    monkeypatch.setattr(Simulation, "start", start_or_spin)
    monkeypatch.setattr(WATCHDOG, "seconds", 0.5)
    session_id = make_session()
    send(session_id, "cycle")
    send(session_id, "latency", kind="Service", seconds=1)
    send(session_id, "cycle")
    epoch = Session.objects.get(pk=session_id).epoch

    session = work_off(session_id)

    assert Command.objects.get(session_id=session_id, quarantined=True).seq == 2
    assert session.message.startswith("Command 2 was quarantined: one step of it took over 10 s")
    assert (session.applied_seq, session.cycle, session.epoch, session.tries) == (3, 2, epoch + 1, 0)
    assert digest_at_head(session_id)


def test_a_stuck_load_backs_off(make_session: MakeSession, monkeypatch: pytest.MonkeyPatch) -> None:
    def spin(*_: Any, **__: Any) -> Any:
        while True:
            pass

    session_id = make_session()
    send(session_id, "cycle")
    with monkeypatch.context() as patch:
        patch.setattr(starting_point, "find", spin)
        patch.setattr(WATCHDOG, "seconds", 0.5)
        session = work_off(session_id)

    assert (session.lease_owner, session.applied_seq) == (lease.BACKOFF_OWNER, 0)
    assert session.message == "One step of loading this session took over 10 s; the next attempt is in 30 s."
    rest_is_over(session_id)
    assert work_off(session_id).applied_seq == 1


@pytest.mark.usefixtures("breaking")
def test_a_command_that_kills_three_owners_is_quarantined(make_session: MakeSession) -> None:
    session_id = make_session()
    send(session_id, "latency", kind="Namespace", seconds=1)
    send(session_id, "cycle")
    owners_die(session_id, 3)

    session = work_off(session_id)

    assert Command.objects.get(session_id=session_id, seq=1).quarantined
    assert (session.applied_seq, session.cycle, session.status) == (2, 1, Session.Status.READY)
    assert "quarantined" in session.message


@pytest.mark.usefixtures("breaking")
def test_a_command_that_crashes_workers_is_quarantined_despite_an_unrelated_crash_in_between(
    make_session: MakeSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    session_id = make_session()
    send(session_id, "latency", kind="Namespace", seconds=1)
    send(session_id, "cycle")
    for loads in (True, False, True):
        with monkeypatch.context() as patch:
            if not loads:
                patch.setattr(starting_point, "find", die)
            owners_die(session_id)
    work_off(session_id)
    rest_is_over(session_id)
    owners_die(session_id, 2)

    session = work_off(session_id)

    assert Command.objects.get(session_id=session_id, seq=1).quarantined
    assert (session.applied_seq, session.cycle) == (2, 1)


def test_crashes_while_a_session_is_loaded_do_not_quarantine_its_command(
    make_session: MakeSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    session_id = make_session()
    send(session_id, "cycle")
    places: list[tuple[Any, str]] = [(starting_point, "find"), (starting_point, "find"), (slice_runner.SliceRunner, "_begin_or_continue")]
    for owner, name in places:
        with monkeypatch.context() as patch:
            patch.setattr(owner, name, die)
            owners_die(session_id)
    assert Session.objects.get(pk=session_id).trying_seq == 1

    assert "to continue this session failed" in work_off(session_id).message
    rest_is_over(session_id)
    session = work_off(session_id)
    assert (session.applied_seq, session.tries) == (1, 0)
    assert not Command.objects.get(session_id=session_id).quarantined


def die(*_: Any, **__: Any) -> Any:
    raise SystemExit


def die_at_commit(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Kill the owner right before its n-th commit; later owners survive."""
    commit, commits = slice_commit.commit, 0

    def commit_or_die(*arguments: Any, **keywords: Any) -> Any:
        nonlocal commits
        commits += 1
        if commits == number:
            raise SystemExit
        return commit(*arguments, **keywords)

    monkeypatch.setattr(slice_commit, "commit", commit_or_die)


def owners_die(session_id: UUID, times: int = 1) -> None:
    """Successive owners, each of which is killed by its command."""
    for _ in range(times):
        with pytest.raises(SystemExit):
            work_off(session_id)
        crash(session_id)


def rest_is_over(session_id: UUID) -> None:
    resting = Session.objects.filter(pk=session_id, lease_owner=lease.BACKOFF_OWNER)
    assert resting.update(lease_until=1.0) == 1


def test_a_session_that_kills_its_workers_backs_off_exponentially(make_session: MakeSession, monkeypatch: pytest.MonkeyPatch) -> None:
    session_id = make_session()
    send(session_id, "cycle")
    messages: list[str] = []
    with monkeypatch.context() as patch:
        patch.setattr(starting_point, "find", die)
        owners_die(session_id, 3)
        messages.append(work_off(session_id).message)
        assert lease.acquire(session_id) is None
        rest_is_over(session_id)
        owners_die(session_id)
        messages.append(work_off(session_id).message)

    assert messages == [
        "3 attempts in a row to continue this session failed; the next attempt is in 2 s. No accepted command is lost.",
        "4 attempts in a row to continue this session failed; the next attempt is in 4 s. No accepted command is lost.",
    ]
    rest_is_over(session_id)
    session = work_off(session_id)
    assert (session.status, session.applied_seq, session.message, session.acquisitions) == (Session.Status.READY, 1, "", 0)


def test_a_session_that_cannot_be_loaded_has_a_message_and_is_retried(make_session: MakeSession, monkeypatch: pytest.MonkeyPatch) -> None:
    session_id = make_session()
    send(session_id, "cycle")

    def fail(*_: Any, **__: Any) -> Any:
        raise TypeError("a bug")

    with monkeypatch.context() as patch:
        patch.setattr(starting_point, "find", fail)
        session = work_off(session_id)
    assert "could not be loaded (TypeError: a bug); the next attempt is in 2 s." in session.message

    rest_is_over(session_id)
    assert work_off(session_id).applied_seq == 1


def test_crashes_with_an_external_cause_do_not_count(make_session: MakeSession, monkeypatch: pytest.MonkeyPatch) -> None:
    session_id = make_session()
    send(session_id, "cycle")
    with monkeypatch.context() as patch:
        patch.setattr(starting_point, "find", die)
        for _ in range(5):
            with pytest.raises(SystemExit):
                work_off(session_id)
            lease.clear_owner(lease.owner_prefix(), killed_externally=True)

    session = work_off(session_id)

    assert (session.applied_seq, session.message) == (1, "")


def test_a_diverging_replay_fails_the_session(make_session: MakeSession) -> None:
    session_id = make_session()
    send(session_id, "cycle")
    work_off(session_id)
    crash(session_id)
    Session.objects.filter(pk=session_id).update(event=10_000)
    send(session_id, "cycle")

    session = work_off(session_id)

    assert session.status == Session.Status.FAILED
    assert "10000" in session.message


def test_a_run_continues_from_a_checkpoint_in_its_middle(make_session: MakeSession, monkeypatch: pytest.MonkeyPatch) -> None:
    session_id = make_session(pods=300)
    send(session_id, "run")
    monkeypatch.setattr(checkpoints, "is_due", lambda *_: True)
    die_at_commit(3, monkeypatch)
    owners_die(session_id)
    newest = checkpoints.newest(session_id)
    session = work_off(session_id)

    assert newest is not None
    assert newest.in_command
    assert session.cycle == 300
    assert msgspec.json.encode(stored_events(session_id)) == msgspec.json.encode(straight_events(session_id))


def test_commands_are_executed_without_redis(make_session: MakeSession, settings: Any) -> None:
    session_id = make_session()
    settings.REDIS_URL = "unix:///nowhere/redis.sock"
    stream._client.cache_clear()
    try:
        send(session_id, "run")
        session = work_off(session_id)
    finally:
        stream._client.cache_clear()

    assert session.cycle == 10


def test_an_engine_that_was_released_cleanly_is_reused(make_session: MakeSession, monkeypatch: pytest.MonkeyPatch) -> None:
    session_id = make_session()
    send(session_id, "cycle")
    work_off(session_id)

    def load_again(_: engine_host.EngineHost) -> None:
        raise AssertionError("the engine was loaded again")

    monkeypatch.setattr(engine_host.EngineHost, "load", load_again)
    send(session_id, "cycle")

    assert work_off(session_id).cycle == 2


def test_a_stepped_session_keeps_its_host_however_long_it_is_hosted(make_session: MakeSession, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker_loop, "LONG_HOSTING_SECONDS", 0.0)
    session_id = make_session()
    host = threading.Thread(target=_host, args=(session_id, 1.0))
    host.start()
    epochs = set()
    for _ in range(5):
        seq = send(session_id, "cycle")
        until(lambda seq=seq: Session.objects.get(pk=session_id).applied_seq == seq)
        epochs.add(Session.objects.get(pk=session_id).epoch)
    host.join()

    assert len(epochs) == 1


def test_hosting_ends_after_a_while_if_another_session_waits_for_the_slot(
    make_session: MakeSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker_loop, "LONG_HOSTING_SECONDS", 0.0)
    monkeypatch.setattr(worker_loop, "SLOTS", Slots(1, lambda: 1))
    session_id = make_session()

    worker_loop.host_session(session_id, linger_seconds=3600)

    assert Session.objects.get(pk=session_id).lease_owner == ""


def test_a_session_without_work_leaves_after_its_turn_if_another_waits_for_the_slot(
    make_session: MakeSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker_loop, "LONG_HOSTING_SECONDS", 20.0)
    monkeypatch.setattr(worker_loop, "CROWDED_LINGER_SECONDS", 3600.0)
    monkeypatch.setattr(worker_loop, "SLOTS", Slots(1, lambda: 1))
    session_id = make_session()
    send(session_id, "cycle")

    began = time.monotonic()
    worker_loop.host_session(session_id, linger_seconds=3600)

    assert worker_loop._MIN_HOSTING_SECONDS <= time.monotonic() - began < 15
    assert Session.objects.get(pk=session_id).lease_owner == ""


def test_a_turn_is_longer_for_slow_loads_so_that_hand_overs_use_a_part_of_one_core(
    make_session: MakeSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    slots = Slots(10, lambda: 1)
    monkeypatch.setattr(worker_loop, "SLOTS", slots)
    acquired = lease.acquire(make_session())
    assert acquired is not None
    hosted = worker_loop._HostedSession(*acquired, 60.0)
    hosted.host.load_seconds = 0.5
    with ExitStack() as others:
        for _ in range(10):
            others.enter_context(slots.hosting(None))
        assert not hosted._claim_leaving(9.9)
        assert hosted._claim_leaving(10.1)
    lease.release(acquired[0])


def test_idle_sessions_of_the_sender_with_the_most_slots_leave_first_when_slots_are_short(
    make_session: MakeSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    slots = Slots(3, lambda: 0)
    monkeypatch.setattr(worker_loop, "SLOTS", slots)
    acquired = lease.acquire(make_session())
    assert acquired is not None
    hosted = worker_loop._HostedSession(*acquired, 60.0)
    with slots.hosting(None), slots.hosting(7):
        assert hosted._linger() == 60.0
        with slots.hosting(None):
            assert hosted._linger() == worker_loop.CROWDED_LINGER_SECONDS
        with slots.hosting(7):
            assert hosted._linger() == worker_loop._CROWDED_LINGER_SECONDS_OF_OTHERS
    lease.release(acquired[0])


def test_a_long_run_is_handed_over_to_another_worker(make_session: MakeSession, monkeypatch: pytest.MonkeyPatch) -> None:
    notified: list[UUID] = []
    monkeypatch.setattr(worker_loop, "LONG_HOSTING_SECONDS", 0.0)
    monkeypatch.setattr(wakeups, "notify", lambda session_id, **_: notified.append(session_id))
    session_id = make_session(pods=200)
    send(session_id, "run")

    worker_loop.host_session(session_id)

    session = Session.objects.get(pk=session_id)
    assert 0 < session.cycle < 200
    assert session.lease_owner == ""
    assert notified[-1] == session_id


OPS: list[dict[str, Any]] = [
    {"op": "cycle"},
    {"op": "run", "max": 3},
    {"op": "step", "unit": "cycle", "count": 2},
    {"op": "step", "unit": "stage"},
    {"op": "schedule"},
    {"op": "bind"},
    {"op": "confirm"},
    {"op": "snapshot"},
    {"op": "pause"},
    {"op": "advance", "seconds": 1.5},
    {"op": "latency", "kind": "Pod", "seconds": 0.5},
    {"op": "restart"},
    {"op": "create", "object": pod("new", cpu="3")},
    {"op": "create", "object": node("late")},
    {"op": "delete", "kind": "Node", "name": "node-1"},
    {"op": "delete", "kind": "Pod", "name": "pod-1"},
]


@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(ops=st.lists(st.sampled_from(OPS), min_size=1, max_size=12), data=st.data())
def test_splitting_commands_over_several_hosts_does_not_change_the_events(
    make_session: MakeSession, ops: list[dict[str, Any]], data: st.DataObject
) -> None:
    whole = make_session()
    for members in ops:
        send(whole, **members)
    work_off(whole)

    split = make_session()
    for members in ops:
        send(split, **members)
        if data.draw(st.booleans(), label="turn"):
            work_off(split)
            if data.draw(st.booleans(), label="crash"):
                crash(split)
    work_off(split)

    # A pause affects only waiting commands, so the runs before it are expected to differ.
    if not any(members["op"] == "pause" for members in ops):
        assert digest_at_head(split) == digest_at_head(whole)
        assert msgspec.json.encode(stored_events(split)) == msgspec.json.encode(stored_events(whole))
    assert msgspec.json.encode(straight_events(split)) == msgspec.json.encode(stored_events(split))
