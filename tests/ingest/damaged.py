"""Three hundred damaged files, made by rules from the samples: the same ones each time."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import random
import re
import tarfile
import zipfile
from collections.abc import Iterator
from typing import Any, NamedTuple

from tests.ingest.sources import SAMPLES

#: Samples that are damaged in every way.
WHOLE = (
    "list.json",
    "list.yaml",
    "manifests.yaml",
    "pod-list.json",
    "cluster-info-dump.txt",
    "simulator-export.json",
    "simulator-record.jsonl",
    "kwok-recording.yaml",
    "simkube.mp",
    "openb-nodes.csv",
    "openb-pods.csv",
    "events.json",
    "sigusr2/07-stale-handlers/scheduler.log",
    "sigusr2/07-stale-handlers/scheduler.json.log",
)


#: All its numbers are read.
_DESCRIBED = b"""Name:         web-0
Namespace:    shop
Priority:     100
Status:       Pending
Containers:
  main:
    Host Port:  8080/TCP
    Requests:
      cpu:     2
      memory:  64Mi
Tolerations:  node.kubernetes.io/not-ready:NoExecute op=Exists for 300s
Events:
  Warning  FailedScheduling  9m (x3 over 12m)  default-scheduler  0/3 nodes are available: 3 Insufficient cpu.
