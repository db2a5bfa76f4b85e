"""The clock of Redis, which all processes share, whatever the clocks of their hosts."""

from __future__ import annotations

from schedviz.sessions.redis import stream


def seconds() -> float:
    """Seconds since 1970. They may go back when the clock is set. Raises `redis.RedisError`."""
    now: tuple[int, int] = stream.client().time()
    return now[0] + now[1] / 1e6
