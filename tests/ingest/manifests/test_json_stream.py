"""Streaming a list printed by kubectl gives the same objects as reading it at once."""

from collections.abc import Iterable, Iterator

import pytest

from schedviz.cli.bench.kubectl_dump import kubectl_dump
from schedviz.ingest.files.source import Source
from schedviz.ingest.limits import Limits
from schedviz.ingest.load import Progress, load
from schedviz.ingest.manifests.json_stream import NotCutError, cut_items, is_printed_by_kubectl

TEXT = b"".join(kubectl_dump(20, 1200, "json"))


def source(text: bytes, piece: int) -> Source:
    return Source(name="a.json", pieces=lambda: pieces(text, piece), size=len(text))


def pieces(text: bytes, size: int) -> Iterator[bytes]:
    return (text[start : start + size] for start in range(0, len(text), size))


def names(cut: Iterable[list[object]]) -> int:
    return sum(map(len, cut))


@pytest.mark.parametrize("piece", [70_000, 1 << 20, 5 << 20])
def test_objects_read_from_a_stream_equal_those_of_the_whole_text(piece: int) -> None:
    assert is_printed_by_kubectl(TEXT)

    cut = load([source(TEXT, piece)])
    whole = load([Source(name="a.json", pieces=lambda: iter([b" " + TEXT]))])

    assert cut.objects == whole.objects
    assert len(cut.objects) == 1220
    assert cut.report.files[0].unpacked_bytes == len(TEXT)


def test_items_are_returned_in_several_batches() -> None:
    parts = list(cut_items(pieces(TEXT, 1 << 20), nesting_depth=100))

    assert len(parts) > 1
    assert names(parts) == 1220


def test_progress_is_reported_in_bytes() -> None:
    reports: list[Progress] = []

    load([source(TEXT, 1 << 20)], Limits(), reports.append)

    reading = [progress for progress in reports if progress.phase == "reading"]
    assert reading[-1] == Progress("reading", len(TEXT), len(TEXT), file="a.json")
    assert [progress.done for progress in reading] == sorted(progress.done for progress in reading)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b'"kind": "List"', b'"kind": "PodList"'),
        (b'\n    ],\n    "kind"', b'\n    ]\n    "kind"'),
    ],
)
def test_a_list_in_another_layout_than_kubectls_is_read_as_a_whole(before: bytes, after: bytes) -> None:
    changed = after.join(TEXT.rsplit(before, 1))

    with pytest.raises(NotCutError):
        names(cut_items(pieces(changed, 1 << 20), nesting_depth=100))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b'"phase": "Running"', b'"phase": Running'),
        (b'"env": [', b'"env": [},\n        {\n'),
        (b'"env": [', b'"env": [{}\n},\n        {\n'),
    ],
)
def test_an_object_that_is_not_json_is_skipped_wherever_a_chunk_ends(before: bytes, after: bytes) -> None:
    changed = after.join(TEXT.rsplit(before, 1))

    report = load([source(changed, 1 << 20)]).report

    assert "JSON" in report.skipped[0].message
    assert sum(report.kinds.values()) > 1000


def test_a_bad_object_is_reported_with_its_line() -> None:
    lines = TEXT.split(b"\n")
    line = max(number for number, text in enumerate(lines) if b'"startTime"' in text)
    lines[line] = lines[line].replace(b"2024-03-01", b"yesterday")

    [skipped] = load([source(b"\n".join(lines), 1 << 20)]).report.skipped

    assert skipped.message.startswith(f"a.json, line {line + 1}: items[1219].status.startTime: ")


def test_nesting_is_limited() -> None:
    with pytest.raises(NotCutError):
        names(cut_items(pieces(TEXT, 1 << 20), nesting_depth=5))


def test_the_complete_objects_of_a_truncated_text_are_kept() -> None:
    whole = load([source(TEXT, 1 << 20)]).report
    cut = load([source(TEXT[:-3000], 1 << 20)]).report

    [skipped] = cut.skipped
    assert "ends too early" in skipped.message
    assert 0 < sum(whole.kinds.values()) - sum(cut.kinds.values()) < 10
