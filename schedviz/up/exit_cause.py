"""Whether a child that ended may have died of what it was doing, or was ended from outside."""

from __future__ import annotations

import signal
from pathlib import Path

_VMSTAT = Path("/proc/vmstat")
#: Nobody's work sends these: a person does, or a program that keeps order.
_FROM_OUTSIDE = {-signal.SIGTERM, -signal.SIGINT, -signal.SIGHUP}


def kills_for_memory() -> int | None:
    """How many processes this machine's kernel has killed because memory ran out; None where it does not say."""
    try:
        lines = _VMSTAT.read_text().splitlines()
    except OSError:
        return None
    return next((int(line.split()[1]) for line in lines if line.startswith("oom_kill ")), None)


def is_external_kill(code: int, *, kills_before: int | None) -> bool:
    """Whether an exit code (negative: the signal) says that the process was ended from outside.

    `kills_before` is what `kills_for_memory` said when it began: SIGKILL may be the kernel's answer to too much memory.
    """
    if code == 0 or code in _FROM_OUTSIDE:
        return True
    return code == -signal.SIGKILL and kills_before is not None and kills_for_memory() == kills_before
