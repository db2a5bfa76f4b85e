"""`Outage`: which watches are interrupted, since when and why, in one line instead of a sentence from each of twenty watches."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable


class Outage:
    """Collects the outages that watches report from their threads. `say` is called when the first one is interrupted, when another kind of
    error occurs, and when all of them run again.
    """

    def __init__(self, say: Callable[[str], None], *, clock: Callable[[], float] = time.time) -> None:
        self._say = say
        self._clock = clock
        self._lock = threading.Lock()
        #: Resource -> why its watch is interrupted.
        self._interrupted: dict[str, str] = {}
        #: The kinds of errors that were reported in this outage.
        self._reported: set[type[Exception]] = set()
        self._began = 0.0

    def interrupted(self, resource: str, error: Exception) -> None:
        """The watch of a resource ended with an error, and is retried."""
        with self._lock:
            if not self._interrupted:
                self._began = self._clock()
            self._interrupted[resource] = str(error)
            if type(error) in self._reported:
                return
            self._reported.add(type(error))
        self._say(f"{resource}: {error}. Retrying.")

    def running(self, resource: str) -> None:
        """The watch of a resource is open."""
        with self._lock:
            if self._interrupted.pop(resource, None) is None or self._interrupted:
                return
            self._reported.clear()
            seconds = self._clock() - self._began
        self._say(f"all watches run again, after {_duration(seconds)}.")

    @property
    def is_on(self) -> bool:
        """Whether a watch is interrupted."""
        return bool(self._interrupted)

    @property
    def line(self) -> str:
        """`20 watches interrupted for 12 s (since 14:03:11): REASON`; "" if all run."""
        with self._lock:
            if not self._interrupted:
                return ""
            count, began = len(self._interrupted), self._began
            reason = next(reversed(self._interrupted.values()))
        since = time.strftime("%H:%M:%S", time.localtime(began))
        watches = "1 watch" if count == 1 else f"{count} watches"
        return f"{watches} interrupted for {_duration(self._clock() - began)} (since {since}): {reason}"


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
