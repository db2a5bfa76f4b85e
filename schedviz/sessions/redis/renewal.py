"""Renews keys in Redis that end by themselves a short time after their process has crashed."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

import redis

logger = logging.getLogger(__name__)

RENEWAL_SECONDS: Final = 5.0


@contextmanager
def renewed(renew: Callable[[], object]) -> Iterator[None]:
    """Call `renew` in another thread every RENEWAL_SECONDS, and not after the end of the block."""
    done = threading.Event()
    renewing = threading.Thread(target=_renew_until, args=(done, renew), name="redis-renewal", daemon=True)
    renewing.start()
    try:
        yield
    finally:
        done.set()
        renewing.join()


def _renew_until(done: threading.Event, renew: Callable[[], object]) -> None:
    while not done.wait(RENEWAL_SECONDS):
        try:
            renew()
        except redis.RedisError as error:
            logger.debug("Redis is unavailable: %s", error)