"""


class Damaged(NamedTuple):
    """A file, and whether it has to be refused: some damage leaves a file that can still be read, with less in it."""

    name: str
    data: bytes
    must_be_refused: bool = False


def damaged() -> list[Damaged]:
    """All of them."""
    return [
        *_cut(),
        *_flipped(),
        *_numbers(),
        *_recoded(),
        *_packed(),
        *_nested(),
        *_aliases(),
        *_archives(),
        *_absurd(),
        *_named(),
        *_shapes(),
    ]


def _samples() -> Iterator[tuple[str, bytes]]:
    for name in WHOLE:
        yield name.rpartition("/")[2], (SAMPLES / name).read_bytes()


def _cut() -> Iterator[Damaged]:
    """Files that are truncated at the end or at the beginning."""
    for name, data in _samples():
        for part in (0.03, 0.31, 0.5, 0.77, 0.995):
            end = int(len(data) * part)
            yield Damaged(f"cut at {part} {name}", data[:end], must_be_refused=name == "list.json" and part > 0.1)
        yield Damaged(f"without its beginning {name}", data[len(data) // 3 :])


def _flipped() -> Iterator[Damaged]:
    """Files in which some bytes are changed."""
    chance = random.Random(7)
    for name, data in _samples():
        for number in range(4):
            changed = bytearray(data)
            for _ in range(max(1, len(data) // (400 >> number))):
                changed[chance.randrange(len(changed))] = chance.randrange(256)
            yield Damaged(f"flipped {number} {name}", bytes(changed))


def _numbers() -> Iterator[Damaged]:
    """Files in which a number has thousands of digits, which Python refuses to convert, or is a digit that is no decimal one."""
    chance = random.Random(11)
    for name, data in [*_samples(), ("describe.txt", _DESCRIBED)]:
        numbers = list(re.finditer(rb"\d+", data))
        for new in (b"9" * 5_000, b"9" * 25, "²".encode()):
            for at in sorted({chance.randrange(len(numbers)) for _ in range(8)}) if numbers else ():
                begin, end = numbers[at].span()
                yield Damaged(f"number {at} replaced by {len(new)} bytes in {name}", data[:begin] + new + data[end:])


def _recoded() -> Iterator[Damaged]:
    """Text in another encoding."""
    text = (SAMPLES / "list.json").read_text().replace("web-1", "wéb-1")
    yield Damaged("in utf-16 with its mark", text.encode("utf-16"))
    yield Damaged("in utf-16 and cut short", text.encode("utf-16")[:-1], must_be_refused=True)
    for encoding in ("utf-16-le", "utf-16-be", "utf-32", "latin-1", "cp037"):
        yield Damaged(f"in {encoding}", text.encode(encoding), must_be_refused=True)
    yield Damaged("half a character", "kind: Pod\nmetadata: {name: é}".encode()[:-2], must_be_refused=True)
    yield Damaged("nul bytes", b"\0" * 1000, must_be_refused=True)
    yield Damaged("surrogates", b'{"kind":"Node","metadata":{"name":"\\ud800"}}')
    yield Damaged("control characters", b"kind: Pod\nmetadata: {name: \x01\x02}\n", must_be_refused=True)


def _packed() -> Iterator[Damaged]:
    """Packed files that are damaged, and some that are bombs."""
    data = (SAMPLES / "list.json").read_bytes()
    for name, pack in (("gzip", gzip.compress), ("xz", lzma.compress)):
        packed = pack(data)
        for end in (4, 20, len(packed) // 2, len(packed) - 1):
            yield Damaged(f"{name} cut at {end}", packed[:end], must_be_refused=True)
        yield Damaged(f"{name} with a changed byte", packed[:60] + bytes([packed[60] ^ 255]) + packed[61:], must_be_refused=True)
        yield Damaged(f"{name} in {name}", pack(packed))
        yield Damaged(f"{name} bomb", pack(b" " * (80 << 20)), must_be_refused=True)
        yield Damaged(f"{name} of zeros", pack(b"\0" * (80 << 20)), must_be_refused=True)
    yield Damaged("bzip2", bz2.compress(data), must_be_refused=True)
    yield Damaged("zstd", b"\x28\xb5\x2f\xfd" + data, must_be_refused=True)
    yield Damaged("7z", b"7z\xbc\xaf\x27\x1c" + data, must_be_refused=True)


def _nested() -> Iterator[Damaged]:
    for depth in (101, 1_000, 60_000):
        for name, text in (
            ("lists", "[" * depth + "]" * depth),
            ("objects", '{"a":' * depth + "1" + "}" * depth),
            ("labels", '{"kind":"Node","metadata":{"name":"a","labels":' + '{"a":' * depth + "{}" + "}" * depth + "}}"),
            ("yaml", "kind: Node\nx: " + "[" * depth),
            ("yaml maps", "kind: Node\nx: " + "{a: " * depth),
        ):
            yield Damaged(f"{name} {depth} deep", text.encode(), must_be_refused=True)
    yield Damaged("indentation", "".join(f"{' ' * depth}a:\n" for depth in range(1500)).encode(), must_be_refused=True)


def _aliases() -> Iterator[Damaged]:
    for width in (3, 9, 40):
        levels = zip("abcdefghijkl", "bcdefghijklm", strict=True)
        lines = "".join(f"{after}: &{after} [{','.join([f'*{before}'] * width)}]\n" for before, after in levels)
        for kind in ("Pod", "Node", "List"):
            yield Damaged(
                f"aliases {width} {kind}", f"kind: {kind}\nmetadata: {{name: x}}\na: &a [x]\n{lines}".encode(), must_be_refused=width > 3
            )
    yield Damaged("an alias of itself", b"kind: Pod\nmetadata: {name: x}\na: &a [*a]\n", must_be_refused=True)
    yield Damaged("an unknown alias", b"kind: Pod\nmetadata: *nobody\n", must_be_refused=True)


def _archives() -> Iterator[Damaged]:
    node = b'{"kind":"Node","metadata":{"name":"inside"}}'
    for name in ("../out.json", "/etc/out.json", "a/../../out.json", "..\\out.json", "x\0y.json", "\x1b[31m.json", "a" * 300 + ".json"):
        yield Damaged(f"tar {name!r:.30}", _tar([(name.replace("\0", "_"), node, b"0")]))
        yield Damaged(f"zip {name!r:.30}", _zip(name, node))
    for kind, what in ((tarfile.SYMTYPE, "symlink"), (tarfile.LNKTYPE, "link"), (tarfile.CHRTYPE, "device"), (tarfile.FIFOTYPE, "pipe")):
        yield Damaged(f"tar {what}", _tar([("a.json", b"", kind)]), must_be_refused=True)
    whole = _tar([("a.json", node, b"0"), ("b.json", node * 200, b"0")])
    for end in (300, 700, 1600, 3000):
        yield Damaged(f"tar cut at {end}", whole[:end])
    packed = _zip("a.json", node * 50)
    for end in (10, 60, len(packed) - 5):
        yield Damaged(f"zip cut at {end}", packed[:end], must_be_refused=True)
    yield Damaged("zip with a changed byte", packed[:45] + bytes([packed[45] ^ 255]) + packed[46:], must_be_refused=True)
    yield Damaged("zip bomb", _zip("a.json", b" " * (80 << 20)), must_be_refused=True)
    yield Damaged("tar of tars", _tar([("a.tar", _tar([("b.tar", _tar([("c.json", node, b"0")]), b"0")]), b"0")]), must_be_refused=True)
    yield Damaged("empty tar", _tar([]), must_be_refused=True)
    yield Damaged("tar that says it is larger", whole[:124] + b"77777777777\0" + whole[136:], must_be_refused=True)


def _tar(files: list[tuple[str, bytes, bytes]]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name, data, kind in files:
            info = tarfile.TarInfo(name)
            info.size, info.type, info.linkname = len(data), kind, "/etc/hosts"
            archive.addfile(info, io.BytesIO(data))
    return buffer.getvalue()


def _zip(name: str, data: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED)
    return buffer.getvalue()


def _absurd() -> Iterator[Damaged]:
    """Quantities, numbers and times that no cluster has."""
    for amount in (
        "1e999999999",
        "-1e99",
        "9" * 400,
        "NaN",
        "Infinity",
        "0x10",
        "1Zi",
        "",
        " ",
        "1 2",
        "١",
        "1e",
        "--1",
        "1m1",
        "+",
        "1Eiiiii",
    ):
        node = {"kind": "Node", "metadata": {"name": "absurd"}, "status": {"allocatable": {"cpu": amount, "memory": amount}}}
        yield Damaged(f"amount {amount[:12]!r}", json.dumps(node).encode())
    for member, number in (("priority", 10**30), ("priority", -(10**12)), ("terminationGracePeriodSeconds", 10**40), ("priority", 1.5)):
        pod = {"kind": "Pod", "metadata": {"name": "absurd"}, "spec": {"containers": [], member: number}}
        yield Damaged(f"{member} {number}", json.dumps(pod).encode(), must_be_refused=True)
    for time in ("yesterday", "2024-13-45T99:99:99Z", "9999999-01-01T00:00:00Z", "2024-01-01"):
        pod = {"kind": "Pod", "metadata": {"name": "absurd", "creationTimestamp": time}}
        yield Damaged(f"time {time}", json.dumps(pod).encode(), must_be_refused=True)
    for log in (
        '{"ts":1e300,"msg":"Dump of cached NodeInfo","nodes":[{"name":5,"requested":{"milliCPU":"x"}}]}',
        "I9999 99:99:99.9 1 a.go:1] x",
    ):
        yield Damaged(f"log {log[:12]}", log.encode())


def _named() -> Iterator[Damaged]:
    """Duplicate names, hostile names, and owners that own each other."""
    for name in (
        "\0",
        "a\0b",
        "../../etc",
        "<script>alert(1)</script>",
        "\x1b[2J",
        "a" * 100_000,
        "'; DROP TABLE x; --",
        "\u202etxt",
        "{{7*7}}",
        " ",
    ):
        node: dict[str, Any] = {"kind": "Node", "metadata": {"name": name, "labels": {name[:50]: name[:50]}}}
        yield Damaged(f"name {name[:12]!r}", json.dumps(node).encode(), must_be_refused="\0" in name)
        pod = {"kind": "Pod", "metadata": {"name": "p", "namespace": name}, "spec": {"nodeName": name, "schedulerName": name}}
        yield Damaged(f"namespace {name[:12]!r}", json.dumps(pod).encode(), must_be_refused="\0" in name)
    twice = [{"kind": "Pod", "metadata": {"name": "p", "uid": str(number)}, "spec": {"nodeName": "gone"}} for number in range(500)]
    yield Damaged("the same name 500 times", "".join(map(json.dumps, twice)).encode())
    yield Damaged("a key given twice in JSON", b'{"kind":"Node","kind":"Pod","metadata":{"name":"a"},"metadata":{"name":"b"}}')
    yield Damaged("a key given twice in YAML", b"kind: Node\nkind: Pod\nmetadata: {name: a}\n", must_be_refused=True)
    owners = [
        {
            "kind": "ReplicaSet",
            "metadata": {"name": name, "uid": name, "ownerReferences": [{"kind": "ReplicaSet", "name": other, "uid": other}]},
        }
        for name, other in (("a", "b"), ("b", "a"), ("c", "c"))
    ]
    yield Damaged("owners in a circle", "".join(map(json.dumps, owners)).encode())


def _shapes() -> Iterator[Damaged]:
    """Well-formed files that are no objects, or whose members have the wrong type."""
    for text in (
        *(
            "null",
            "true",
            "42",
            '"x"',
            "[]",
            "{}",
            "[null]",
            "[[]]",
            "[{}]",
            '{"kind":null}',
            '{"kind":[]}',
            '{"kind":"Pod"}',
            "---\n---\n",
        ),
        *('{"items":null}', '{"items":{}}', '{"kind":"List","items":[null]}', '{"kind":"PodList","items":[{"metadata":7}]}', "- \n- \n"),
        *(
            '{"kind":"Pod","metadata":[]}',
            '{"kind":"Pod","metadata":{"name":7}}',
            '{"kind":"Status","code":403}',
            "\ufeff",
            "#",
            "%YAML 1.2\n",
        ),
        *(
            "kind: Config\nusers: []\n",
            "<html></html>",
            "NAME READY\n",
            "error: You must be logged in to the server (Unauthorized)\n",
            "!!python/object:os.system x",
        ),
    ):
        yield Damaged(f"shape {text[:34]!r}", text.encode(), must_be_refused=True)
    for member in ("spec", "status", "metadata"):
        for value in (7, "x", [1], True):
            obj = {"kind": "Pod", "metadata": {"name": "p"}, member: value}
            yield Damaged(f"{member} is {value!r}", json.dumps(obj).encode(), must_be_refused=True)
    for value in (7, ["x"], {"k": "v"}):
        for path in ("containers", "tolerations", "nodeSelector", "affinity", "volumes", "topologySpreadConstraints"):
            obj = {"kind": "Pod", "metadata": {"name": "p"}, "spec": {path: value}}
            yield Damaged(f"{path} is {value!r}", json.dumps(obj).encode())
