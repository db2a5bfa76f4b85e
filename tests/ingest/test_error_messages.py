"""An error names the file, the document, the line and the path, in words."""

import gzip
import lzma

import pytest

from schedviz.ingest.errors import BadObjects, IngestError, UnreadableFile
from schedviz.ingest.limits import Limits
from schedviz.ingest.load import load
from tests.ingest.sources import SAMPLES, imported, source

LIST_JSON = (SAMPLES / "list.json").read_text()
LIST_YAML = (SAMPLES / "list.yaml").read_text()
OBJECTS_OR_TEXT = (
    "expected JSON or YAML (`kubectl get nodes,pods,pv,pvc,sc,events -A -o json`), or text that contains a scheduler message (`kubectl "
    "describe pod`)."
)


def refusal(*files, limits=None):
    with pytest.raises(IngestError) as caught:
        imported(*files, limits=limits)
    return str(caught.value)


def refused(*files, limits=None):
    return [(file.name, file.message) for file in imported(*files, limits=limits).report.refused]


def skipped(*files):
    return [part.message for part in imported(*files).report.skipped]


def line_with(text, part):
    (line,) = [number for number, line in enumerate(text.split("\n"), start=1) if part in line]
    return line


@pytest.mark.parametrize("text", [LIST_JSON, LIST_YAML], ids=["json", "yaml"])
def test_a_bad_value_in_a_list_is_found_with_its_line(text):
    head, tail = text.rsplit("500m", 1)
    bad = f"{head}10x{tail}"
    path = "items[4].spec.containers[0].resources.requests.cpu"
    assert skipped(bad) == [f'dump, line {line_with(bad, "10x")}: {path}: "10x" is not a quantity']


def test_the_document_is_named_if_there_are_several():
    text = "---\nkind: Node\nmetadata:\n  name: a\n---\n# comment\nkind: Node\nmetadata:\n  name: b\n  labels:\n    tier: 5\n"
    assert skipped(text) == ["dump, document 2, line 11: metadata.labels.tier: expected a string, found 5"]
    text = '{"kind":"Node","metadata":{"name":"a"}}\n{"kind":"Node",\n"metadata":{"name":"b","labels":[]}}'
    assert skipped(text) == ["dump, document 2, line 3: metadata.labels: expected an object, found a list"]


