"""The file: zstd over records, each its length in four bytes and then msgpack: a header, the rows of each table, an end that counts them.

Rows hold what Django's fields hold, not what a database stores of them, so that a file of one kind of database fills the other.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, BinaryIO

import msgspec
import zstandard

from schedviz.sessions.errors import SessionError

FORMAT = 1
_LENGTH_BYTES = 4


class BackupError(SessionError):
    """A file that cannot be put back, or a database that it cannot be put into."""

    code = "backup"


class Header(msgspec.Struct, frozen=True, tag="header"):
    """What the file is, and which migrations its tables had: (app, name)."""

    format: int
    version: str
    written_at: str
    database: str
    migrations: list[tuple[str, str]]


class Rows(msgspec.Struct, frozen=True, tag="rows"):
    """Some rows of one table: `app.Model`, the names of its fields, their values."""

    model: str
    fields: list[str]
    values: list[list[Any]]


class End(msgspec.Struct, frozen=True, tag="end"):
    """How many rows each table has. A file without it is not whole."""

    rows: dict[str, int]


class Summary(msgspec.Struct, frozen=True):
    """What was written or put back."""

    tables: int
    rows: int
    sessions: int
    bytes: int


_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(Header | Rows | End)


class Writer:
    """Writes records, packed."""

    def __init__(self, file: BinaryIO) -> None:
        # What is large in it is packed already.
        self._stream = zstandard.ZstdCompressor(level=3, write_checksum=True).stream_writer(file, closefd=False)

    def write(self, record: Header | Rows | End) -> None:
        body = _encoder.encode(record)
        self._stream.write(len(body).to_bytes(_LENGTH_BYTES))
        self._stream.write(body)

    def close(self) -> None:
        self._stream.close()  # type: ignore[no-untyped-call]


def records(file: BinaryIO) -> Iterator[Header | Rows | End]:
    """The records of a file, in order. Raises `BackupError` where it is damaged or of another kind."""
    stream = zstandard.ZstdDecompressor().stream_reader(file, closefd=False)
    try:
        while length := stream.read(_LENGTH_BYTES):
            size = int.from_bytes(length)
            body = stream.read(size)
            if len(length) < _LENGTH_BYTES or len(body) < size:
                raise BackupError("The file ends in the middle: it was not written or copied to its end.")
            yield _decoder.decode(body)
    except (zstandard.ZstdError, msgspec.ValidationError, msgspec.DecodeError) as error:
        raise BackupError(f"This is no backup of schedviz, or it is damaged: {error}.") from error
