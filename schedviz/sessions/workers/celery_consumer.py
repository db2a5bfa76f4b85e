"""A Celery consumer that reconnects soon after Redis is back, and fetches few tasks beyond its free slots."""

from __future__ import annotations

import logging
import time
from typing import Any

from celery.worker import state
from celery.worker.consumer import Consumer

logger = logging.getLogger(__name__)

_MAX_PAUSE_SECONDS = 0.5
_WARNING_SECONDS = 10.0
#: One waiting task is fetched for this many slots: enough to fill each slot when it becomes free, and few that are lost with a worker.
_SLOTS_PER_PREFETCHED_TASK = 4


class FastReconnectConsumer(Consumer):
    """Reconnects twice a second without a limit. Celery's consumer waits 2 s, then 4, up to 30, and gives up after 100 attempts."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        # Tasks that have begun count as acknowledged, so this is the number of waiting tasks.
        fetched: int = vars(self)["initial_prefetch_count"]
        self.initial_prefetch_count = max(2, fetched // _SLOTS_PER_PREFETCHED_TASK)

    def ensure_connected(self, conn: Any) -> Any:
        """The connection, as soon as Redis is available."""
        warned_at = -_WARNING_SECONDS

        def warn(error: BaseException, _pause: float) -> None:
            nonlocal warned_at
            if time.monotonic() - warned_at > _WARNING_SECONDS:
                warned_at = time.monotonic()
                logger.warning("Redis is unavailable; reconnecting: %s", error)

        connection = conn.ensure_connection(
            warn,
            None,
            interval_start=0.05,
            interval_step=0.05,
            interval_max=_MAX_PAUSE_SECONDS,
            callback=state.maybe_shutdown,
        )
        self.first_connection_attempt = False
        return connection
