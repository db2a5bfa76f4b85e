"""All bytes that an import reads count against its limits, also those of refused or skipped files."""

from __future__ import annotations

import gzip
import io
import struct
import tarfile
import tracemalloc

import pytest

from schedviz.ingest.errors import IngestError, LimitExceeded
from schedviz.ingest.files.budget import Budget, BudgetExhausted
from schedviz.ingest.files.source import Source
from schedviz.ingest.limits import Limits
from schedviz.ingest.load import load
from schedviz.ingest.refusals import MAX_LISTED
from tests.ingest.bombs import tarred, zip_of_empty_objects, zipped
from tests.ingest.sources import source

NODE = b'{"kind":"Node","metadata":{"name":"a"}}'
SPACES = b" " * 400_000
LIMITS = Limits(unpacked_bytes=1_000_000)


def refused(data: bytes, limits: Limits = LIMITS) -> str:
    with pytest.raises(IngestError) as error:
        load([source(data, "bomb")], limits)
    return str(error.value)


def test_the_first_exceeded_limit_is_remembered() -> None:
    budget = Budget(Limits(unpacked_bytes=10, archive_bytes=20))
    with pytest.raises(BudgetExhausted):
        budget.count_unpacked("a.json", 11)
    with pytest.raises(BudgetExhausted):
        budget.count_archive_bytes("b.zip", 21)

    assert budget.exhausted is not None
    assert "the limit unpacked_bytes is 10" in str(budget.exhausted)


@pytest.mark.parametrize("pack", [zipped, tarred], ids=["zip", "tar"])
def test_refused_files_of_an_archive_count(pack) -> None:
    assert "the limit unpacked_bytes is 1,000,000" in refused(pack((f"{n}.json", SPACES) for n in range(3)))
    assert "the limit unpacked_bytes is 1,000,000" in refused(pack((f"{n}.json", bytes(400_000)) for n in range(3)))


@pytest.mark.parametrize("pack", [zipped, tarred], ids=["zip", "tar"])
def test_compressed_members_of_archives_count_decompressed(pack) -> None:
    assert "the limit unpacked_bytes is 1,000,000" in refused(pack((f"{n}.json.gz", gzip.compress(SPACES)) for n in range(3)))


def test_archives_in_an_archive_share_one_budget() -> None:
    inner = [(f"{n}.zip", zipped([("a.json", SPACES)])) for n in range(3)]
    assert "the limit unpacked_bytes is 1,000,000" in refused(zipped(inner))


def test_skipped_members_count_against_the_limit_of_archives() -> None:
    archives = [(f"{n}.tgz", tarred([("not-of-use.png", SPACES)])) for n in range(3)]
    assert "the limit archive_bytes is 1,000,000" in refused(zipped(archives), Limits(archive_bytes=1_000_000))


def test_a_file_that_is_read_twice_counts_twice() -> None:
    text = (
        b'{\n    "apiVersion": "v1",\n    "items": [\n        {\n'
        + b" " * 200_000
        + b'"kind": 1\n        }\n    ],\n    "kind": "List"\n}\n'
    )
    pieces = [text[:100_000], text[100_000:]]
    read_twice = Source(name="a.json", pieces=lambda: iter(pieces))
    with pytest.raises(LimitExceeded) as caught:
        load([read_twice], Limits(archive_bytes=100_000))
    assert caught.value.setting == "archive_bytes"


def test_files_in_archives_are_counted_and_limited() -> None:
    many = [(f"{n}.png", b"") for n in range(11)]
    assert "the limit archive_members is 10" in refused(zipped(many), Limits(archive_members=10))
    assert "the limit archive_members is 10" in refused(tarred(many), Limits(archive_members=10))
    read = [(f"{n}.json", b"{}") for n in range(11)]
    assert "the limit archive_files is 10" in refused(zipped(read), Limits(archive_files=10))
    assert "the limit archive_files is 10" in refused(tarred(read), Limits(archive_files=10))


def test_a_zip_that_lists_too_many_files_is_refused_before_the_list_is_read() -> None:
    entries = b"".join(b"PK\1\2" + bytes(42) for _ in range(60))
    end = b"PK\5\6" + struct.pack("<4H2LH", 0, 0, 60, 60, len(entries), 4, 0)
    assert "the limit archive_members is 10" in refused(b"PK\3\4" + entries + end, Limits(archive_members=10))


def test_once_the_budget_is_used_up_no_further_file_is_read() -> None:
    opened: list[str] = []

    def pieces():
        opened.append("b")
        return iter([NODE])

    result = load([source(NODE, "a"), source(SPACES * 3, "bomb"), Source(name="b", pieces=pieces)], LIMITS)

    assert [obj.name for obj in result.objects] == ["a"]
    assert [one.name for one in result.report.refused] == ["bomb", "b"]
    assert all("unpacked_bytes" in one.message for one in result.report.refused)
    assert not opened


def test_reasons_of_many_bad_files_are_counted_and_not_kept() -> None:
    files = [("good.json", NODE), *((f"{n}.json", b'{"kind":"Node"}') for n in range(MAX_LISTED + 50))]
    report = load([source(zipped(files), "a.zip")]).report

    assert len(report.refused) == MAX_LISTED
    assert report.warnings[-1] == "50 more files were left out."


def test_unknown_kinds_are_counted_together() -> None:
    files = [("good.json", NODE), *((f"{n}.json", b'{"kind":"Made%d"}' % n) for n in range(1200))]
    report = load([source(zipped(files), "a.zip")]).report

    assert len(report.dropped) <= 201
    assert sum(drop.count for drop in report.dropped) == 1200
    assert len(report.files) == 1000
    assert report.files[0].name == "a.zip: good.json"
    assert "201 more files were read and are not listed." in report.warnings


def test_many_bad_files_keep_no_memory() -> None:
    data = zip_of_empty_objects(3000)
    tracemalloc.start()
    try:
        text = refused(data, LIMITS)
        kept, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert "3000 files: it contains no Kubernetes objects" in text
    assert kept < 2 << 20
    assert peak < 10 << 20


@pytest.mark.parametrize("kind", [tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK])
def test_a_large_extended_header_of_a_tar_is_refused_before_it_is_read(kind: bytes) -> None:
    header = tarfile.TarInfo("header")
    header.type, header.size = kind, 1 << 20
    data = gzip.compress(header.tobuf(tarfile.USTAR_FORMAT) + b"1" * (1 << 20) + bytes(1024))

    assert "a header has 1,048,576 bytes; at most 16,384 are read" in refused(data)


def test_a_long_name_in_a_tar_is_read() -> None:
    for tar_format in (tarfile.PAX_FORMAT, tarfile.GNU_FORMAT):
        packed = io.BytesIO()
        with tarfile.open(fileobj=packed, mode="w:gz", format=tar_format) as archive:
            info = tarfile.TarInfo("a-long-folder/" * 200 + "a.json")
            info.size = len(NODE)
            archive.addfile(info, io.BytesIO(NODE))

        assert len(load([source(packed.getvalue(), "long.tgz")]).objects) == 1


def test_a_file_of_a_tar_can_be_read_twice() -> None:
    text = (
        b'{\n    "apiVersion": "v1",\n    "items": [\n        {\n'
        + b" " * 200_000
        + b'"kind": 1\n        }\n    ],\n    "kind": "List"\n}\n'
    )
    assert "line 5" in refused(tarred([("a.json", text)], "w"), Limits())
