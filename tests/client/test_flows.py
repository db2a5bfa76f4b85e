"""Request flows, without a server."""

from __future__ import annotations

import json

import pytest

from schedviz.client import flows, sending
from schedviz.client.calls import Call, Pause, Reply, ask
from schedviz.client.server import Server


def reply(body: object) -> Reply:
    return Reply(200, {}, json.dumps(body).encode())


def test_a_client_pauses_if_the_server_responds_without_waiting() -> None:
    flow = flows.ready("s", 600)

    assert isinstance(next(flow), Call)
    assert isinstance(flow.send(reply({"status": "importing"})), Pause)
    assert isinstance(flow.send(Reply(200, {}, b"")), Call)
    with pytest.raises(StopIteration) as ended:
        flow.send(reply({"status": "ready"}))
    assert ended.value.value == {"status": "ready"}


def test_a_client_that_waits_for_a_command_pauses_too() -> None:
    waiting = {"seq": 1, "status": "waiting", "outcome": None, "command": {"op": "run"}}
    flow = flows.send("s", [{"op": "run"}], timeout=None)

    assert isinstance(next(flow), Call)
    assert isinstance(flow.send(reply({"results": [waiting]})), Pause)
    assert isinstance(flow.send(Reply(200, {}, b"")), Call)
    assert isinstance(flow.send(reply(waiting)), Pause)


@pytest.mark.parametrize(("retry_after", "seconds"), [("3", 3.0), ("soon", 0.5), ("²", 0.5), ("99999", 30.0)])
def test_the_pause_before_a_retry_is_the_servers_retry_after_within_limits(retry_after: str, seconds: float) -> None:
    steps = sending.with_retries(ask(Call("GET", "sessions/")), Server("http://127.0.0.1:9", ""))

    assert isinstance(next(steps), Call)
    assert steps.send(Reply(503, {"Retry-After": retry_after}, b"")) == Pause(seconds)
