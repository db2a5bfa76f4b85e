"""Forks: sessions that start with the state of another one and include its history."""

from __future__ import annotations

import itertools
import threading
from concurrent.futures import ThreadPoolExecutor
from uuid import UUID

import msgspec
import pytest
from django.contrib.auth.models import User
from django.db import connection

from schedviz.engine.commands import scheduler_process
from schedviz.ingest.release_evidence import ReleaseEvidence, with_release
from schedviz.ingest.report import Report
from schedviz.sessions import frames
from schedviz.sessions.errors import HistoryUnavailable, KeyReused
from schedviz.sessions.forks.requests import Forked, NotForkable, OtherRelease, fork
from schedviz.sessions.history import blob_chunks, lineage, object_history, reading, timeline
from schedviz.sessions.models import Checkpoint, CheckpointPiece, Chunk, Session
from schedviz.sessions.replay import cycle_detail_job, cycle_details, replayer
from schedviz.sessions.transfer import deletion, import_job
from schedviz.trace.added_members import view_without_added_members, without_added_members
from schedviz.trace.events import StageEnded
from schedviz.trace.tally import Counts
from schedviz.trace.view import View
from tests.sessions.conftest import MakeSession, crash, node, send, work_off

_names = itertools.count(1)


@pytest.fixture
def parent(make_session: MakeSession) -> Session:
    """A session with a varied history and several checkpoints."""
    session_id = make_session(nodes=4, pods=40)
    send(session_id, "run", max=8)
    work_off(session_id)
    send(session_id, "latency", kind="Pod", seconds=1)
    send(session_id, "step", unit="stage", count=7)
    send(session_id, "delete", kind="Node", name="node-2")
    work_off(session_id)
    send(session_id, "run", max=6)
    send(session_id, "advance", seconds=3)
    send(session_id, "run", max=5)
    work_off(session_id)
    return Session.objects.get(pk=session_id)


@pytest.fixture
def somebody(transactional_db: None) -> User:
    return User.objects.create_user(f"somebody-{next(_names)}")


def made(session: Session, owner: User, at: int | None = None) -> Session:
    """A fork that is ready."""
    found = fork(session, owner, at=at).session
    import_job.run_import(found.pk)
    found.refresh_from_db()
    assert found.status == Session.Status.READY, found.message
    return found


def test_a_fork_starts_with_the_state_of_its_parent_at_any_event(parent: Session, somebody: User) -> None:
    for at in range(1, parent.event, 23):
        forked = made(parent, somebody, at)

        assert at <= forked.fork_event < at + 25
        assert reading.state_at_head(forked).view == reading.state_at_event(parent, forked.fork_event).view
        assert (forked.event, forked.chunk, forked.applied_seq, forked.last_seq) == (forked.fork_event, 0, 0, 0)
        assert forked.owner == somebody


def test_a_fork_at_the_end_of_a_stage_starts_exactly_there(parent: Session, somebody: User) -> None:
    cycle = reading.cycles(parent.pk, after=10, limit=1)[0]
    events = reading.events(parent.pk, after=cycle.first_event, before=cycle.last_event)
    ends = [event.event for event in events if isinstance(event, StageEnded) and event.next_stage]
    for end in ends[::3]:
        assert made(parent, somebody, end).fork_event == end
    # The binding starts in the same stage.
    assert made(parent, somebody, cycle.last_event).fork_event == cycle.last_event + 1


@pytest.mark.parametrize("op", ["restart", "reset"])
def test_a_session_can_be_forked_during_the_first_lists_of_a_restarted_scheduler(
    op: str, parent: Session, somebody: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scheduler_process, "MAX_LISTED_IN_UNIT", 10)
    before = parent.event
    send(parent.pk, op)
    parent = work_off(parent.pk)

    forks = [made(parent, somebody, at) for at in (before + 20, parent.event - 20)]

    assert [fork.fork_event < parent.event for fork in forks] == [True, True]
    for forked in forks:
        send(forked.pk, "run")
        work_off(forked.pk)
    send(parent.pk, "run")
    parent = work_off(parent.pk)
    ends = [reading.state_at_head(Session.objects.get(pk=one.pk)).view.cache.list for one in (*forks, parent)]
    assert ends[0] == ends[1] == ends[2]


def test_a_fork_without_a_moment_starts_at_the_head(parent: Session, somebody: User) -> None:
    forked = made(parent, somebody)

    assert forked.event == parent.event
    assert reading.state_at_head(forked).view == reading.state_at_head(parent).view


