"""Spooled data can be read at any position, and is encrypted on disk."""

from __future__ import annotations

import io
import random
import zipfile

import pytest

from schedviz.ingest.files.spool import Spool, _EncryptedFile

MARK = b"a secret that is on no disk"


def spooled(data: bytes, in_memory: int = 1000) -> Spool:
    spool = Spool(in_memory)
    for start in range(0, len(data), 777):
        spool.write(data[start : start + 777])
    spool.seek(0)
    return spool


@pytest.mark.parametrize("size", [0, 1, 999, 1000, 1001, 300_001])
def test_written_bytes_are_read_back(size: int) -> None:
    data = random.Random(size).randbytes(size)
    with spooled(data) as spool:
        assert spool.read() == data
        for place in (0, size // 3, size - 1, size):
            spool.seek(max(place, 0))
            assert spool.read(100) == data[max(place, 0) : max(place, 0) + 100]
        spool.seek(-min(size, 5), io.SEEK_END)
        assert spool.read() == data[size - min(size, 5) :]


def test_the_file_on_disk_is_encrypted() -> None:
    with spooled(MARK * 20_000) as spool:
        assert spool.read(len(MARK)) == MARK
        file = spool._file.raw  # type: ignore[union-attr]
        assert isinstance(file, _EncryptedFile)
        file._file.seek(0)
        on_disk = file._file.read()
    assert len(on_disk) > len(MARK) * 10_000
    assert MARK not in on_disk
    assert len(set(on_disk)) == 256


def test_writing_anywhere_but_at_the_end_is_refused() -> None:
    file = _EncryptedFile()
    file.write(b"12345")
    file.seek(2)
    with pytest.raises(io.UnsupportedOperation):
        file.write(b"x")
    file.close()


def test_a_zip_is_read_from_a_spool() -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for number in range(50):
            archive.writestr(f"{number}.json", MARK * 100)
    with spooled(buffer.getvalue()) as spool, zipfile.ZipFile(spool) as archive:  # type: ignore[type-var]
        assert archive.testzip() is None
        assert archive.read("49.json") == MARK * 100
