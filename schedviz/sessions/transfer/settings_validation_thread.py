"""Threads of an engine worker that validate settings, besides the slots in which it hosts sessions: nobody waits for a slot to create a
session.
"""

from __future__ import annotations

import logging
import threading
from typing import Final

import redis

from schedviz.sessions.hosting.slots import STOPPING
from schedviz.sessions.redis import worker_calls
from schedviz.sessions.transfer import settings_validation_job, validation

logger = logging.getLogger(__name__)

#: One whose settings take long to validate does not delay all others.
_THREADS: Final = 2
#: A stopping worker ends these threads within this time.
_POLL_SECONDS: Final = 1.0


def start() -> None:
    """Validate settings until the process ends or `STOPPING` is set."""
    for number in range(_THREADS):
        threading.Thread(target=_serve, name=f"settings-validation-{number}", daemon=True).start()


def _serve() -> None:
    while not STOPPING.is_set():
        try:
            with worker_calls.next_call(validation.QUEUE, seconds=_POLL_SECONDS) as call:
                if call is not None:
                    settings_validation_job.validate(*call)
        except redis.RedisError as error:
            logger.debug("Redis is unavailable: %s", error)
            STOPPING.wait(_POLL_SECONDS)
        except Exception:
            # A bug in schedviz. Its caller waits in vain; others do not.
            logger.exception("settings could not be validated")
