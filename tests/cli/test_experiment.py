"""`schedviz experiment`: what it prints and writes, and how it exits."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from schedviz.cli.error_messages import SeveralLines
from schedviz.cli.experiment.command import check, measures, report, run, session

PLAN = """\
experiment: 1
name: sizes
base: {generate: {shape: basic, nodes: 6, pods: 40}}
variants:
  - {name: six}
  - {name: two, nodes: {count: 2}}
"""


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    path = tmp_path / "plan.yaml"
    path.write_text(PLAN)
    return path


def invoke(command: object, *arguments: object) -> Result:
    return CliRunner().invoke(command, list(map(str, arguments)))  # type: ignore[arg-type]


def test_run_prints_a_row_for_each_variant_and_what_they_mean(plan: Path) -> None:
    result = invoke(run, plan, "-j", 1)
    assert result.exit_code == 0, result.output
    assert "six" in result.stdout
    assert "Nodes used: 'two' is best with 2" in result.stdout


def test_json_is_the_same_for_every_number_of_processes(plan: Path, tmp_path: Path) -> None:
    files = [tmp_path / f"{jobs}.json" for jobs in (1, 2)]
    for jobs, file in zip((1, 2), files, strict=True):
        assert invoke(run, plan, "-j", jobs, "--no-times", "--json", file).exit_code == 0
    assert files[0].read_bytes() == files[1].read_bytes()


def test_csv_on_standard_output_is_alone_there(plan: Path) -> None:
    result = invoke(run, plan, "-j", 1, "--csv", "-")
    assert result.stdout.splitlines()[0].startswith("trial,variant,seed,error,placed,")
    assert len(result.stdout.splitlines()) == 3


def test_a_report_can_be_made_of_saved_results(plan: Path, tmp_path: Path) -> None:
    saved, direct, later = tmp_path / "results.json", tmp_path / "direct.html", tmp_path / "later.html"
    assert invoke(run, plan, "-j", 1, "--json", saved, "--report", direct).exit_code == 0
    assert invoke(report, saved, "-o", later).exit_code == 0
    assert later.read_bytes() == direct.read_bytes()
    assert json.loads(saved.read_bytes())["plan"] == PLAN


def test_faults_have_file_and_line(plan: Path) -> None:
    plan.write_text(PLAN.replace("count: 2", "count: two"))
    with pytest.raises(SeveralLines) as caught:
        CliRunner().invoke(check, [str(plan)], standalone_mode=False, catch_exceptions=False)
    assert caught.value.lines[0].startswith(f"{plan}:6: variants[1].nodes.count: expected a whole number")


def test_check_names_variants_and_the_number_of_trials(plan: Path) -> None:
    result = invoke(check, plan)
    assert "six (baseline)" in result.stdout
    assert "2 variants, 2 trials of about" in result.stdout


def test_a_trial_becomes_a_session_file(plan: Path, tmp_path: Path) -> None:
    output = tmp_path / "trial.schedviz"
    assert invoke(session, plan, 1, "-o", output).exit_code == 0
    assert output.read_bytes().startswith(b"\x1f\x8b")
    assert "the plan has trials 0 to 1" in invoke(session, plan, 2, "-o", output).output


def test_measures_are_listed() -> None:
    assert "fragmentation" in invoke(measures).stdout


def test_parquet_has_the_rows_and_types_of_the_trials_with_the_plan(plan: Path, tmp_path: Path) -> None:
    from pyarrow import parquet

    file = tmp_path / "results.parquet"
    assert invoke(run, plan, "-j", 1, "--parquet", file).exit_code == 0
    table = parquet.read_table(file)
    assert table.column("variant").to_pylist() == ["six", "two"]
    assert table.column("seed").to_pylist() == [None, None]
    assert table.column("nodesUsed").to_pylist() == [6.0, 2.0]
    assert table.schema.metadata[b"plan"].decode() == PLAN


def test_without_pyarrow_parquet_is_refused_before_anything_runs(plan: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    result = invoke(run, plan, "--parquet", tmp_path / "results.parquet", "--json", tmp_path / "results.json")
    assert result.exit_code == 1
    assert "pip install 'schedviz[parquet]'" in result.stderr
    assert not list(tmp_path.glob("results.*"))
