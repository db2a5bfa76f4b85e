"""Leaves io processes free: the analyses of one user do not occupy all of them, so that other users' questions and imports are served."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from django.conf import settings

from schedviz.sessions import quotas
from schedviz.sessions.redis import stream

#: A turn ends by itself after this time, in case its worker crashed: somewhat more than the hard time limit of an analysis.
_TURN_SECONDS: Final = 80


@contextmanager
def turn_of(owner_id: int | None, result_key: str) -> Iterator[bool]:
    """True if an analysis of this user's sessions may run now; False: as many as allowed are running. Raises `redis.RedisError`."""
    if not settings.ANALYSES_PER_USER:
        yield True
        return
    client, running = stream.client(), f"schedviz:analyses:{quotas.user_of_turns(owner_id)}"
    now = time.time()
    pipe = client.pipeline(transaction=True)
    pipe.zremrangebyscore(running, "-inf", now)
    pipe.zadd(running, {result_key: now + _TURN_SECONDS}, nx=True)
    pipe.expire(running, _TURN_SECONDS)
    pipe.zrank(running, result_key)
    *_, rank = pipe.execute()
    if rank >= settings.ANALYSES_PER_USER:
        client.zrem(running, result_key)
        yield False
        return
    try:
        yield True
    finally:
        client.zrem(running, result_key)