def test_commands_to_a_fork_do_not_change_its_parent(parent: Session, somebody: User) -> None:
    forked = made(parent, somebody, parent.event // 2)
    before = forked.event
    send(forked.pk, "run", max=3)
    forked = work_off(forked.pk)

    own = reading.events(forked.pk, after=before)
    assert [event.event for event in own] == list(range(before + 1, forked.event + 1))
    assert Chunk.objects.get(session=forked, number=1).first_event == before + 1
    unchanged = Session.objects.get(pk=parent.pk)
    assert (unchanged.event, unchanged.chunk) == (parent.event, parent.chunk)


def test_the_same_commands_give_the_same_cycles_as_in_the_parent(parent: Session, somebody: User) -> None:
    """The parent's last run started after an `advance`; a fork from there continues identically."""
    last_run = next(one for one in reading.cycles(parent.pk) if one.cycle.cycle > 15)
    forked = made(parent, somebody, last_run.first_event - 1)
    send(forked.pk, "run", max=5)
    work_off(forked.pk)

    ours, theirs = (reading.cycles(one.pk, after=last_run.cycle.cycle - 1, limit=4) for one in (forked, parent))
    assert [one.cycle for one in ours] == [one.cycle for one in theirs]


def test_a_fork_has_the_history_of_its_parent_up_to_the_fork(parent: Session, somebody: User) -> None:
    middle = reading.cycles(parent.pk, after=8, limit=1)[0].first_event + 7
    forked = made(parent, somebody, middle)
    send(forked.pk, "run", max=4)
    forked = work_off(forked.pk)
    fork_event = forked.fork_event

    events = reading.events(forked.pk, limit=100_000)
    assert [event.event for event in events] == list(range(1, forked.event + 1))
    assert events[:fork_event] == reading.events(parent.pk, before=fork_event + 1, limit=100_000)
    assert [event.event for event in reading.events(forked.pk, tail=True, limit=10_000, before=fork_event + 3)] == list(
        range(1, fork_event + 3)
    )
    assert [one.cycle.cycle for one in reading.cycles(forked.pk)] == list(range(1, forked.cycle + 1))
    assert [one.cycle.cycle for one in reading.cycles(forked.pk, limit=9, tail=True)] == list(range(forked.cycle - 8, forked.cycle + 1))
    for event in range(0, forked.event, 31):
        moment = reading.state_at_event(forked, event)
        assert moment.view.event == event
        if event < fork_event:
            assert (moment.chunk, moment.view) == (0, reading.state_at_event(parent, event).view)
    assert reading.first_moment(forked) == 0


def test_object_histories_start_before_the_fork(parent: Session, somebody: User) -> None:
    # During a pod's cycle that continues in the fork.
    cycle = reading.cycles(parent.pk, after=10, limit=1)[0]
    forked = made(parent, somebody, cycle.first_event + 6)
    send(forked.pk, "step", unit="cycle")
    forked = work_off(forked.pk)

    def told(session: Session, *, tail: bool) -> list[tuple[int, str]]:
        result = object_history.read(session, "pods", cycle.cycle.pod, after=0, before=cycle.last_event + 1, limit=100, tail=tail)
        return [(entry.event, entry.text) for entry in result.entries]

    assert told(forked, tail=False) == told(forked, tail=True) == told(parent, tail=False)
    assert told(forked, tail=False)[0][0] <= forked.fork_event < told(forked, tail=False)[-1][0]


def test_the_timeline_of_a_fork_counts_every_event_once(parent: Session, somebody: User) -> None:
    for middle in (parent.event // 3, Chunk.objects.filter(session=parent).order_by("number")[1].last_event):
        forked = made(parent, somebody, middle)
        send(forked.pk, "run", max=2)
        forked = work_off(forked.pk)

        buckets = timeline.buckets(forked, after=0, until=forked.event, max_buckets=2000)

        assert buckets[0].first_event == 1
        assert [bucket.first_event for bucket in buckets[1:]] == [one.event + 1 for one in buckets[:-1]]
        assert sum(bucket.counts.cycles for bucket in buckets) == len(reading.cycles(forked.pk))
        assert buckets[-1].event == forked.event
        whole = timeline.buckets(forked, after=0, until=forked.event, max_buckets=1)[0].counts
        for name in Counts.__struct_fields__:
            assert getattr(whole, name) == sum(getattr(bucket.counts, name) for bucket in buckets)


def test_a_fork_can_be_forked_after_and_before_its_own_fork_point(parent: Session, somebody: User) -> None:
    first = made(parent, somebody, parent.event // 2)
    send(first.pk, "run", max=4)
    first = work_off(first.pk)

    after = made(first, somebody, first.fork_event + 40)
    before = made(first, somebody, parent.event // 4)

    assert reading.state_at_head(after).view == reading.state_at_event(first, after.fork_event).view
    assert reading.state_at_head(before).view == reading.state_at_event(parent, before.fork_event).view
    assert [one.session_id for one in lineage.segments(after.pk)] == [after.pk, first.pk, parent.pk]
    for one in (after, before):
        assert [event.event for event in reading.events(one.pk, limit=100_000)] == list(range(1, one.event + 1))
        assert sum(bucket.counts.cycles for bucket in timeline.buckets(one, after=0, until=one.event, max_buckets=9)) == len(
            reading.cycles(one.pk)
        )


def test_the_detail_of_a_cycle_that_continues_in_the_fork_is_complete(parent: Session, somebody: User) -> None:
    wanted = reading.cycles(parent.pk, after=11, limit=1)[0]
    forked = made(parent, somebody, wanted.first_event + 8)
    assert forked.fork_event < wanted.last_event
    send(forked.pk, "step", unit="cycle")
    forked = work_off(forked.pk)

    ours = cycle_detail_job.replay_cycle(forked, wanted.cycle.cycle)
    theirs = cycle_detail_job.replay_cycle(parent, wanted.cycle.cycle)

    for member in ("pod", "filter", "scores", "totals", "node"):
        assert ours[member] == theirs[member], member
    summary = reading.cycle_summary(forked.pk, wanted.cycle.cycle)
    assert summary is not None
    assert (summary.first_event, summary.cycle.node) == (wanted.first_event, wanted.cycle.node)


def test_the_detail_of_a_cycle_before_the_fork_equals_the_parents(parent: Session, somebody: User) -> None:
    forked = made(parent, somebody)
    cycle_detail_job.make_cycle_detail(parent.pk, 3)

    assert cycle_details.cycle_detail(forked.pk, 3, timeout_seconds=0) == cycle_details.cycle_detail(parent.pk, 3, timeout_seconds=0)


def test_a_fork_survives_worker_crashes(parent: Session, somebody: User) -> None:
    forked = made(parent, somebody, parent.event // 2)
    send(forked.pk, "run", max=3)
    work_off(forked.pk)
    crash(forked.pk)
    send(forked.pk, "run", max=3)
    forked = work_off(forked.pk)

    simulation, _, _ = replayer.load(forked.pk, to_seq=forked.applied_seq, to_event=forked.event, alive=lambda: None)
    assert simulation.view() == reading.state_at_head(forked).view


def test_another_worker_completes_a_fork_whose_worker_crashed(parent: Session, somebody: User) -> None:
    forked = fork(parent, somebody, at=100).session
    replaying_worker = Checkpoint.objects.filter(session=forked)
    import_job.run_import(forked.pk)
    Session.objects.filter(pk=forked.pk).update(status=Session.Status.IMPORTING)

    import_job.run_import(forked.pk)

    forked.refresh_from_db()
    assert forked.status == Session.Status.READY
    assert replaying_worker.count() == 2
    assert reading.state_at_head(forked).view == reading.state_at_event(parent, forked.fork_event).view


def test_the_history_starts_at_the_fork_if_the_parent_was_deleted(parent: Session, somebody: User) -> None:
    forked = made(parent, somebody, parent.event // 2)
    send(forked.pk, "run", max=2)
    work_off(forked.pk)

    deletion.delete_session(parent.pk)
    forked.refresh_from_db()

    assert forked.forked_from is None
    assert reading.first_moment(forked) == forked.fork_event
    assert reading.state_at_event(forked, forked.fork_event).view.event == forked.fork_event
    assert reading.events(forked.pk)[0].event == forked.fork_event + 1
    with pytest.raises(HistoryUnavailable, match=f"history before event {forked.fork_event} is no longer stored"):
        reading.state_at_event(forked, forked.fork_event - 1)
    assert timeline.buckets(forked, after=0, until=forked.event, max_buckets=10)
    send(forked.pk, "run", max=2)
    assert work_off(forked.pk).applied_seq == 2


def test_a_fork_fails_with_a_message_if_its_parent_was_deleted_first(parent: Session, somebody: User) -> None:
    forked = fork(parent, somebody).session
    deletion.delete_session(parent.pk)

    import_job.run_import(forked.pk)

    forked.refresh_from_db()
    assert (forked.status, forked.message) == (Session.Status.FAILED, "The session to fork was deleted.")


def test_a_fork_whose_replay_diverges_fails(parent: Session, somebody: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("schedviz.sessions.forks.builder.Simulation.view", lambda _: View())
    forked = fork(parent, somebody, at=50).session

    import_job.run_import(forked.pk)

    forked.refresh_from_db()
    assert forked.status == Session.Status.FAILED
    assert "leads to another state than was recorded" in forked.message


@pytest.mark.parametrize("release", ["v1.27.1", "v1.36"])
def test_a_session_stored_by_an_earlier_build_can_be_forked(release: str, make_session: MakeSession, somebody: User) -> None:
    session_id = make_session(nodes=3, pods=6, release=release)
    send(session_id, "run", max=3)
    work_off(session_id)
    store_as_an_earlier_build(session_id)
    send(session_id, "create", object=node("of-this-build"))
    parent = work_off(session_id)
    scored = [event.event for event in reading.events(parent.pk) if isinstance(event, StageEnded) and event.stage == "SelectHost"]

    for at in (scored[0], scored[1], parent.event):
        assert made(parent, somebody, at).fork_event >= at


def store_as_an_earlier_build(session_id: UUID) -> None:
    """Remove members that later builds added from the events and views of a session."""
    for chunk in Chunk.objects.filter(session_id=session_id):
        events = [without_added_members(event) for event in frames.events_of(bytes(chunk.data))]
        chunk.data = frames.frame(chunk.number, events, frames.open_frame(bytes(chunk.data)).session)
        chunk.save()
    for checkpoint in Checkpoint.objects.filter(session_id=session_id):
        view = view_without_added_members(reading.stored_view(checkpoint))
        pieces = CheckpointPiece.objects.filter(checkpoint=checkpoint, part=CheckpointPiece.Part.VIEW)
        pieces.delete()
        for number, data in enumerate(blob_chunks.split(msgspec.json.encode(view))):
            pieces.create(checkpoint=checkpoint, part=CheckpointPiece.Part.VIEW, number=number, data=data)


def test_the_same_idempotency_key_returns_the_same_fork(parent: Session, somebody: User) -> None:
    first = fork(parent, somebody, at=20, key="mine")

    again = fork(parent, somebody, at=20, key="mine")

    assert (first.duplicate, again.duplicate) == (False, True)
    assert again.session == first.session
    with pytest.raises(KeyReused, match="event 20"):
        fork(parent, somebody, at=21, key="mine")
    other = User.objects.create_user("other")
    assert fork(parent, other, at=20, key="mine").session != first.session


def test_an_idempotency_key_cannot_be_reused_for_a_fork_with_other_feature_gates(parent: Session, somebody: User) -> None:
    without = OtherRelease("v1.36", {"SchedulerAsyncPreemption": False})
    first = fork(parent, somebody, key="mine", other=without)

    assert fork(parent, somebody, key="mine", other=without).session == first.session
    with pytest.raises(KeyReused, match="other feature gates"):
        fork(parent, somebody, key="mine", other=OtherRelease("v1.36"))


def test_the_report_of_a_fork_to_another_release_names_that_release(parent: Session, somebody: User) -> None:
    suggested = ReleaseEvidence(kubelet="v1.36.1")
    parent.report = msgspec.json.decode(msgspec.json.encode(with_release(Report(warnings=("A node is missing.",)), None, suggested)))
    parent.save()

    same, other = fork(parent, somebody).session, fork(parent, somebody, other=OtherRelease("v1.27.1")).session

    assert same.report == parent.report
    assert suggested.note is not None
    assert parent.report["warnings"] == [suggested.note.text, "A node is missing."]
    assert other.report == {**parent.report, "release": "v1.27.1", "warnings": ["A node is missing."], "warningPhrases": []}


def test_concurrent_requests_with_one_key_create_one_fork_to_another_release(parent: Session, somebody: User) -> None:
    start = threading.Barrier(4)

    def request(_: int) -> Forked:
        start.wait()
        try:
            return fork(parent, somebody, at=20, key="mine", other=OtherRelease("v1.36"))
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as pool:
        forks = list(pool.map(request, range(4)))

    assert sorted(made.duplicate for made in forks) == [False, True, True, True]
    assert len({made.session.pk for made in forks}) == 1
    assert Session.objects.filter(origin=parent, forked_from=None).count() == 1


def test_a_session_cannot_be_forked_at_a_future_event(parent: Session, somebody: User) -> None:
    with pytest.raises(HistoryUnavailable, match="has not happened"):
        fork(parent, somebody, at=parent.event + 1)
    with pytest.raises(NotForkable):
        fork(Session.objects.create(name="new"), somebody)
