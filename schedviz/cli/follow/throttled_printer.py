"""`ThrottledPrinter`: prints sentences to standard error, few of them: most come from servers, which may fail, or flood, in many ways."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from schedviz.terminal import say

if TYPE_CHECKING:
    from schedviz.cli.follow.status import Status

#: Each sentence is printed at most once in this time, and all together at most `_MAX_SENTENCES`.
_PERIOD_SECONDS: Final = 30.0
_MAX_SENTENCES: Final = 30
_MAX_REMEMBERED: Final = 1000
#: Sentences that differ only in numbers ("1,008 commands are waiting") are the same.
_NUMBER: Final = re.compile(r"(?<!\S)\d[\d,.]*(?!\S)")


class ThrottledPrinter:
    """Prints sentences, from any thread. If there are too many, it prints how many were left out, when the next one is printed."""

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        #: The status line, which must be cleared before a sentence is printed on a terminal.
        self.status: Status | None = None
        #: Sentence, without its numbers, -> when it was printed.
        self._said: dict[str, float] = {}
        #: When the present period began, how many sentences were printed in it, and how many were left out since one was printed.
        self._began = float("-inf")
        self._printed = 0
        self._left_out = 0

    def say(self, sentence: str) -> None:
        """Print a sentence, unless it was printed a moment ago or too many were."""
        now, key = self._clock(), _NUMBER.sub("0", sentence)
        with self._lock:
            if now - self._said.get(key, float("-inf")) < _PERIOD_SECONDS:
                return
            if now - self._began >= _PERIOD_SECONDS:
                self._began, self._printed = now, 0
            if self._printed == _MAX_SENTENCES:
                self._left_out += 1
                return
            self._printed += 1
            if len(self._said) >= _MAX_REMEMBERED:
                self._said.clear()
            self._said[key] = now
            left_out, self._left_out = self._left_out, 0
            if self.status is not None:
                self.status.clear()
            if left_out:
                say(f"schedviz: {left_out:,} more messages were left out.", err=True)
            say(f"schedviz: {sentence}", err=True)
