"""Reading trace files: compressed and unusable ones."""

from __future__ import annotations

import lzma
from pathlib import Path

import pytest

from schedviz.cli import trace_files
from schedviz.cli.trace_files import Refused, read


def test_compressed_and_plain_files_are_read(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_bytes(b"{}")
    (tmp_path / "a.json.xz").write_bytes(lzma.compress(b"{}"))

    assert read(tmp_path / "a.json") == read(tmp_path / "a.json.xz") == b"{}"


def test_a_file_that_unpacks_to_more_than_the_limit_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trace_files, "MAX_UNPACKED_BYTES", 1000)
    (tmp_path / "fits.json.xz").write_bytes(lzma.compress(b" " * 1000))
    (tmp_path / "bomb.json.xz").write_bytes(lzma.compress(b" " * 1_000_000))

    assert len(read(tmp_path / "fits.json.xz")) == 1000
    with pytest.raises(Refused, match="unpacks to more than 1,000 bytes"):
        read(tmp_path / "bomb.json.xz")


@pytest.mark.parametrize("content", [b"", b"not packed", lzma.compress(b"{}")[:-10]], ids=["empty", "not packed", "truncated"])
def test_an_incomplete_xz_file_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a.json.xz").write_bytes(content)

    with pytest.raises(Refused, match=r"not a complete \.xz file"):
        read(tmp_path / "a.json.xz")
