"""History from stored data: folded views, events, chunks and cycle summaries."""

from __future__ import annotations

from uuid import UUID

import msgspec
import pytest

from schedviz.sessions.errors import HistoryUnavailable
from schedviz.sessions.history import checkpoints, cycle_groups, reading
from schedviz.sessions.models import Checkpoint, CycleGroup, Session
from schedviz.sessions.replay import replayer
from schedviz.trace.comparing import Summary
from schedviz.trace.events import AnyEvent, CycleEnded, QueueMoved
from schedviz.trace.fold import Fold
from schedviz.trace.view import View
from tests.sessions.conftest import MakeSession, send, stored_events, work_off


def engine_view(session_id: UUID) -> View:
    """The engine's own view at the head."""
    session = Session.objects.get(pk=session_id)
    simulation, _, _ = replayer.load(session_id, to_seq=session.applied_seq, to_event=session.event, alive=lambda: None)
    return simulation.view()


def test_cycles_committed_one_by_one_can_be_read_in_both_directions(make_session: MakeSession) -> None:
    session_id = make_session(nodes=3, pods=80)
    for _ in range(70):
        send(session_id, "cycle")
        work_off(session_id)
    assert CycleGroup.objects.filter(session_id=session_id).count() == 70

    assert cycle_groups.numbers(session_id) == list(range(1, 71))
    assert [one.cycle.cycle for one in cycle_groups.between(session_id, 2, 68, backwards=True)] == list(range(68, 2, -1))
    assert [one.cycle.cycle for one in reading.cycles(session_id, after=2, before=69, limit=100)] == list(range(3, 69))
    assert [one.cycle.cycle for one in reading.cycles(session_id, limit=40, tail=True)] == list(range(31, 71))


def test_the_state_at_the_head_equals_the_view_of_the_engine(busy: UUID) -> None:
    moment = reading.state_at_head(Session.objects.get(pk=busy))

    assert moment.view == engine_view(busy)
    assert moment.chunk == Session.objects.get(pk=busy).chunk


def test_the_state_is_the_same_from_any_checkpoint(make_session: MakeSession, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoints, "is_due", lambda *_: True)
    session_id = make_session(pods=30)
    for _ in range(5):
        send(session_id, "run", max=4)
        work_off(session_id)
    assert Checkpoint.objects.filter(session_id=session_id).count() > 3
    session = Session.objects.get(pk=session_id)
    from_newest = reading.state_at_head(session)

    Checkpoint.objects.filter(session_id=session_id, event__gt=0).exclude(chunk=0).delete()

    assert reading.state_at_head(session).view == from_newest.view