def test_a_few_bad_objects_are_reported_together_and_many_are_truncated():
    bad = '{"kind":"Node","metadata":{"name":"%s"},"spec":{"unschedulable":"%s"}}\n'
    text = "".join(bad % (name, name) for name in "ab")
    assert refusal(text) == (
        'dump, document 1, line 1: spec.unschedulable: expected true or false, found "a"\n'
        'dump, document 2, line 2: spec.unschedulable: expected true or false, found "b"'
    )
    with pytest.raises(BadObjects) as caught:
        imported("".join(bad % (name, name) for name in "abcdefgh"))
    assert len(caught.value.problems) == 5
    assert str(caught.value).endswith("\n… and more.")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ("", "dump: the file is empty."),
        (" \n\n", "dump: the file is empty."),
        (b"\x89PNG\r\n\x1a\n", "dump: this is an image. Copy its text, or send the output of `kubectl describe pod`."),
        (
            b"\x00\x01\x02",
            "dump: this is not text; expected JSON or YAML, as `kubectl get nodes,pods,pv,pvc,sc,events -A -o json` prints it.",
        ),
        (
            "NAME   READY   STATUS\nweb-1   1/1   Running\n",
            (
                "dump: this is a table of kubectl, which does not contain the requests of pods. Expected the output of "
                "`kubectl get nodes,pods,pv,pvc,sc,events -A -o json`."
            ),
        ),
        ("hello", f"dump: {OBJECTS_OR_TEXT}"),
        ("42", f"dump: {OBJECTS_OR_TEXT}"),
        (
            "  <!DOCTYPE html><html>",
            "dump: this is a web page, perhaps a login page, instead of a dump. Expected JSON or YAML.",
        ),
        (
            "kind: Node".encode("utf-16")[:-1],
            "dump: this is UTF-16 text that is damaged or truncated; download it again.",
        ),
        (
            "error: You must be logged in to the server (Unauthorized)\n",
            "dump: this is an error message of kubectl instead of a dump: error: You must be logged in to the server (Unauthorized)",
        ),
        ("kind: Node\nmetadata: {name: café}".encode("latin-1"), "dump: line 2 is not UTF-8 text."),
        (
            b"PK\x03\x04rest",
            "dump: the archive is damaged, or uses an unsupported compression method (File is not a zip file).",
        ),
        (
            "apiVersion: v1\nkind: Config\nusers: []\n",
            (
                "dump: this is a kubeconfig. It holds credentials and can run commands, so it is never read; import what "
                "`kubectl get nodes,pods,pv,pvc,sc,events -A -o json` prints instead."
            ),
        ),
        (
            '{"kind":"Config","users":[]}',
            (
                "dump: this is a kubeconfig. It holds credentials and can run commands, so it is never read; import what "
                "`kubectl get nodes,pods,pv,pvc,sc,events -A -o json` prints instead."
            ),
        ),
        (
            '{"kind":"Status","apiVersion":"v1","status":"Failure"}',
            "dump: this is an API server's error (kind Status) instead of a dump.",
        ),
        (
            "kind: Secret\nmetadata: {name: a}\n",
            (
                "dump: it contains nothing to import (1 × Secret: the scheduler does not read this kind). Expected nodes and pods: the output of "
                "`kubectl get nodes,pods,pv,pvc,sc,events -A -o json`."
            ),
        ),
        (
            '{"kind":"List","items":[]}',
            "dump: it contains nothing to import. Expected nodes and pods: the output of `kubectl get nodes,pods,pv,pvc,sc,events -A -o json`.",
        ),
        ('{"kind":"List",\n"items":[{"a":}]}', "dump, line 2: this is not JSON (invalid character)"),
        ('{"kind":"List",\n"items":[{"kind":"Pod"', "dump, line 2: the JSON ends too early; was the file cut short?"),
        ('{"kind":"List","items":[1]}', "dump, line 1: items[0]: expected a Kubernetes object, found 1"),
        (
            '{"kind":"List","items":"x"}',
            "dump, line 1: this is not a list of Kubernetes objects (Expected `array | null`, got `str` - at `$.items`)",
        ),
        (
            "kind: Pod\nmetadata:\n  name: 'a\n",
            "dump, document 1, line 4: this is not YAML (found unexpected end of stream, while scanning a quoted scalar)",
        ),
        ("kind: Node\nkind: Node\nmetadata: {name: a}\n", 'dump, document 1, line 1: this is not YAML (duplicate entry with key "kind")'),
        (
            "apiVersion: v1\nitems:\n- apiVersion: v1\n  kind: Node\n  metadata:\n    name: a\n",
            "dump, document 1, line 7: the list ends without its kind, which kubectl prints last; was the file cut short?",
        ),
        (
            "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n",
            (
                "dump: it contains nothing to import (it is the configuration of a scheduler, which goes with objects). Expected nodes and pods: the output of "
                "`kubectl get nodes,pods,pv,pvc,sc,events -A -o json`."
            ),
        ),
        ("metadata: {name: a}\n", "dump, line 1: kind: expected the kind of the object, such as Pod, found nothing"),
        ("---\nfoo\n", 'dump, line 2: expected a Kubernetes object, found "foo"'),
        (
            "kind: Node\nmetadata:\n  name: a\n  labels:\n    1: x\n",
            "dump, line 4: metadata.labels: expected names that are strings; put the others in quotes",
        ),
    ],
)
def test_a_file_that_is_not_a_dump_is_refused_with_a_sentence(data, message):
    assert refusal(data) == message


def test_broken_archives_are_distinguished_from_bad_ones():
    assert refusal(gzip.compress(LIST_JSON.encode())[:-12]) == "dump: the gzip file is truncated; download it again."
    assert refusal(lzma.compress(LIST_JSON.encode())[:-20]) == "dump: the xz file is truncated; download it again."
    assert refusal(b"\x1f\x8b" + b"x" * 50).startswith("dump: the gzip file is damaged (")


def test_an_import_without_files_is_refused():
    with pytest.raises(UnreadableFile, match=r"^No file was given\.$"):
        load([])


def test_limits_are_named_when_they_are_hit():
    two = '{"kind":"Node","metadata":{"name":"a"}}{"kind":"Node","metadata":{"name":"b"}}'
    assert refusal(two, limits=Limits(objects=1)) == "dump: there are too many objects; the limit objects is 1."
    assert refusal(two, limits=Limits(unpacked_bytes=50)) == "dump: unpacked, the files are too large; the limit unpacked_bytes is 50."
    assert refused(two, two, limits=Limits(unpacked_bytes=100)) == [
        ("dump-2", "dump-2: unpacked, the files are too large; the limit unpacked_bytes is 100."),
    ]
    assert refusal(two, two, limits=Limits(files=1)) == "The import: there are 2 files; the limit files is 1."
    assert refusal(two, limits=Limits(nesting_depth=1)) == (
        "dump, line 1: lists and objects are nested too deep; the limit nesting_depth is 1."
    )
    assert refusal("kind: Node\nmetadata:\n  name: a\n", limits=Limits(yaml_document_bytes=10)) == (
        "dump, document 1, line 1: a document of 31 bytes that cannot be cut into items; convert it to JSON; "
        "the limit yaml_document_bytes is 10."
    )


def test_an_error_names_the_file_that_it_is_in():
    (file,) = load([source(LIST_JSON, "good.json"), source("kind: [", "bad.yaml")]).report.refused
    assert file.message.startswith("bad.yaml, document 1, line ")
