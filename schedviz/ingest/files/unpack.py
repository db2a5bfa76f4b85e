"""Decompresses sources and decodes their text."""

from __future__ import annotations

import codecs
import lzma
import zlib
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Protocol

from schedviz.ingest.errors import UnknownFormat, UnreadableFile

_STEP = 4 << 20
#: Compressed bytes per call of a decompressor. It copies what follows the end of a stream, so with large blocks many small streams would
#: take quadratic time.
_WINDOW = 64 << 10
#: The most empty streams in a file. bgzip and rotated logs have a few; more would cost time without progress.
EMPTY_STREAMS = 1000
#: How much of a file's beginning is examined to recognise its format.
_HEAD = 64 << 10
_GZIP = b"\x1f\x8b"
_XZ = b"\xfd7zXZ\x00"
#: Signatures of unsupported files, and what to do about them.
_FOREIGN = (
    (b"BZh", "is compressed with bzip2; decompress it, or use gzip or xz"),
    (b"\x28\xb5\x2f\xfd", "is compressed with zstd; decompress it, or use gzip or xz"),
    (b"7z\xbc\xaf\x27\x1c", "is a 7z archive; unpack it and import the files in it"),
)
_UTF8_BOM = codecs.BOM_UTF8
#: The first bytes of PNG, JPEG and GIF.
_IMAGES = (b"\x89PNG", b"\xff\xd8\xff", b"GIF8")
_BINARY = bytes(byte for byte in range(32) if byte not in b"\t\n\r\f\x1b")


class _Stream(Protocol):
    """One compressed stream, with the interface of Python's lzma.LZMADecompressor."""

    @property
    def eof(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    @property
    def needs_input(self) -> bool: ...
    def decompress(self, data: bytes, max_length: int) -> bytes: ...


class _GzipStream:
    """zlib's decompressor with the interface of lzma's."""

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


def unpacked(name: str, blocks: Iterable[bytes]) -> Iterator[bytes]:
    """The bytes of a file, decompressed if necessary. The first block is long enough to recognise the format. Raises `UnreadableFile`."""
    return _with_a_head(_as_utf8(name, _unpacked(name, iter(blocks))))


def text_pieces(name: str, blocks: Iterable[bytes], *, on_progress: Callable[[int], None]) -> Iterator[bytes]:
    """The text of a decompressed file as UTF-8 without a byte order mark, in blocks.

    `on_progress` is called with the number of bytes so far and may raise. Raises `UnreadableFile`.
    """
    size, lines, is_blank = 0, 0, True
    decoder = codecs.getincrementaldecoder("utf-8")()
    for block in blocks:
        if not size:
            _check_head(name, block[:_HEAD])
        size += len(block)
        on_progress(size)
        try:
            decoder.decode(block)
        except UnicodeDecodeError as error:
            raise _no_text(name, lines, block, error) from None
        is_blank = is_blank and not block.strip()
        lines += block.count(b"\n")
        yield block.removeprefix(_UTF8_BOM) if size == len(block) else block
    try:
        decoder.decode(b"", final=True)
    except UnicodeDecodeError as error:
        raise _no_text(name, lines, b"", error) from None
    if is_blank:
        raise UnknownFormat(f"{name}: the file is empty.")


def _as_utf8(name: str, blocks: Iterator[bytes]) -> Iterator[bytes]:
    """The same as UTF-8. UTF-16 comes from PowerShell's `>`."""
    first = next(blocks, b"")
    if not first.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        yield first
        yield from blocks
        return
    decoder = codecs.getincrementaldecoder("utf-16")()
    try:
        for block in chain((first,), blocks):
            yield decoder.decode(block).encode()
        decoder.decode(b"", final=True)
    except UnicodeError:
        raise UnreadableFile(f"{name}: this is UTF-16 text that is damaged or truncated; download it again.") from None


def _with_a_head(blocks: Iterator[bytes]) -> Iterator[bytes]:
    """The blocks, the first of which is long enough to be examined."""
    first = bytearray()
    for block in blocks:
        first += block
        if len(first) >= _HEAD:
            break
    if first:
        yield bytes(first)
    yield from blocks


def _unpacked(name: str, blocks: Iterator[bytes]) -> Iterator[bytes]:
    first = b""
    for block in blocks:
        first += block
        if len(first) >= len(_XZ):
            break
    if first.startswith(_GZIP):
        yield from _decompressed(name, first, blocks, _GzipStream, "gzip")
    elif first.startswith(_XZ):
        yield from _decompressed(name, first, blocks, lambda: lzma.LZMADecompressor(memlimit=256 << 20), "xz")
    else:
        for magic, advice in _FOREIGN:
            if first.startswith(magic):
                raise UnreadableFile(f"{name}: this {advice}.")
        yield first
        yield from blocks


def _decompressed(name: str, first: bytes, blocks: Iterator[bytes], new: Callable[[], _Stream], packing: str) -> Iterator[bytes]:
    """All streams of a file one after another, in steps of bounded size."""
    windows = _windows(chain((first,), blocks))
    stream, waiting, is_empty, empty = new(), b"", True, 0
    try:
        while True:
            if stream.eof:
                empty += is_empty
                if empty > EMPTY_STREAMS:
                    raise UnreadableFile(f"{name}: the {packing} file has more than {EMPTY_STREAMS:,} empty streams, which no dump has.")
                waiting = stream.unused_data.lstrip(b"\0") or next(windows, b"")
                if not waiting:
                    return
                stream, is_empty = new(), True
            elif stream.needs_input and not waiting:
                waiting = next(windows, b"")
                if not waiting:
                    raise UnreadableFile(f"{name}: the {packing} file is truncated; download it again.")
            data = stream.decompress(waiting, _STEP)
            is_empty = is_empty and not data
            yield data
            waiting = b""
    except (zlib.error, lzma.LZMAError) as error:
        raise UnreadableFile(f"{name}: the {packing} file is damaged ({error}); fetch it again.") from None


def _windows(blocks: Iterable[bytes]) -> Iterator[bytes]:
    for block in blocks:
        for start in range(0, len(block), _WINDOW):
            yield block[start : start + _WINDOW]


def _check_head(name: str, head: bytes) -> None:
    if head.startswith(_IMAGES) or (head.startswith(b"RIFF") and head[8:12] == b"WEBP"):
        raise UnknownFormat(f"{name}: this is an image. Copy its text, or send the output of `kubectl describe pod`.")
    if head.translate(None, _BINARY) != head:
        raise UnknownFormat(
            f"{name}: this is not text; expected JSON or YAML, as `kubectl get nodes,pods,pv,pvc,sc,events -A -o json` prints it."
        )
    start_of_text = head[:512].lstrip(_UTF8_BOM).lstrip().lower()
    if start_of_text.startswith((b"<!doctype", b"<html", b"<?xml")):
        raise UnreadableFile(f"{name}: this is a web page, perhaps a login page, instead of a dump. Expected JSON or YAML.")


def _no_text(name: str, lines: int, block: bytes, error: UnicodeDecodeError) -> UnreadableFile:
    # The rest of the previous block is part of `error.object` and contains no line end.
    line = lines + block.count(b"\n", 0, max(error.start - (len(error.object) - len(block)), 0)) + 1
    return UnreadableFile(f"{name}: line {line} is not UTF-8 text.")
