"""Sessions of another version of schedviz: unreadable checkpoints are skipped, and nothing is lost."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import UUID

import msgspec
from django.contrib.auth.models import User

from schedviz.sessions.forks import requests
from schedviz.sessions.history import blob_chunks, checkpoints, reading
from schedviz.sessions.hosting import engine_host, lease
from schedviz.sessions.models import Checkpoint, CheckpointPiece, Session
from schedviz.sessions.transfer import import_job
from tests.sessions.conftest import MakeSession, crash, send, stored_events, work_off


def saved_often(make_session: MakeSession) -> UUID:
    """A session with three checkpoints: of its beginning, and after one and two commands."""
    session_id = make_session(pods=20)
    for seq in (1, 2):
        send(session_id, "run", max=3)
        work_off(session_id)
        taken = lease.acquire(session_id)
        assert taken
        host = engine_host.EngineHost(*taken)
        host.load()
        host.save_checkpoint()
        lease.release(host.lease)
        assert Checkpoint.objects.filter(session_id=session_id, applied_seq=seq, complete=True).exists()
    crash(session_id)
    return session_id


def rewrite(checkpoint: Checkpoint, change: Callable[[bytes], bytes]) -> None:
    data = change(checkpoints.stored_engine(checkpoint))
    CheckpointPiece.objects.filter(checkpoint=checkpoint, part=CheckpointPiece.Part.ENGINE).delete()
    for number, piece in enumerate(blob_chunks.split(data)):
        CheckpointPiece.objects.create(checkpoint=checkpoint, part=CheckpointPiece.Part.ENGINE, number=number, data=piece)


def as_of_another_format(data: bytes) -> bytes:
    members: dict[str, Any] = msgspec.msgpack.decode(data)
    del members["queue"]
    return msgspec.msgpack.encode(members | {"format": "schedviz-checkpoint/1", "cache": "in another shape"})


def as_of_an_unknown_release(data: bytes) -> bytes:
    members: dict[str, Any] = msgspec.msgpack.decode(data)
    return msgspec.msgpack.encode(members | {"settings": members["settings"] | {"release": "v1.40"}})


def newest_first(session_id: UUID) -> list[Checkpoint]:
    return list(Checkpoint.objects.filter(session_id=session_id).order_by("-event", "-pk"))


def events_of_a_straight_run(make_session: MakeSession) -> list[Any]:
    session_id = make_session(pods=20)
    for _ in range(3):
        send(session_id, "run", max=3)
    work_off(session_id)
    return stored_events(session_id)


def test_an_unreadable_checkpoint_is_skipped_for_an_older_one(make_session: MakeSession) -> None:
    session_id = saved_often(make_session)
    rewrite(newest_first(session_id)[0], as_of_another_format)

    send(session_id, "run", max=3)
    session = work_off(session_id)

    assert (session.status, session.applied_seq) == (Session.Status.READY, 3)
    assert stored_events(session_id) == events_of_a_straight_run(make_session)


def test_a_session_without_checkpoints_in_the_current_format_is_replayed_from_its_start(make_session: MakeSession) -> None:
    session_id = saved_often(make_session)
    for checkpoint in newest_first(session_id):
        rewrite(checkpoint, as_of_another_format)

    send(session_id, "run", max=3)
    session = work_off(session_id)

    assert (session.status, session.applied_seq, session.message) == (Session.Status.READY, 3, "")
    assert stored_events(session_id) == events_of_a_straight_run(make_session)


def test_the_message_of_an_unreadable_session_names_the_version_that_made_it(make_session: MakeSession) -> None:
    session_id = saved_often(make_session)
    for checkpoint in newest_first(session_id):
        rewrite(checkpoint, lambda _: b"something else")
    Checkpoint.objects.filter(session_id=session_id).update(engine_version="0.0.7")

    send(session_id, "run", max=3)
    session = work_off(session_id)

    assert session.status == Session.Status.FAILED
    assert "last saved by schedviz 0.0.7" in session.message
    assert "run the version that saved it" in session.message
    assert stored_events(session_id), "what was recorded is still there"


def test_a_session_of_an_unknown_release_is_readable_and_its_message_says_why_it_stopped(make_session: MakeSession) -> None:
    session_id = saved_often(make_session)
    for checkpoint in newest_first(session_id):
        rewrite(checkpoint, as_of_an_unknown_release)

    send(session_id, "run", max=3)
    session = work_off(session_id)

    assert session.status == Session.Status.FAILED
    assert "there is no release 'v1.40'; this version of schedviz simulates v1.27.1 and v1.36" in session.message
    assert "Its history can still be viewed" in session.message
    assert reading.state_at_head(session).view.queue is not None
    assert stored_events(session_id)


def forked(session_id: UUID) -> Session:
    """A fork of its middle that has done something of its own, all of whose engines another version saved."""
    parent = Session.objects.get(pk=session_id)
    made = requests.fork(parent, User.objects.create(username="somebody"), at=parent.event // 2).session
    import_job.run_import(made.pk)
    send(made.pk, "run", max=2)
    work_off(made.pk)
    for checkpoint in newest_first(made.pk):
        rewrite(checkpoint, as_of_another_format)
    crash(made.pk)
    return Session.objects.get(pk=made.pk)


def test_a_fork_without_engines_in_the_current_format_is_rebuilt_from_its_parent(make_session: MakeSession) -> None:
    made = forked(saved_often(make_session))
    before = reading.events(made.pk, limit=10_000)

    send(made.pk, "run", max=2)
    session = work_off(made.pk)

    assert (session.status, session.message) == (Session.Status.READY, "")
    assert session.event > made.event
    assert reading.events(made.pk, limit=10_000)[: len(before)] == before


def test_the_message_of_a_fork_in_another_format_without_its_parent_names_the_version_that_made_it(make_session: MakeSession) -> None:
    made = forked(saved_often(make_session))
    assert made.forked_from
    made.forked_from.delete()

    send(made.pk, "run", max=2)
    session = work_off(made.pk)

    assert session.status == Session.Status.FAILED
    assert "To continue the session, run the version that saved it" in session.message
