"""Large values in rows of at most 4 MB, so that no transaction is larger."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from schedviz.sessions.history import packing

PIECE_BYTES = 4 << 20


def cut(data: bytes) -> Iterator[bytes]:
    """Compressed, in pieces of at most `PIECE_BYTES`."""
    packed = packing.pack_large(data)
    for start in range(0, len(packed), PIECE_BYTES):
        yield packed[start : start + PIECE_BYTES]


def join(pieces: Iterable[bytes]) -> bytes:
    """What was cut, from its pieces in order."""
    return packing.unpack(b"".join(pieces))
