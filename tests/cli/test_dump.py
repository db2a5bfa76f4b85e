"""`schedviz dump` prints a scheduler's dump."""

from __future__ import annotations

import json
from pathlib import Path

from click.testing import CliRunner

from schedviz.cli.doctor import doctor
from schedviz.cli.dump import dump

SAMPLES = Path(__file__).parents[1] / "samples" / "sigusr2"

def test_what_is_dumped_agrees_with_its_objects(tmp_path: Path) -> None:
    objects = str(SAMPLES / "01-plain" / "objects.json")
    for form in ("text", "json"):
        result = CliRunner().invoke(dump, ["--format", form, objects])
        assert result.exit_code == 0, result.output
        (tmp_path / "log").write_text(result.output)
        assert CliRunner().invoke(doctor, [str(tmp_path / "log"), objects]).exit_code == 0


def test_the_state_after_a_trace_is_dumped(tmp_path: Path) -> None:
    steps = [
        {"op": "create", "object": {"kind": "Node", "metadata": {"name": "n"}, "status": {"allocatable": {"cpu": "1", "pods": "9"}}}},
        {"op": "create", "object": {"kind": "Pod", "metadata": {"name": "p"}, "spec": {"containers": []}}},
        {"op": "cycle"},
    ]
    (tmp_path / "t.json").write_text(json.dumps({"format": "schedviz-trace/1", "steps": steps}))
    result = CliRunner().invoke(dump, [str(tmp_path / "t.json")])
    assert result.exit_code == 0, result.output
    assert result.output.startswith('I0101 00:00:00.003000       1 dumper.go:52] "Dump of cached NodeInfo" nodes=<\n\tNode name: n\n')
    assert "\tname: p, namespace: default, uid: default/p, phase: Pending, nominated node: \n >\n" in result.output
    assert result.output.endswith('"Dump of scheduling queue" summary="activeQ:0; backoffQ:0; unschedulablePods:0" pods=""\n')


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    result = CliRunner().invoke(dump, [str(tmp_path / "missing.log")])
    assert result.exit_code != 0
    assert "missing.log" in result.output