def test_the_state_at_an_event_ends_with_that_event(busy: UUID) -> None:
    session = Session.objects.get(pk=busy)
    events = stored_events(busy)

    for event in events[:: max(1, len(events) // 7)]:
        assert reading.state_at_event(session, event.event).view.event == event.event


def test_a_moment_is_the_fold_of_all_events_up_to_it(busy: UUID) -> None:
    session = Session.objects.get(pk=busy)
    first = Checkpoint.objects.filter(session_id=busy).earliest("event")
    fold = Fold(reading.stored_view(first))

    for number, event in enumerate(stored_events(busy)):
        fold.apply(event)
        if number % 13 == 0:
            assert reading.state_at_event(session, event.event).view == fold.to_view()


def test_a_future_moment_is_refused(busy: UUID) -> None:
    with pytest.raises(HistoryUnavailable, match="has not happened"):
        reading.state_at_event(Session.objects.get(pk=busy), 1_000_000)


def test_a_session_that_is_being_imported_has_an_empty_view(transactional_db: None) -> None:
    session = Session.objects.create(name="new")

    assert reading.state_at_head(session) == reading.Moment(chunk=0, view=View())


def test_events_and_frames_can_be_read_from_a_position(busy: UUID) -> None:
    everything = stored_events(busy)
    middle = everything[len(everything) // 2].event

    assert [event.event for event in reading.events(busy, after=middle, limit=3)] == [middle + 1, middle + 2, middle + 3]
    assert [event.event for event in reading.events(busy, before=middle, limit=3, tail=True)] == [middle - 3, middle - 2, middle - 1]
    assert [event.event for event in reading.events(busy, after=middle, before=middle + 3)] == [middle + 1, middle + 2]
    assert reading.events(busy, limit=4, tail=True) == everything[-4:]
    assert [number for number, _ in reading.frames_after(busy, 0, limit=1)] == [1]
    of_event = reading.chunk_of_event(busy, middle)
    assert of_event is not None
    assert of_event.first_event <= middle <= of_event.last_event


@pytest.mark.parametrize("max_bytes", [1, 1000, 20_000])
def test_pages_of_events_and_cycles_have_a_byte_limit_and_at_least_one_entry(busy: UUID, max_bytes: int) -> None:
    events: list[AnyEvent] = []
    while page := reading.events(busy, after=events[-1].event if events else 0, max_bytes=max_bytes):
        assert len(page) == 1 or len(msgspec.json.encode(page)) < max_bytes * 10
        events += page
    cycles: list[Summary] = []
    more = True
    while more:
        found, more = reading.page_of_cycles(busy, after=cycles[-1].cycle.cycle if cycles else 0, max_bytes=max_bytes)
        assert len(found) == 1 or len(msgspec.json.encode(found)) < max_bytes * 2
        cycles += found

    assert events == stored_events(busy)
    assert cycles == reading.cycles(busy)
    assert reading.events(busy, max_bytes=1, tail=True) == events[-1:]
    assert reading.page_of_cycles(busy, max_bytes=1, tail=True) == (cycles[-1:], True)


def test_each_cycle_has_a_summary(busy: UUID) -> None:
    cycles = reading.cycles(busy, after=5, limit=3)

    assert [summary.cycle.cycle for summary in cycles] == [6, 7, 8]
    assert [summary.cycle.cycle for summary in reading.cycles(busy, before=5, limit=2, tail=True)] == [3, 4]
    assert [summary.cycle.cycle for summary in reading.cycles(busy, limit=2, tail=True)] == [14, 15]
    assert cycles[0] == reading.cycle_summary(busy, 6)
    assert reading.cycle_summary(busy, 999) is None


def test_a_summary_names_the_events_between_which_its_cycle_ran(busy: UUID) -> None:
    events = {event.event: event for event in stored_events(busy)}

    for summary in reading.cycles(busy):
        popped, ended = events[summary.first_event], events[summary.last_event]
        assert isinstance(popped, QueueMoved)
        assert popped.cause == "Pop"
        assert popped.moves[0].pod == summary.cycle.pod
        assert isinstance(ended, CycleEnded)
        assert ended.cycle == summary.cycle.cycle


def test_a_cycle_stepped_by_stages_starts_with_its_first_stage(make_session: MakeSession) -> None:
    session_id = make_session()
    for _ in range(25):
        send(session_id, "step", unit="stage")
        work_off(session_id)

    first = reading.cycle_summary(session_id, 1)

    assert first is not None
    assert first.first_event == 1
    assert Session.objects.get(pk=session_id).chunk == 25


def test_summaries_of_older_versions_take_their_events_from_the_chunks(busy: UUID) -> None:
    before = reading.cycles(busy)

    for row in CycleGroup.objects.filter(session_id=busy):
        without = [msgspec.structs.replace(one, first_event=0, last_event=0) for one in cycle_groups.unpack(bytes(row.data))]
        CycleGroup.objects.filter(pk=row.pk).update(last_event=0, data=cycle_groups.pack(without))

    assert reading.cycles(busy) == before
    assert reading.cycle_summary(busy, 3) == before[2]


def test_the_state_during_a_pod_group_cycle_is_the_fold_of_its_events(grouped: UUID) -> None:
    session = Session.objects.get(pk=grouped)
    events = stored_events(grouped)
    fold = Fold(reading.state_at_event(session, events[0].event - 1).view)
    for event in events:
        fold.apply_all([event])
        view = reading.state_at_event(session, event.event).view
        assert view.pod_group == fold.to_view().pod_group
        assert view.cycle == fold.to_view().cycle
