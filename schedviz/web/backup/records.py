"""The backup file: zstd over records, each its length in four bytes and then msgpack: a header, the rows of each table, an end with row
counts.

Rows hold the values of Django's fields, not those of a database, so that a backup of one kind of database can be restored into the
other.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, BinaryIO

import msgspec
import zstandard

from schedviz.sessions.errors import SessionError

FORMAT = 1
_LENGTH_BYTES = 4
#: The longest record that is read. One is written after 8 MiB, or with one larger row.
_RECORD_BYTES = 2 << 30


class BackupError(SessionError):
    """A file that cannot be restored, or a database into which it cannot be restored."""

    code = "backup"


class Header(msgspec.Struct, frozen=True, tag="header"):
    """The format and the version of the file, and the applied migrations: (app, name)."""

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
    """The number of rows of each table. A file without it is incomplete."""

    rows: dict[str, int]


class Summary(msgspec.Struct, frozen=True):
    """The number of rows that were written or restored."""

    tables: int
    rows: int
    sessions: int
    bytes: int


_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(Header | Rows | End)


class Writer:
    """Writes records, packed."""

    def __init__(self, file: BinaryIO) -> None:
        # Large values are compressed already.
        self._stream = zstandard.ZstdCompressor(level=3, write_checksum=True).stream_writer(file, closefd=False)

    def write(self, record: Header | Rows | End) -> None:
        body = _encoder.encode(record)
        self._stream.write(len(body).to_bytes(_LENGTH_BYTES))
        self._stream.write(body)

    def close(self) -> None:
        self._stream.close()  # type: ignore[no-untyped-call]


def records(file: BinaryIO) -> Iterator[Header | Rows | End]:
    """The records of a file, in order. Raises `BackupError` for a damaged file or another kind of file."""
    stream = zstandard.ZstdDecompressor().stream_reader(file, closefd=False)
    try:
        while length := stream.read(_LENGTH_BYTES):
            size = int.from_bytes(length)
            if size > _RECORD_BYTES:
                raise BackupError("This file is not a schedviz backup, or it is damaged: a record is too long.")
            body = stream.read(size)
            if len(length) < _LENGTH_BYTES or len(body) < size:
                raise BackupError("The backup is truncated: it was not written or copied completely.")
            record = _decoder.decode(body)
            # The checksum is verified where the file ends, before the end is reported.
            if isinstance(record, End) and stream.read(1):
                raise BackupError("This file is not a schedviz backup, or it is damaged: it has data after its end.")
            yield record
    except (zstandard.ZstdError, msgspec.ValidationError, msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BackupError(f"This file is not a schedviz backup, or it is damaged: {error}.") from error
