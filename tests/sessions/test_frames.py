"""Messages to a browser have the shapes in docs/wire.md."""

from __future__ import annotations

import json
import zlib

from schedviz.sessions import frames
from schedviz.sessions.frames import SessionState
from schedviz.trace.events import AnyEvent, ClockAdvanced, CommandDone
from schedviz.trace.view import View


def state(chunk: int) -> SessionState:
    return SessionState(
        id="1",
        name="a",
        status="ready",
        message="",
        progress=None,
        clock_seconds=chunk / 10,
        cycle=0,
        event=chunk,
        chunk=chunk,
        applied_seq=chunk,
        last_seq=9,
    )


def events(*numbers: int) -> list[AnyEvent]:
    return [ClockAdvanced(event=number, at=0.5) for number in numbers]


def test_a_frame_is_compressed_json() -> None:
    message = json.loads(zlib.decompress(frames.frame(3, [*events(7), CommandDone(event=8, at=0.5, seq=2, op="advance")], state(3))))

    assert message["type"] == "frame"
    assert (message["firstChunk"], message["chunk"], message["event"]) == (3, 3, 8)
    assert [event["t"] for event in message["events"]] == ["clockAdvanced", "commandDone"]
    assert message["session"]["clockSeconds"] == 0.3
    assert message["session"]["appliedSeq"] == 3


def test_consecutive_frames_are_merged_into_one() -> None:
    parts = [frames.frame(3, events(1, 2), state(3)), frames.frame(4, [], state(4)), frames.frame(5, events(3), state(5))]

    message = json.loads(zlib.decompress(frames.coalesce(parts)))

    assert (message["firstChunk"], message["chunk"], message["event"]) == (3, 5, 3)
    assert [event["event"] for event in message["events"]] == [1, 2, 3]
    assert message["session"]["chunk"] == 5
    assert frames.events_of(frames.coalesce(parts)) == events(1, 2, 3)


def test_coalesced_frames_can_be_coalesced_again() -> None:
    parts = [frames.frame(number, events(number), state(number)) for number in range(1, 5)]

    at_once = frames.coalesce(parts)
    in_two = frames.coalesce([frames.coalesce(parts[:2]), frames.coalesce(parts[2:])])

    assert zlib.decompress(at_once) == zlib.decompress(in_two)


def test_a_single_frame_is_not_changed() -> None:
    only = frames.frame(1, events(1), state(1))

    assert frames.coalesce([only]) is only


def test_a_view_message_has_its_chunk_and_event() -> None:
    message = json.loads(zlib.decompress(frames.view(4, View(event=17), state(4))))

    assert (message["type"], message["chunk"], message["event"]) == ("view", 4, 17)
    assert message["view"]["queue"]["activeQ"] == []


def test_messages_are_json_with_their_type() -> None:
    assert json.loads(frames.ack("k", 3)) == {"type": "ack", "key": "k", "seq": 3}
    assert json.loads(frames.outcome(3, {"cycles": 1})) == {"type": "outcome", "seq": 3, "outcome": {"cycles": 1}}
    assert json.loads(frames.error("invalid_command", "op: …")) == {"type": "error", "code": "invalid_command", "message": "op: …"}
    assert json.loads(frames.error("invalid_command", "op: …", key="k"))["key"] == "k"
    assert json.loads(frames.gap(3, 5)) == {"type": "gap", "expected": 3, "found": 5}
    assert json.loads(frames.heartbeat(3, 9)) == {"type": "heartbeat", "chunk": 3, "event": 9}
    assert json.loads(frames.status(state(1)))["session"]["status"] == "ready"
