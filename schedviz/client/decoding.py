"""Decodes the bodies of responses in small pieces, so that limits on their size apply before the memory is used.

httpx decodes everything that arrived at once, through any number of encodings: 130 kB of zstd become 4 GB.
"""

from __future__ import annotations

import zlib
from collections.abc import AsyncIterator, Iterator
from typing import Final

import httpx

#: The encodings that clients accept.
ACCEPTED: Final = "gzip"
_PIECE_BYTES: Final = 1 << 16
#: zlib's window for gzip with its header.
_GZIP_BITS: Final = 16 + zlib.MAX_WBITS


def pieces(response: httpx.Response) -> Iterator[bytes]:
    """The decoded body of a streamed response, as it arrives. Raises `httpx.RemoteProtocolError` for other encodings than gzip."""
    decoder = _decoder_of(response)
    for data in response.iter_raw():
        yield from _decoded(decoder, data)


async def async_pieces(response: httpx.Response) -> AsyncIterator[bytes]:
    """`pieces` of a response of an `httpx.AsyncClient`."""
    decoder = _decoder_of(response)
    async for data in response.aiter_raw():
        for piece in _decoded(decoder, data):
            yield piece


def _decoder_of(response: httpx.Response) -> zlib._Decompress | None:
    """None for a body that is not encoded."""
    encoding = response.headers.get("Content-Encoding", "").strip().lower()
    if encoding in ("", "identity"):
        return None
    if encoding != ACCEPTED:
        raise httpx.RemoteProtocolError(f"the response has the encoding {encoding[:80]!r}; only {ACCEPTED} is accepted")
    return zlib.decompressobj(_GZIP_BITS)


def _decoded(decoder: zlib._Decompress | None, data: bytes) -> Iterator[bytes]:
    if decoder is None:
        yield data
        return
    try:
        while piece := decoder.decompress(data, _PIECE_BYTES):
            yield piece
            data = decoder.unconsumed_tail
    except zlib.error as error:
        raise httpx.RemoteProtocolError(f"the response is not valid gzip: {error}") from None
