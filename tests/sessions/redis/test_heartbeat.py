"""Detection of live workers."""

from __future__ import annotations

from schedviz.sessions.redis import heartbeat, stream
from tests.conftest import RedisServer


def test_a_worker_that_crashed_before_a_clock_setback_is_not_alive(redis: RedisServer) -> None:
    connection = stream.client()
    connection.set(f"{heartbeat.PREFIX}alive", '["engine"]', ex=5)
    # Three hours earlier, Redis keeps a key three hours longer.
    connection.set(f"{heartbeat.PREFIX}dead", '["engine"]', ex=5 + 3 * 3600)

    assert heartbeat.alive() == {"alive": ["engine"]}
