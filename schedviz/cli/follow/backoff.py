"""`Backoff`: the pauses before a watch is opened again, as in client-go."""

from __future__ import annotations

import random
import threading
from typing import Final

FIRST_PAUSE_SECONDS: Final = 0.8
MAX_PAUSE_SECONDS: Final = 30.0
#: A watch that ends sooner is opened again only after a pause, with whatever it ended: a server or proxy that ends every watch at once
#: would get thousands of requests a second.
SHORT_WATCH_SECONDS: Final = 1.0


class Backoff:
    """Pauses that double until `reset`, up to `MAX_PAUSE_SECONDS`."""

    def __init__(self) -> None:
        self._pause = FIRST_PAUSE_SECONDS

    def reset(self) -> None:
        """Begin again with the shortest pause: what comes next is another failure than the one before."""
        self._pause = FIRST_PAUSE_SECONDS

    def wait(self, stop: threading.Event) -> None:
        """Pause, but not after `stop`."""
        stop.wait(self._pause * random.uniform(0.5, 1.0))  # noqa: S311 -- jitter, so that not all kinds reconnect at once.
        self._pause = min(self._pause * 2, MAX_PAUSE_SECONDS)
