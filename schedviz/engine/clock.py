"""Virtual time, in whole nanoseconds since the session began, so that sums compare exactly.

Nothing in the engine reads another clock. Second 0 is 2024-01-01T00:00:00Z. docs/concepts.md (Virtual time) says what moves it;
`commands/cycle_runner.py` does.
"""

from __future__ import annotations

from typing import Final

from schedviz.kube.timestamps import format_timestamp, parse_timestamp

MILLISECOND: Final = 1_000_000
SECOND: Final = 1_000_000_000

#: Second 0 of the virtual clock, in seconds since 1970.
EPOCH_SECONDS: Final = int(parse_timestamp("2024-01-01T00:00:00Z"))


def nanoseconds(seconds: float) -> int:
    """Seconds as whole nanoseconds, rounded."""
    return round(seconds * SECOND)


class Clock:
    """The virtual time of one session."""

    __slots__ = ("now",)

    def __init__(self) -> None:
        #: Nanoseconds since the session began.
        self.now = 0

    def __call__(self) -> int:
        """The time in nanoseconds."""
        return self.now

    @property
    def seconds(self) -> float:
        """The time in seconds."""
        return self.now / SECOND

    def move_to(self, time: int) -> None:
        """Let time pass until `time`; if that is in the past, nothing changes."""
        self.now = max(self.now, time)

    def timestamp(self, *, after_seconds: int = 0) -> str:
        """The time in Kubernetes' format, truncated to whole seconds: `2024-01-01T00:00:00Z`."""
        return format_timestamp(EPOCH_SECONDS + self.now // SECOND + after_seconds)

    def exact_timestamp(self, *, after_seconds: int = 0) -> str:
        """The time with its fraction of a second, if it has one: `2024-01-01T00:00:00.004Z`."""
        fraction = f"{self.now % SECOND:09d}".rstrip("0")
        whole_seconds = self.timestamp(after_seconds=after_seconds)
        return f"{whole_seconds.removesuffix('Z')}.{fraction}Z" if fraction else whole_seconds
