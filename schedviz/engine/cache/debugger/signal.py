"""What one SIGUSR2 made a scheduler print: what its comparer found, and the dump."""

from __future__ import annotations

import msgspec

from schedviz.engine.cache.debugger.comparer import Mismatch
from schedviz.engine.cache.debugger.dumper import Dump


class Signal(msgspec.Struct, frozen=True):
    """A dump out of a log, with what the log says around it."""

    dump: Dump
    #: What the comparer found just before; None where only the dump was pasted, so that nobody knows.
    mismatch: Mismatch | None = None
    #: As the log writes it: `0101 00:00:00.025000`, or an RFC 3339 time. "" where it is not known.
    at: str = ""
    #: Since 1970. klog's text names no year, so None unless whoever stored the lines put a time before them.
    seconds: float | None = None
