"""Prepares msgspec's type information for structs before threads start.

msgspec computes it when a struct is first decoded, which is not thread-safe: a second thread that decodes the same struct at that time sees
incomplete information, and the process crashes with SIGSEGV (msgspec 0.22, `convert`). Of workers with 64 threads, one in a few hundred
crashed soon after its start.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec


def prepare_structs() -> list[Any]:
    """Prepare every loaded struct. Returns those that cannot be decoded, because their types exist only for type checkers."""
    unreadable = []
    for struct in _all_below(msgspec.Struct):
        try:
            msgspec.json.Decoder(struct)
        except (NameError, TypeError):
            unreadable.append(struct)
    return unreadable


def _all_below(struct: Any) -> Iterator[Any]:
    for subclass in struct.__subclasses__():
        yield subclass
        yield from _all_below(subclass)
