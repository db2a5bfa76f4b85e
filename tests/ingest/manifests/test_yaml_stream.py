"""Streaming a YAML list printed by kubectl gives the same objects as reading it at once."""

from collections.abc import Iterator

import pytest

from schedviz.cli.bench.kubectl_dump import kubectl_dump
from schedviz.ingest.errors import BadObjects, LimitExceeded
from schedviz.ingest.files.source import Source
from schedviz.ingest.limits import Limits
from schedviz.ingest.load import load
from schedviz.ingest.manifests.json_stream import NotCutError
from schedviz.ingest.manifests.yaml_stream import cut_items, is_printed_by_kubectl

TEXT = b"".join(kubectl_dump(5, 60, "yaml"))


def pieces(text: bytes, size: int = 70_000) -> Iterator[bytes]:
    return (text[start : start + size] for start in range(0, len(text), size))


def source(text: bytes) -> Source:
    return Source(name="a.yaml", pieces=lambda: pieces(text), size=len(text))


def test_objects_read_from_a_stream_equal_those_of_the_whole_text() -> None:
    assert is_printed_by_kubectl(TEXT)

    cut = load([source(TEXT)])
    whole = load([Source(name="a.yaml", pieces=lambda: iter([b"# as a whole\n" + TEXT]))])

    assert cut.objects == whole.objects
    assert len(cut.objects) == 65
    assert (cut.report.files[0].format, cut.report.files[0].unpacked_bytes) == ("YAML", len(TEXT))


def test_items_are_returned_in_several_batches() -> None:
    parts = list(cut_items("a.yaml", pieces(TEXT, 1000), Limits()))

    assert sum(map(len, parts)) == 65


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"kind: List\n", b"kind: PodList\n"),
        (b"\n  kind: Pod\n", b"\n  kind: Pod\n---\n"),
        (b"\n  kind: Pod\n", b"\n  kind: Pod\n# a comment\n"),
        (b"\n  kind: Pod\n", b"\r\n  kind: Pod\r\n"),
        (b"\n  kind: Pod\n", b"\n  kind: [Pod\n"),
        (b"\n- apiVersion: v1\n  kind: Pod", b"\n- text\n- apiVersion: v1\n  kind: Pod"),
    ],
)
def test_a_list_in_another_layout_than_kubectls_is_read_as_a_whole(before: bytes, after: bytes) -> None:
    assert before in TEXT

    with pytest.raises(NotCutError):
        list(cut_items("a.yaml", pieces(after.join(TEXT.rsplit(before, 1))), Limits()))


def test_an_anchor_of_one_item_is_known_in_the_others() -> None:
    text = (
        b"apiVersion: v1\nitems:\n"
        b"- apiVersion: v1\n  kind: Node\n  metadata:\n    name: a\n    labels: &labels\n      zone: z1\n"
        b"- apiVersion: v1\n  kind: Node\n  metadata:\n    name: b\n    labels: *labels\n"
        b'kind: List\nmetadata:\n  resourceVersion: ""\n'
    )

    for read in (load([source(text)]), load([source(b"# as a whole\n" + text)])):
        assert [(obj.name, obj.metadata.labels) for obj in read.objects] == [("a", {"zone": "z1"}), ("b", {"zone": "z1"})]
    assert "unknown anchor" in load([source(text.replace(b"*labels", b"*other"))]).report.skipped[0].message
    with pytest.raises(LimitExceeded, match="anchors of one another"):
        load([source(text)], Limits(yaml_document_bytes=200))
    # It is unknown in another document, according to YAML.
    two = load([source(b"kind: Node\nmetadata:\n  name: &a a\n---\nkind: Node\nmetadata:\n  name: *a\n")])
    assert [obj.name for obj in two.objects] == ["a"]
    assert "unknown anchor" in two.report.skipped[0].message


def test_aliases_across_items_stay_bounded() -> None:
    levels = "".join(f"- kind: Node\n  x: &x{n + 1} [{', '.join([f'*x{n}'] * 9)}]\n" for n in range(9))
    text = f'apiVersion: v1\nitems:\n- kind: Node\n  x: &x0 [{"x, " * 9}]\n{levels}kind: List\nmetadata:\n  resourceVersion: ""\n'

    with pytest.raises(BadObjects, match="too many aliases"):
        load([source(text.encode())])


def test_a_bad_object_is_reported_with_its_line() -> None:
    lines = TEXT.split(b"\n")
    line = max(number for number, text in enumerate(lines) if b"startTime" in text)
    lines[line] = lines[line].replace(b"2024-03-01", b"yesterday")

    [skipped] = load([source(b"\n".join(lines))]).report.skipped

    assert f", line {line + 1}: " in skipped.message
