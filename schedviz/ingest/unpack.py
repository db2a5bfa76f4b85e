"""Bytes of a source, unpacked, and never more of them than the limit."""

from __future__ import annotations

import codecs
import lzma
import zlib
from collections.abc import Callable, Iterable, Iterator
from typing import Protocol

from schedviz.ingest.errors import LimitExceeded, UnreadableFile

_STEP = 4 << 20
_GZIP = b"\x1f\x8b"
_XZ = b"\xfd7zXZ\x00"
#: What else a file may begin with, and what to do about it.
_FOREIGN = (
    (b"PK\x03\x04", "is a zip archive; unpack it and import the files in it"),
    (b"BZh", "is packed with bzip2; unpack it, or use gzip or xz"),
    (b"\x28\xb5\x2f\xfd", "is packed with zstd; unpack it, or use gzip or xz"),
    (b"7z\xbc\xaf\x27\x1c", "is a 7z archive; unpack it and import the files in it"),
    (b"\xff\xfe", "is UTF-16 text, as PowerShell's > writes it; save it as UTF-8 (… | Out-File -Encoding utf8 FILE)"),
    (b"\xfe\xff", "is UTF-16 text; save it as UTF-8"),
)
_UTF8_BOM = codecs.BOM_UTF8
_BINARY = bytes(byte for byte in range(32) if byte not in b"\t\n\r\f\x1b")


class _Stream(Protocol):
    """One compressed stream. Upstream: lzma.LZMADecompressor"""

    @property
    def eof(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    @property
    def needs_input(self) -> bool: ...
    def decompress(self, data: bytes, max_length: int) -> bytes: ...


class _GzipStream:
    """zlib's decompressor with the shape of lzma's."""

    def __init__(self) -> None:
        self._inner = zlib.decompressobj(wbits=31)

    @property
    def eof(self) -> bool:
        return self._inner.eof

    @property
    def unused_data(self) -> bytes:
        return self._inner.unused_data

    @property
    def needs_input(self) -> bool:
        return not self._inner.unconsumed_tail

    def decompress(self, data: bytes, max_length: int) -> bytes:
        return self._inner.decompress(self._inner.unconsumed_tail + data, max_length)


def unpack(name: str, pieces: Iterable[bytes], *, limit: int, room: int, tell: Callable[[int], None]) -> bytes:
    """The text of a file as UTF-8 bytes without a byte order mark.

    `room` is what is left of `limit` (the setting `unpacked_bytes`); `tell` is called with the number of bytes so far and may
    raise. Raises `UnreadableFile` and `LimitExceeded`.
    """
    data = bytearray()
    for piece in _unpacked(name, iter(pieces)):
        data += piece
        if len(data) > room:
            raise LimitExceeded(name, "unpacked, the files are too large", "unpacked_bytes", limit)
        tell(len(data))
    _check_text(name, data)
    return bytes(data.removeprefix(_UTF8_BOM))


def _unpacked(name: str, pieces: Iterator[bytes]) -> Iterator[bytes]:
    first = b""
    for piece in pieces:
        first += piece
        if len(first) >= len(_XZ):
            break
    if first.startswith(_GZIP):
        yield from _decompressed(name, first, pieces, _GzipStream, "gzip")
    elif first.startswith(_XZ):
        yield from _decompressed(name, first, pieces, lambda: lzma.LZMADecompressor(memlimit=256 << 20), "xz")
    else:
        for magic, advice in _FOREIGN:
            if first.startswith(magic):
                raise UnreadableFile(f"{name}: this {advice}.")
        yield first
        yield from pieces


def _decompressed(name: str, first: bytes, pieces: Iterator[bytes], new: Callable[[], _Stream], packing: str) -> Iterator[bytes]:
    """All streams of a file one after another, in steps of bounded size."""
    stream, waiting = new(), first
    try:
        while True:
            if stream.eof:
                waiting = stream.unused_data.lstrip(b"\0") or next(pieces, b"")
                if not waiting:
                    return
                stream = new()
            elif stream.needs_input and not waiting:
                waiting = next(pieces, b"")
                if not waiting:
                    raise UnreadableFile(f"{name}: the {packing} file is cut short; fetch it again.")
            yield stream.decompress(waiting, _STEP)
            waiting = b""
    except (zlib.error, lzma.LZMAError) as error:
        raise UnreadableFile(f"{name}: the {packing} file is damaged ({error}); fetch it again.") from None


def _check_text(name: str, data: bytearray) -> None:
    if not data.strip():
        raise UnreadableFile(f"{name}: the file is empty.")
    head = bytes(data[: 64 << 10])
    if head.translate(None, _BINARY) != head:
        raise UnreadableFile(f"{name}: this is no text; expected JSON or YAML, as `kubectl get nodes,pods -A -o json` prints it.")
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        for start in range(0, len(data), _STEP):
            decoder.decode(bytes(data[start : start + _STEP]), final=start + _STEP >= len(data))
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, start + error.start) + 1
        raise UnreadableFile(f"{name}: line {line} is not UTF-8 text.") from None
    start_of_text = head[:512].lstrip(_UTF8_BOM).lstrip().lower()
    if start_of_text.startswith((b"<!doctype", b"<html", b"<?xml")):
        raise UnreadableFile(f"{name}: this is a web page and not a dump; was a login page saved? Expected JSON or YAML.")
