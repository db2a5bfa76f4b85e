"""Celery's consumer, which comes back soon after Redis did, however long that was away, and leaves to others what it has no slot for."""

from __future__ import annotations

import logging
import time
from typing import Any

from celery.worker import state
from celery.worker.consumer import Consumer

logger = logging.getLogger(__name__)

_LONGEST_PAUSE_SECONDS = 0.5
_COMPLAINT_SECONDS = 10.0
#: For every so many slots one task is fetched that has to wait for one: enough that a slot is never empty, and few that die with a worker.
_SLOTS_FOR_ONE_THAT_WAITS = 4


class FastReconnectConsumer(Consumer):
    """Tries twice a second and for ever. Celery's own waits 2 s, then 4, up to 30, and gives up after 100 times."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        # What was begun counts as acknowledged, so these are only those that wait.
        fetched: int = vars(self)["initial_prefetch_count"]
        self.initial_prefetch_count = max(2, fetched // _SLOTS_FOR_ONE_THAT_WAITS)

    def ensure_connected(self, conn: Any) -> Any:
        """The connection, once it is there."""
        complained = -_COMPLAINT_SECONDS

        def complain(error: BaseException, _pause: float) -> None:
            nonlocal complained
            if time.monotonic() - complained > _COMPLAINT_SECONDS:
                complained = time.monotonic()
                logger.warning("Redis is away, trying again and again: %s", error)

        connection = conn.ensure_connection(
            complain,
            None,
            interval_start=0.05,
            interval_step=0.05,
            interval_max=_LONGEST_PAUSE_SECONDS,
            callback=state.maybe_shutdown,
        )
        self.first_connection_attempt = False
        return connection
