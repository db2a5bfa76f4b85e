"""A system clock that has just jumped is not trusted for deletions by age."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from schedviz.sessions.hosting.steady_clock import JUMP_SECONDS, TRUSTED_AFTER_SECONDS, SteadyClock

DAY = 24 * 3600.0


class Clocks:
    """A system clock that can be set, and a monotonic clock."""

    def __init__(self) -> None:
        self.monotonic = 100.0
        self.set_by = 1e9
        self.steady = SteadyClock(wall=lambda: self.monotonic + self.set_by, monotonic=lambda: self.monotonic)
        self.steady.trust()

    def after(self, seconds: float, *, jump: float = 0.0) -> bool:
        """Whether the clock is steady after this time, and after a jump."""
        self.monotonic += seconds
        self.set_by += jump
        return self.steady.is_steady()


@pytest.fixture
def clocks() -> Iterator[Clocks]:
    return Clocks()


@pytest.mark.parametrize("jump", [25 * 3600.0, -25 * 3600.0, JUMP_SECONDS + 1])
def test_a_clock_jump_that_lasts_only_seconds_is_never_trusted(clocks: Clocks, jump: float) -> None:
    assert clocks.after(10)
    assert not clocks.after(10, jump=jump)
    assert not clocks.after(14, jump=-jump)
    assert not clocks.after(TRUSTED_AFTER_SECONDS - 1)
    assert clocks.after(1)


def test_the_clock_is_not_trusted_immediately_after_a_process_starts() -> None:
    now = 100.0
    steady = SteadyClock(wall=lambda: now + 1e9, monotonic=lambda: now)
    assert not steady.is_steady()
    now += TRUSTED_AFTER_SECONDS - 1
    assert not steady.is_steady()
    now += 1
    assert steady.is_steady()


def test_a_clock_jump_that_persists_is_trusted(clocks: Clocks) -> None:
    assert not clocks.after(10, jump=DAY)
    assert not clocks.after(TRUSTED_AFTER_SECONDS - 1)
    assert clocks.after(1)


def test_corrections_of_seconds_and_long_pauses_between_checks_are_not_jumps(clocks: Clocks) -> None:
    assert all(clocks.after(10, jump=2.0) for _ in range(100))
    assert clocks.after(DAY)
