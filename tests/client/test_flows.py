"""The flows of requests, without a server."""

from __future__ import annotations

import json

import pytest

from schedviz.client import flows
from schedviz.client.calls import Call, Pause, Reply


def reply(body: object) -> Reply:
    return Reply(200, {}, json.dumps(body).encode())


def test_a_client_pauses_if_the_server_has_no_place_to_wait() -> None:
    flow = flows.ready("s", 600)

    assert isinstance(next(flow), Call)
    assert isinstance(flow.send(reply({"status": "importing"})), Pause)
    assert isinstance(flow.send(Reply(200, {}, b"")), Call)
    with pytest.raises(StopIteration) as ended:
        flow.send(reply({"status": "ready"}))
    assert ended.value.value == {"status": "ready"}


def test_a_client_that_waits_for_a_command_pauses_likewise() -> None:
    waiting = {"seq": 1, "status": "waiting", "outcome": None, "command": {"op": "run"}}
    flow = flows.send("s", [{"op": "run"}], timeout=None)

    assert isinstance(next(flow), Call)
    assert isinstance(flow.send(reply({"results": [waiting]})), Pause)
    assert isinstance(flow.send(Reply(200, {}, b"")), Call)
    assert isinstance(flow.send(reply(waiting)), Pause)
