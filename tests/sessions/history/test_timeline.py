"""The timeline: the sum of the summaries stored with each chunk."""

from __future__ import annotations

from uuid import UUID

import msgspec
import pytest

from schedviz.sessions import frames
from schedviz.sessions.history import reading, timeline
from schedviz.sessions.models import ChunkTally, Session
from schedviz.trace.tally import Counts, levels_of
from tests.sessions.conftest import MakeSession, crash, send, work_off


@pytest.fixture
def ran(make_session: MakeSession) -> Session:
    """A session with many chunks."""
    session_id = make_session(nodes=4, pods=60)
    for _ in range(20):
        send(session_id, "run", max=2)
        work_off(session_id)
    send(session_id, "restart")
    send(session_id, "delete", kind="Node", name="node-3")
    work_off(session_id)
    return Session.objects.get(pk=session_id)


def sums(buckets: list[timeline.Bucket]) -> dict[str, int]:
    return {name: sum(getattr(bucket.counts, name) for bucket in buckets) for name in Counts.__struct_fields__}


def test_buckets_are_contiguous_and_end_at_the_newest_event(ran: Session) -> None:
    buckets = timeline.buckets(ran, after=0, until=ran.event, max_buckets=5)

    assert 3 <= len(buckets) <= 5
    assert buckets[0].first_event == 1
    assert [bucket.first_event for bucket in buckets[1:]] == [one.event + 1 for one in buckets[:-1]]
    assert buckets[-1].event == ran.event
    assert buckets[-1].clock_seconds == ran.clock_seconds
    assert sums(buckets)["cycles"] == ran.cycle == 40
    assert sums(buckets)["bound"] == 40


def test_levels_equal_those_of_the_view_at_the_end_of_a_bucket(ran: Session) -> None:
    for bucket in timeline.buckets(ran, after=0, until=ran.event, max_buckets=7):
        view = reading.state_at_event(ran, bucket.event).view
        assert bucket.levels == levels_of(view.queue, view.api.objects)


def test_the_sums_do_not_depend_on_the_number_of_buckets(ran: Session) -> None:
    whole = timeline.buckets(ran, after=0, until=ran.event, max_buckets=1)

    assert len(whole) == 1
    for most in (2, 9, 2000):
        assert sums(timeline.buckets(ran, after=0, until=ran.event, max_buckets=most)) == sums(whole)


def test_a_range_of_one_bucket_returns_that_bucket(ran: Session) -> None:
    whole = timeline.buckets(ran, after=0, until=ran.event, max_buckets=2000)
    middle = whole[len(whole) // 2]

    result = timeline.buckets(ran, after=middle.first_event, until=middle.event, max_buckets=10)

    assert result == [middle]


def test_a_timeline_opens_no_chunk(ran: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frames, "events_of", None)

    assert timeline.buckets(ran, after=0, until=ran.event, max_buckets=50)


def test_the_tallies_of_an_older_version_are_computed_when_they_are_needed(ran: Session) -> None:
    before = timeline.buckets(ran, after=0, until=ran.event, max_buckets=50)
    ChunkTally.objects.filter(session=ran).delete()

    assert timeline.buckets(ran, after=0, until=ran.event, max_buckets=50) == before

    # The worker of this version caches the levels, so another owner continues.
    crash(ran.pk)
    ChunkTally.objects.filter(session=ran).delete()
    send(ran.pk, "run", max=1)
    work_off(ran.pk)
    assert ChunkTally.objects.filter(session=ran).count() == Session.objects.get(pk=ran.pk).chunk + 1


def test_a_session_without_events_has_an_empty_timeline(make_session: MakeSession) -> None:
    session_id: UUID = make_session()
    session = Session.objects.get(pk=session_id)

    assert timeline.buckets(session, after=0, until=0, max_buckets=5) == []
    assert msgspec.structs.asdict(timeline.levels_after(session_id, 0)) == {
        "active_q": 10,
        "backoff_q": 0,
        "unschedulable_pods": 0,
        "pods": 10,
        "nodes": 3,
    }
