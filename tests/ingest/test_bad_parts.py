"""Parts of a file that cannot be read are skipped and named, and nothing readable is lost because of them."""

from __future__ import annotations

import json

import pytest

from schedviz.ingest.errors import BadObjects
from schedviz.ingest.load import Import, load
from tests.ingest.sources import source


def node(name: str) -> str:
    return json.dumps({"kind": "Node", "metadata": {"name": name}})


def names(result: Import) -> list[str]:
    return [obj.name for obj in result.objects]


def read(text: str) -> Import:
    return load([source(text.encode(), "dump")])


@pytest.mark.parametrize(
    ("text", "kept", "why"),
    [
        (f'{{"kind":"List","items":[{node("a")},{{"kind":"Node"}},{node("b")}]}}', ["a", "b"], "items[1].metadata.name"),
        (f'{{"kind":"List","items":[{node("a")},7,{node("b")}]}}', ["a", "b"], "items[1]: expected a Kubernetes object, found 7"),
        (f'{{"kind":"List","items":[{node("a")},{node("b")},{{"kind":"No', ["a", "b"], "the JSON ends too early"),
        (f'{{"kind":"List","items":[{node("a")},{{"kind":}},{node("b")}]}}', ["a", "b"], "this is not JSON"),
        (f"[{node('a')},{node('b')}", ["a", "b"], "the JSON ends too early"),
        (f'{node("a")}\n{{"kind":}}\n{node("b")}', ["a", "b"], "document 2, line 2: this is not JSON"),
        (f'{{"kind":"List","items":null}}\n{node("a")}', ["a"], ""),
        (
            f'{{"kind":"List","items":[{node("a")},{{"kind":"Status","status":"Failure","code":403}},{node("b")}]}}',
            ["a", "b"],
            "items[1]: this is an API server's error (kind Status)",
        ),
        (
            "kind: Node\nmetadata: {name: a}\n---\nkind: Node\nmetadata: {name: 'b\n---\nkind: Node\nmetadata: {name: c}\n",
            ["a", "c"],
            "not YAML",
        ),
        (
            (
                "apiVersion: v1\nitems:\n- kind: Node\n  metadata: {name: a}\n- kind: Node\n  metadata: {name: }}\n"
                "- kind: Node\n  metadata: {name: c}\nkind: List\n"
            ),
            ["a", "c"],
            "items[1]",
        ),
        (
            "apiVersion: v1\nitems:\n- kind: Node\n  metadata:\n    name: a\n- kind: Node\n  metadata:\n    name: b\n- kind: Node\n  meta",
            ["a", "b"],
            "dump",
        ),
    ],
)
def test_the_rest_of_the_file_is_kept(text: str, kept: list[str], why: str) -> None:
    result = read(text)

    assert names(result) == kept
    if why:
        assert why in result.report.skipped[0].message
        assert any(f"{len(kept)} objects were kept" in warning for warning in result.report.warnings)
    else:
        assert not result.report.skipped


def test_many_bad_objects_are_counted_and_the_first_are_named() -> None:
    items = ",".join([node("a"), *(['{"kind":"Node"}'] * 20)])
    report = read(f'{{"kind":"List","items":[{items}]}}').report

    assert [part.message.split(": ")[0] for part in report.skipped[:5]] == ["dump, line 1"] * 5
    assert report.skipped[-1].message == "… and 15 more parts of dump"
    assert any(warning.startswith("dump: 20 of its parts could not be read") for warning in report.warnings)


def test_a_file_without_readable_objects_is_refused() -> None:
    with pytest.raises(BadObjects, match=r"metadata\.name"):
        read('{"kind":"List","items":[{"kind":"Node"}]}')


def test_a_file_of_bad_objects_is_not_read_to_its_end() -> None:
    items = ",".join([node("a"), *(['{"kind":"Node"}'] * 1500)])
    with pytest.raises(BadObjects, match="… and more"):
        read(f'{{"kind":"List","items":[{items}]}}')


def test_a_recording_with_a_part_that_cannot_be_read_is_refused() -> None:
    text = "kind: Node\nmetadata: {name: 'b\n---\napiVersion: action.kwok.x-k8s.io/v1alpha1\nkind: ResourcePatch\n"
    with pytest.raises(BadObjects, match="not YAML"):
        read(text)


def test_keys_of_megabytes_are_shortened_in_reports() -> None:
    pods = [json.dumps({"kind": "Pod", "metadata": {"name": "p"}, "spec": {"nodeSelector": {"k" * 100_000: 1}}})] * 3
    report = read(f'{{"kind":"List","items":[{",".join([node("a"), *pods])}]}}').report

    assert [len(part.message) < 1500 for part in report.skipped] == [True] * 3
    assert report.skipped[0].message.endswith("expected a string, found 1")
    assert max(map(len, report.warnings)) < 2000
