"""Three hundred damaged files: each gives a message about it, and the other file of the import is still imported."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from schedviz.explain.doctor.import_check import examine_import
from schedviz.ingest.limits import Limits
from schedviz.ingest.load import load
from tests.ingest.damaged import Damaged, damaged
from tests.ingest.sources import source

FILES = damaged()
GOOD = '{"kind":"Node","metadata":{"name":"good"},"status":{"allocatable":{"cpu":"4"}}}'
LIMITS = Limits(unpacked_bytes=64 << 20, objects=50_000)
MEGABYTES = 512

_IMPORT = """
import sys
from schedviz.ingest.limits import Limits
from schedviz.ingest.load import load
from schedviz.ingest.files.source import Source
good = Source.of_bytes("good", b'{"kind":"Node","metadata":{"name":"good"}}')
result = load([good, Source.of_path(sys.argv[1])], Limits(unpacked_bytes=64 << 20, objects=50_000))
assert "good" in {obj.name for obj in result.objects}
# Not ru_maxrss: a child begins with its parent's there, and pytest has grown by then.
status = dict(line.split(":", 1) for line in open("/proc/self/status"))
peak = int(status["VmHWM"].split()[0]) >> 10
assert peak < int(sys.argv[2]), peak
"""


def test_there_are_at_least_three_hundred_damaged_files_with_unique_names() -> None:
    assert len(FILES) >= 300
    assert len({file.name for file in FILES}) == len(FILES)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name.encode("ascii", "backslashreplace").decode())
def test_a_damaged_file_is_reported_and_the_others_are_imported(file: Damaged) -> None:
    result = load([source(GOOD, "good"), source(file.data, "damaged")], LIMITS)
    assert "good" in {obj.name for obj in result.objects}
    for refused in result.report.refused:
        assert refused.name.startswith("damaged")
        assert refused.message.startswith("damaged")
        assert len(refused.message) > len("damaged: ")
        assert "Traceback" not in refused.message
        assert refused.message.replace("\n", "").isprintable(), refused.message
    for skipped in result.report.skipped:
        assert skipped.message.startswith(("damaged", "… and"))
        assert skipped.message.isprintable(), skipped.message
    left_out = result.report.refused or result.report.skipped or any(drop.kind == "File" for drop in result.report.dropped)
    assert left_out or not file.must_be_refused
    examine_import(result)


def _pods(count: int) -> bytes:
    pod = '{"kind":"Pod","metadata":{"name":"p-%d"},"spec":{"containers":[{"resources":{"requests":{"cpu":"1"}}}]}}'
    items = ",".join(pod % number for number in range(count))
    return f'{{"kind":"List","items":[{items}]}}'.encode()


#: Inputs of up to 64 MB that take much time or memory if they are read naively.
HEAVY = {
    "one string": lambda: b'{"kind":"' + b"x" * (63 << 20) + b'"}',
    "small pods": lambda: _pods(500_000),
    "a dump of many nodes": lambda: (
        b'I0101 00:00:00.0 1 dumper.go:52] "Dump of cached NodeInfo" nodes=<\n' + b"\tNode name: w\n" * 1_000_000
    ),
    "rows": lambda: b"name,cpu_milli,memory_mib,num_gpu,gpu_milli\n" + b"p,1,1,0,0\n" * 6_000_000,
    "an array as MessagePack": lambda: b"\x83\xa7version\x02\xa6events\xdd\x03\x00\x00\x00" + b"\x80" * (60 << 20),
    "labels in YAML": lambda: b"kind: Pod\nmetadata:\n  name: a\n  labels:\n" + b"    l: x\n" * (7 << 20),
}


@pytest.mark.parametrize("name", HEAVY)
def test_large_files_are_read_within_a_memory_limit(name: str, tmp_path: Path) -> None:
    path = tmp_path / "heavy"
    path.write_bytes(HEAVY[name]())
    process = subprocess.run([sys.executable, "-c", _IMPORT, str(path), str(MEGABYTES)], capture_output=True, text=True, check=False)
    assert process.returncode == 0, process.stderr[-600:]
