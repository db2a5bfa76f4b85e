"""Classifies the end of a child: a crash, which its work may have caused, or an orderly or external end."""

from __future__ import annotations

import signal
from pathlib import Path

_VMSTAT = Path("/proc/vmstat")
#: Signals sent by users or process managers, never caused by work.
_EXTERNAL_SIGNALS = {-signal.SIGTERM, -signal.SIGINT, -signal.SIGHUP}


def kills_for_memory() -> int | None:
    """The number of processes killed by the kernel's out-of-memory killer; None if it is not available."""
    try:
        lines = _VMSTAT.read_text().splitlines()
    except OSError:
        return None
    return next((int(line.split()[1]) for line in lines if line.startswith("oom_kill ")), None)


def is_crash(code: int, *, kills_before: int | None) -> bool:
    """Whether a process with this exit code (negative: the signal) may have been ended by its work. 0 is an orderly end.

    `kills_before` is the value of `kills_for_memory` at its start, because SIGKILL may come from the out-of-memory killer.
    """
    if code == 0 or code in _EXTERNAL_SIGNALS:
        return False
    return code != -signal.SIGKILL or kills_before is None or kills_for_memory() != kills_before
