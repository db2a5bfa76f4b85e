"""What msgspec has to find out about a struct before it can read one, found out before there are threads.

It does so when a struct is read first, and is not safe then: a second thread that reads the same struct meanwhile finds it half done,
and the process ends with SIGSEGV (msgspec 0.22, `convert`). Of workers with 64 threads one in a few hundred did, soon after its start.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec


def prepare_structs() -> list[Any]:
    """Look at every struct that is loaded. Gives back those that nobody can read: their types are known to type checkers alone."""
    unreadable = []
    for struct in _all_below(msgspec.Struct):
        try:
            msgspec.json.Decoder(struct)
        except (NameError, TypeError):
            unreadable.append(struct)
    return unreadable


def _all_below(struct: Any) -> Iterator[Any]:
    for one in struct.__subclasses__():
        yield one
        yield from _all_below(one)
