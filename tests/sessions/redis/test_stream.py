"""The streams of a session in Redis."""

from __future__ import annotations

from uuid import uuid4

from schedviz.sessions.redis import stream
from tests.conftest import RedisServer


def test_frames_and_notes_expire_also_if_redis_was_emptied_between_two_chunks(redis: RedisServer) -> None:
    session_id = uuid4()
    stream.publish(session_id, [(1, b"a frame")], [b"a note"])
    assert _lifetimes(session_id) == [86_400, 86_400]
    stream.client().flushall()
    stream.publish(session_id, [(2, b"a frame")], [b"a note"])
    assert _lifetimes(session_id) == [86_400, 86_400]


def _lifetimes(session_id: object) -> list[int]:
    keys = stream.frames_key(str(session_id)), stream.notes_key(str(session_id))
    return [round(stream.client().pttl(key) / 1000) for key in keys]
