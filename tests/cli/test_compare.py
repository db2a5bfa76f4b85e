"""`schedviz compare`: two files, the output, and the exit code."""

from __future__ import annotations

import gzip
import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from schedviz.cli.compare import compare

OBJECTS: list[dict[str, Any]] = [
    {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name}},
        "status": {"allocatable": {"cpu": cpu, "memory": "8Gi", "pods": "110"}},
    }
    for name, cpu in (("small", "2"), ("large", "8"))
] + [
    {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": f"pod-{number}", "namespace": "default"},
        "spec": {"containers": [{"name": "main", "image": "i", "resources": {"requests": {"cpu": "500m"}}}]},
    }
    for number in range(3)
]
TRACE: dict[str, Any] = {
    "format": "schedviz-trace/1",
    "name": "small",
    "steps": [*({"op": "create", "object": each} for each in OBJECTS), {"op": "run"}],
}


def write(folder: Path, name: str, trace: dict[str, Any]) -> str:
    path = folder / name
    path.write_text(json.dumps(trace))
    return str(path)


def run(*arguments: str) -> Result:
    return CliRunner().invoke(compare, list(arguments))


@pytest.fixture
def same(tmp_path: Path) -> str:
    return write(tmp_path, "same.json", TRACE)


@pytest.fixture
def other(tmp_path: Path) -> str:
    return write(tmp_path, "other.json", {**TRACE, "steps": [*TRACE["steps"][:-1], {"op": "cordon", "node": "large"}, {"op": "run"}]})


def session_file(folder: Path, *events: dict[str, Any]) -> str:
    """A `.schedviz` file with these events and no commands."""
    manifest = {
        "format": "schedviz-session/1",
        "engineVersion": "1",
        "name": "s",
        "settings": {},
        "objects": 0,
        "commands": 0,
        "answers": 0,
        "firstEvent": 0,
        "lastEvent": len(events),
        "lastCycle": 0,
        "clockSeconds": 0,
        "viewDigest": "",
    }
    lines = b"".join(json.dumps(line).encode() + b"\n" for line in (manifest, {"line": "events", "events": events}))
    end = {"line": "end", "digest": hashlib.blake2b(lines, digest_size=16).hexdigest()}
    path = folder / "session.schedviz"
    path.write_bytes(gzip.compress(lines + json.dumps(end).encode() + b"\n"))
    return str(path)


def test_an_event_of_a_session_file_with_a_member_of_a_wrong_type_is_named(same: str, tmp_path: Path) -> None:
    result = run(session_file(tmp_path, {"event": 1.5}), same)

    assert result.exit_code == 1, "of click; schedviz.cli.main makes it 2"
    assert "session.schedviz: the events after event 0: " in result.output
    assert isinstance(result.exception, SystemExit)


def test_equal_runs_exit_with_0(same: str) -> None:
    result = run(same, same)

    assert result.exit_code == 0, result.output
    assert "every pod is in the same place" in result.output


def test_differing_runs_exit_with_1_and_print_where_they_diverge(same: str, other: str) -> None:
    result = run(same, other)

    assert result.exit_code == 1, result.output
    assert "default/pod-0: large | small" in result.output
    assert "First cycle that differs: A in cycle 1" in result.output


def test_json_output_has_the_whole_comparison(same: str, other: str) -> None:
    result = run(same, other, "-o", "json")

    assert result.exit_code == 1
    assert json.loads(result.output)["placements"]["moved"] == 3


def test_a_report_is_written(same: str, other: str, tmp_path: Path) -> None:
    report = tmp_path / "report.html"
    result = run(same, other, "--report", str(report))

    assert result.exit_code == 1
    assert report.read_text().startswith("<!doctype html>")


def test_an_unusable_file_is_refused(same: str, tmp_path: Path) -> None:
    objects = write(tmp_path, "objects.json", {"apiVersion": "v1", "kind": "List", "items": OBJECTS})
    for path, said in ((str(tmp_path / "none.json"), "No such file"), (objects, "no steps")):
        result = run(same, path)
        assert result.exception is not None
        assert said in result.output


def test_an_unreachable_server_is_reported(same: str) -> None:
    session = "00000000-0000-4000-8000-000000000000"
    result = run(session, session, "--server", "http://127.0.0.1:9")

    assert "does not respond" in result.output
    assert "an address such as http://127.0.0.1:8777 is expected" in run(session, session, "--server", "ftp://x").output


def test_a_moment_is_not_compared_with_a_file(same: str) -> None:
    assert "only be compared with a session" in run(same, "00000000-0000-4000-8000-000000000000@3").output
