"""The output of one SIGUSR2 read from a log: the comparer's result and the dump."""

from __future__ import annotations

import msgspec

from schedviz.engine.cache.debugger.comparer import Mismatch
from schedviz.engine.cache.debugger.dumper import Dump


class Signal(msgspec.Struct, frozen=True):
    """A dump from a log, with the comparer's result and the time."""

    dump: Dump
    #: The comparer's result just before the dump; None: only the dump was pasted.
    mismatch: Mismatch | None = None
    #: The time in the log's format: `0101 00:00:00.025000`, or RFC 3339; "": unknown.
    at: str = ""
    #: Seconds since 1970. klog's text format has no year, so this is None unless the log storage added a full time.
    seconds: float | None = None
    #: Pods (`namespace/name`) of the log's next lines about attempts: when the dump was made, the scheduler may have been trying one of
    #: them, which is then in neither its cache nor its queue.
    tried_next: frozenset[str] = frozenset()
    #: Pods that the whole log shows to be tried -> when last, and of these the bound ones -> when; times in the log's format.
    attempts: dict[str, str] = {}
    bound: dict[str, str] = {}
