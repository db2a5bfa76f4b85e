"""Terminal output of the fault runs and load tests."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence


def say(line: str) -> None:
    """Print a line at once, also into a pipe."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def exit_on_sigterm() -> None:
    """Make SIGTERM raise SystemExit, so that started processes are stopped."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))


def quantile(ordered: Sequence[float], part: float) -> float:
    """A quantile of sorted values."""
    return ordered[min(int(len(ordered) * part), len(ordered) - 1)]


def machine_load() -> str:
    """The load averages of the machine over 1, 5 and 15 minutes."""
    return "load " + ", ".join(f"{one:.1f}" for one in os.getloadavg())
