"""An engine host executes a slice, commits it before the next, and continues after a broken command or under a new lease."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from schedviz.engine import Simulation
from schedviz.engine.commands import scheduler_process
from schedviz.sessions.errors import Fenced
from schedviz.sessions.history import reading
from schedviz.sessions.hosting import engine_host, lease, slice_runner
from schedviz.sessions.hosting.engine_host import EngineHost
from schedviz.sessions.hosting.slice_commit import Position
from schedviz.sessions.hosting.slice_runner import EngineError
from schedviz.sessions.models import Chunk, Command, Session
from schedviz.trace.commands import Latency
from tests.conftest import until
from tests.sessions.conftest import MakeSession, send, stored_events
from tests.sessions.hosting.conftest import HostOf


def test_a_slice_is_committed_when_work_slice_returns(make_session: MakeSession, host_of: HostOf) -> None:
    session_id = make_session()
    send(session_id, "cycle")
    host = host_of(session_id)

    assert host.has_work
    host.work_slice()

    assert not host.has_work
    assert host.position == Position.of(Session.objects.get(pk=session_id))
    assert host.position.cycle == 1


@pytest.mark.parametrize("point", ["preFilter", "filter", "reserve", "preBind"])
def test_a_pod_of_v1_36_that_backs_off_after_an_error_is_committed_and_counted(
    make_session: MakeSession, host_of: HostOf, point: str
) -> None:
    scripted = {"name": "Scripted", "args": {"rules": [{"point": point, "code": "Error", "times": 1}]}}
    profile = {"plugins": {"multiPoint": {"enabled": [{"name": "Scripted"}]}}, "pluginConfig": [scripted]}
    session_id = make_session(nodes=1, pods=1, release="v1.36")
    send(session_id, "configure", config={"profiles": [profile]})
    send(session_id, "run")
    host = host_of(session_id)

    while host.has_work:
        host.work_slice()

    session = Session.objects.get(pk=session_id)
    assert (session.applied_seq, session.message) == (2, "")
    counted = host._writer._metrics.values.counters["scheduler_queue_incoming_pods_total"]
    assert counted["backoff", "ScheduleAttemptFailure"] == 1


def test_commands_accepted_later_count_as_work_once_the_inbox_is_read(make_session: MakeSession, host_of: HostOf) -> None:
    session_id = make_session()
    host = host_of(session_id)
    send(session_id, "cycle")

    assert not host.has_work
    host.read_inbox()
    assert host.has_work


def test_a_suspicious_session_executes_one_command_per_slice_until_its_next_commit(make_session: MakeSession, host_of: HostOf) -> None:
    session_id = make_session()
    for _ in range(3):
        send(session_id, "cycle")
    host = host_of(session_id)
    host.is_suspicious = True

    host.work_slice()

    assert host.position.applied_seq == 1
    assert not host.is_suspicious
    host.work_slice()
    assert host.position.applied_seq == 3


def test_a_host_without_a_broken_command_quarantines_it_at_the_same_position(
    make_session: MakeSession, host_of: HostOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    session_id = make_session()
    send(session_id, "cycle")
    host = host_of(session_id)
    host.work_slice()
    send(session_id, "latency", kind="Service", seconds=1)
    send(session_id, "cycle")
    host.read_inbox()
    start = Simulation.start

    def start_or_break(self: Simulation, one: Any, *, seq: int = 0) -> None:
        if isinstance(one, Latency):
            raise RuntimeError("a bug")  # noqa: TRY004 (as a bug would)
        start(self, one, seq=seq)

    monkeypatch.setattr(Simulation, "start", start_or_break)
    with pytest.raises(EngineError) as error:
        host.work_slice()
    reloaded = host.without_command(error.value)
    reloaded.load()

    assert reloaded.position == host.position
    assert reloaded.has_work
    reloaded.work_slice()
    assert reloaded.position.applied_seq == 3
    assert Command.objects.get(session_id=session_id, seq=2).quarantined
    assert not Command.objects.get(session_id=session_id, seq=3).quarantined


def test_an_engine_is_taken_over_under_the_next_epoch(make_session: MakeSession, host_of: HostOf) -> None:
    session_id = make_session()
    send(session_id, "cycle")
    host = host_of(session_id)
    host.work_slice()
    lease.release(host.lease)
    send(session_id, "cycle")

    taken = lease.acquire(session_id)
    assert taken is not None
    assert host.take_over(*taken)

    host.work_slice()
    assert Session.objects.get(pk=session_id).cycle == 2
    lease.release(host.lease)


def test_an_engine_is_not_taken_over_if_the_session_had_another_owner_meanwhile(make_session: MakeSession, host_of: HostOf) -> None:
    session_id = make_session()
    host = host_of(session_id)
    lease.release(host.lease)
    other = lease.acquire(session_id)
    assert other is not None
    lease.release(other[0])

    taken = lease.acquire(session_id)
    assert taken is not None
    assert not host.take_over(*taken)
    lease.release(taken[0])


def test_a_host_that_lost_its_lease_to_another_owner_is_fenced(make_session: MakeSession, host_of: HostOf) -> None:
    session_id = make_session()
    send(session_id, "cycle")
    host = host_of(session_id)
    lease.clear_owner(lease.owner_prefix())
    other = lease.acquire(session_id)
    assert other is not None

    with pytest.raises(Fenced):
        host.read_inbox()
    with pytest.raises(Fenced):
        host.work_slice()
    assert Session.objects.get(pk=session_id).applied_seq == 0
    lease.release(other[0])


def test_a_run_continues_in_the_next_slice(make_session: MakeSession, host_of: HostOf) -> None:
    session_id = make_session(pods=200)
    send(session_id, "run")
    host: EngineHost = host_of(session_id)

    host.work_slice()

    assert host.running is not None
    assert host.running.seq == 1
    assert Session.objects.get(pk=session_id).status == Session.Status.RUNNING
    while host.has_work:
        host.work_slice()
    assert host.running is None
    assert host.position.cycle == 200


@pytest.mark.parametrize("op", ["restart", "reset"])
def test_the_first_lists_of_a_restarted_scheduler_are_split_into_chunks(
    op: str, make_session: MakeSession, host_of: HostOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scheduler_process, "MAX_LISTED_IN_UNIT", 10)
    monkeypatch.setattr(slice_runner, "MAX_SLICE_SECONDS", 0.0)
    session_id = make_session(nodes=4, pods=60)
    send(session_id, "cycle")
    send(session_id, op)
    host = host_of(session_id)
    for _ in range(3):
        host.work_slice()
    assert host.running is not None
    # The next owner continues the lists, from the checkpoint or from a replay.
    amid = host.position
    replayed = EngineHost(host.lease, Session.objects.get(pk=session_id))
    replayed.load()
    while replayed.has_work:
        replayed.work_slice()

    session = Session.objects.get(pk=session_id)
    events = stored_events(session_id)
    assert max(chunk.last_event - chunk.first_event for chunk in Chunk.objects.filter(session_id=session_id)) < 40
    assert Command.objects.get(session_id=session_id, seq=2).outcome["event"] == session.event == events[-1].event
    assert len(reading.state_at_event(session, amid.event).view.queue.active_q) < 30
    assert len(reading.state_at_head(session).view.queue.active_q) == (59 if op == "restart" else 60)


class CountedPlace:
    """A semaphore that counts how often it is acquired."""

    def __init__(self) -> None:
        self.times = 0

    @contextmanager
    def place_of(self, _sender: str) -> Iterator[None]:
        self.times += 1
        yield


@pytest.mark.parametrize("calls_extenders", [False, True])
def test_a_run_that_waits_for_extenders_does_not_take_the_bulk_semaphore(
    make_session: MakeSession, host_of: HostOf, monkeypatch: pytest.MonkeyPatch, *, calls_extenders: bool
) -> None:
    place = CountedPlace()
    monkeypatch.setattr(engine_host, "BULK_SEMAPHORE", place)
    session_id = make_session(nodes=3, pods=200)
    Session.objects.filter(pk=session_id).update(calls_extenders=calls_extenders)
    send(session_id, "run")
    host = host_of(session_id)

    while host.has_work:
        host.work_slice()

    assert host.position.cycle == 200
    assert (place.times == 0) is calls_extenders


def test_a_run_that_cannot_reach_its_rate_takes_the_place_of_runs(
    make_session: MakeSession, host_of: HostOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = CountedPlace()
    monkeypatch.setattr(engine_host, "BULK_SEMAPHORE", place)
    session_id = make_session(nodes=3, pods=200)
    send(session_id, "run", rate=10_000)
    host = host_of(session_id)

    while host.has_work:
        until(lambda: not host.seconds_until_due)
        host.work_slice()

    assert host.position.cycle == 200
    assert place.times


def test_a_large_configuration_weighs_as_much_as_many_objects(make_session: MakeSession, host_of: HostOf) -> None:
    plain = host_of(make_session(nodes=3, pods=2)).weight
    profiles = [{"schedulerName": f"scheduler-{number}-{'x' * 100}"} for number in range(100)]
    config = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration", "profiles": profiles}

    assert host_of(make_session(nodes=3, pods=2, config=config)).weight > plain + 50
