"""Splits large values into rows of at most 4 MB, which limits the size of transactions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from schedviz.sessions.history import packing

PIECE_BYTES = 4 << 20


def cut(data: bytes) -> Iterator[bytes]:
    """Compress a value and split it into pieces of at most `PIECE_BYTES`."""
    packed = packing.pack_large(data)
    for start in range(0, len(packed), PIECE_BYTES):
        yield packed[start : start + PIECE_BYTES]


def join(pieces: Iterable[bytes]) -> bytes:
    """Reassemble a value from its pieces, in order."""
    return packing.unpack(b"".join(pieces))
