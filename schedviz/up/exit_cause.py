"""Classifies the end of a child: possibly caused by its work, or by something outside."""

from __future__ import annotations

import signal
from pathlib import Path

_VMSTAT = Path("/proc/vmstat")
#: Signals sent by users or process managers, never caused by work.
_FROM_OUTSIDE = {-signal.SIGTERM, -signal.SIGINT, -signal.SIGHUP}


def kills_for_memory() -> int | None:
    """The number of processes killed by the kernel's out-of-memory killer; None if it is not available."""
    try:
        lines = _VMSTAT.read_text().splitlines()
    except OSError:
        return None
    return next((int(line.split()[1]) for line in lines if line.startswith("oom_kill ")), None)


def is_external_kill(code: int, *, kills_before: int | None) -> bool:
    """Whether an exit code (negative: the signal) means that the process was ended from outside.

    `kills_before` is the value of `kills_for_memory` at its start, because SIGKILL may come from the out-of-memory killer.
    """
    if code == 0 or code in _FROM_OUTSIDE:
        return True
    return code == -signal.SIGKILL and kills_before is not None and kills_for_memory() == kills_before
