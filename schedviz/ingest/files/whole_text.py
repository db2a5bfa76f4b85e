"""Reads a file that may be compressed as one text of limited size."""

from __future__ import annotations

from schedviz.ingest.errors import UnreadableFile
from schedviz.ingest.files.source import Source
from schedviz.ingest.files.unpack import text_pieces, unpacked


class TextTooLongError(UnreadableFile):
    """The decompressed text is longer than allowed."""


def text_of(source: Source, longest: int) -> str:
    """The decompressed text. Raises `TextTooLongError` beyond `longest` bytes, and `UnreadableFile` for what is not text."""

    def check(size: int) -> None:
        if size > longest:
            raise TextTooLongError(f"{source.name}: the text has more than {longest:,} bytes.")

    return b"".join(text_pieces(source.name, unpacked(source.name, source.pieces()), on_progress=check)).decode()
