"""Splits large values into rows of at most 4 MB, which limits the size of transactions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from schedviz.sessions.history import packing

CHUNK_BYTES = 4 << 20


def split(data: bytes) -> Iterator[bytes]:
    """Compress a value and split it into chunks of at most `CHUNK_BYTES`."""
    packed = packing.pack_large(data)
    for start in range(0, len(packed), CHUNK_BYTES):
        yield packed[start : start + CHUNK_BYTES]


def join(chunks: Iterable[bytes]) -> bytes:
    """Reassemble a value from its chunks, in order."""
    return packing.unpack(b"".join(chunks))
