"""`schedviz dump` prints a scheduler's dump."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from schedviz.cli.doctor import doctor
from schedviz.cli.dump import dump

SAMPLES = Path(__file__).parents[1] / "samples" / "sigusr2"


def test_doctor_finds_no_difference_between_a_printed_dump_and_its_objects(tmp_path: Path) -> None:
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


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    result = CliRunner().invoke(dump, [str(tmp_path / "missing.log")])
    assert result.exit_code != 0
    assert "missing.log" in result.output


@pytest.mark.parametrize(("form", "log"), [("text", "scheduler.log"), ("json", "scheduler.json.log")])
def test_a_state_file_is_dumped_as_by_the_real_scheduler(form: str, log: str) -> None:
    case = SAMPLES / "07-stale-handlers"
    options = ["--state", str(case / "state.json"), "--format", form, "--at", "2024-01-01T00:00:00.020Z", "--pid", "1", "-v", "3"]
    result = CliRunner().invoke(dump, [*options, str(case / "objects.json")])
    assert result.exit_code == 0, result.output
    assert result.output.count("Cache mismatch") == 2
    assert (case / log).read_text().endswith(result.output)


def test_the_informers_in_a_state_file_can_be_as_stale_as_its_cache() -> None:
    case = SAMPLES / "05-stale-watch"
    arguments = ["--state", str(case / "state.json"), str(case / "objects.json")]
    told, silent = (CliRunner().invoke(dump, [*arguments, *more]).output for more in ([], ["--stale"]))
    assert "Cache mismatch" in told
    assert "Cache mismatch" not in silent
    assert CliRunner().invoke(dump, ["--stale", str(case / "objects.json")]).exit_code == 2


def test_an_invalid_state_or_time_is_reported_with_its_position(tmp_path: Path) -> None:
    objects = str(SAMPLES / "01-plain" / "objects.json")
    for content, told in (
        ("{", "is not JSON"),
        ('{"cache":{"list":[],"podStates":{}},"queue":{"activeQ":[{}]}}', "queue.activeQ[0].pod"),
    ):
        (tmp_path / "state.json").write_text(content)
        result = CliRunner().invoke(dump, ["--state", str(tmp_path / "state.json"), objects])
        assert result.exit_code == 1
        assert told in result.output, result.output
    assert "no-such.json: No such file" in CliRunner().invoke(dump, ["--state", str(tmp_path / "no-such.json"), objects]).output
    for time in ("yesterday", "2024-13-01T00:00:00Z"):
        assert "is not a time such as" in CliRunner().invoke(dump, ["--at", time, objects]).output
