"""What these programs tell on the terminal."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence


def say(line: str) -> None:
    """At once, also into a pipe."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def end_in_order() -> None:
    """SIGTERM ends the program as an error does: what it started is stopped."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))


def share(ordered: Sequence[float], part: float) -> float:
    """The value below which that part of them is."""
    return ordered[min(int(len(ordered) * part), len(ordered) - 1)]


def machine_load() -> str:
    """How busy the machine is with everything that it does: the load averages over 1, 5 and 15 minutes."""
    return "load " + ", ".join(f"{one:.1f}" for one in os.getloadavg())
