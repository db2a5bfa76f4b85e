"""`schedviz doctor` exits with 0, 1 or 2, and prints its findings as text or JSON."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from schedviz.cli.doctor import doctor

SAMPLES = Path(__file__).parents[1] / "samples" / "sigusr2"
DIFFERENCES = {
    "01-plain": 0,
    "02-assumed": 0,
    "03-nominated": 0,
    "04-ghost-node": 1,
    "05-stale-watch": 4,
    "06-amounts": 2,
    "07-stale-handlers": 4,
    "08-other-scheduler": 0,
}


@pytest.mark.parametrize("case", DIFFERENCES)
def test_the_exit_code_is_1_if_something_differs(case: str) -> None:
    folder = SAMPLES / case
    result = CliRunner().invoke(doctor, ["-o", "json", str(folder / "scheduler.log"), str(folder / "objects.json")])
    (examination,) = json.loads(result.stdout)
    assert sum(finding["differs"] for finding in examination["findings"]) == DIFFERENCES[case]
    assert result.exit_code == (1 if DIFFERENCES[case] else 0)


def test_a_folder_argument_includes_its_files() -> None:
    result = CliRunner().invoke(doctor, [str(SAMPLES / "04-ghost-node")])
    assert result.exit_code == 1
    assert result.stdout.count("✗ Node worker-2 was deleted") == 2  # of the log as text, and of the log as JSON
    assert "Cause: The node was deleted before its pods" in result.stdout


def test_a_dump_with_only_objects_is_examined(tmp_path: Path) -> None:
    result = CliRunner().invoke(doctor, [str(SAMPLES / "04-ghost-node" / "objects.json")])
    assert result.exit_code == 1
    assert "2 pods are bound to node worker-2, which does not exist in the API server" in result.stdout
    assert CliRunner().invoke(doctor, [str(SAMPLES / "01-plain" / "objects.json")]).exit_code == 0
    missing = CliRunner().invoke(doctor, [str(tmp_path / "missing.log")])
    assert missing.exit_code != 0
    assert "missing.log" in missing.output


def test_an_ignored_file_is_named_once(tmp_path: Path) -> None:
    useless = tmp_path / "state.json"
    useless.write_text('{"no": "kind"}')
    result = CliRunner().invoke(doctor, [str(useless), str(SAMPLES / "01-plain" / "objects.json")])
    assert result.exit_code == 0, result.output
    assert result.stderr.count(str(useless)) == 1


def test_a_trace_is_run_and_its_final_state_examined(tmp_path: Path) -> None:
    steps = [
        {"op": "create", "object": {"kind": "Node", "metadata": {"name": "n"}, "status": {"allocatable": {"cpu": "1", "pods": "9"}}}},
        {"op": "create", "object": {"kind": "Pod", "metadata": {"name": "p"}, "spec": {"containers": []}}},
        {"op": "cycle"},
    ]
    (tmp_path / "t.json").write_text(json.dumps({"format": "schedviz-trace/1", "steps": steps}))
    result = CliRunner().invoke(doctor, [str(tmp_path / "t.json")])
    assert result.exit_code == 0, result.output
    response, compared = result.stdout.splitlines()[:2]
    assert response == "Nothing is wrong."
    assert compared.startswith("API, informers, cache, queue and snapshot of the engine (1 nodes, 1 pods): nothing differs")
