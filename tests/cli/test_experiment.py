"""`schedviz experiment`: its output, files and exit codes."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from schedviz.cli.error_messages import MultilineError
from schedviz.cli.experiment import check, measures, report, run, session, tune
from tests.experiments.small_plans import node, pod, write_cluster

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


def test_run_prints_a_row_for_each_variant_and_a_summary(plan: Path) -> None:
    result = invoke(run, plan, "-j", 1)
    assert result.exit_code == 0, result.output
    assert "six" in result.stdout
    assert "Keep six" in result.stdout


def test_tune_prints_the_best_candidate_and_writes_all_of_them(plan: Path, tmp_path: Path) -> None:
    space = "{count: {set: nodes.count, from: 1, to: 3}}"
    plan.write_text(PLAN + f"tune: {{minimize: nodesUsed, constraints: [placed >= 5], candidates: 3, space: {space}}}\n")
    result = invoke(tune, plan, "-j", 1, "--csv", tmp_path / "all.csv", "--report", tmp_path / "report.html")
    assert result.exit_code == 0, result.output
    assert "The best is 'count " in result.stdout
    assert "- name: count" in result.stdout
    assert len((tmp_path / "all.csv").read_text().splitlines()) == 1 + 2 + 3
    assert "<h2>Search</h2>" in (tmp_path / "report.html").read_text()


def test_tune_needs_a_space(plan: Path) -> None:
    result = invoke(tune, plan)
    assert result.exit_code == 1
    assert "the plan has no member `tune`" in result.output


@pytest.mark.parametrize(("options", "message"), [([], "run the command again with --trust-code"), (["--trust-code"], "there is no file")])
def test_code_in_a_plan_needs_an_option(plan: Path, options: list[str], message: str) -> None:
    plan.write_text(PLAN + "code: {plugins: {Mine: mine.py:Mine}}\n")
    with pytest.raises(MultilineError) as caught:
        CliRunner().invoke(run, [str(plan), *options], standalone_mode=False, catch_exceptions=False)
    assert message in caught.value.lines[0]


def test_many_measures_are_printed_as_rows(plan: Path) -> None:
    plan.write_text(PLAN + "measures: [placed, pending, nodesUsed, nodesEmpty, utilization, nodeUtilization]\n")
    lines = invoke(run, plan, "-j", 1).stdout.splitlines()
    assert lines[0].split() == ["configuration", "six", "two"]
    assert lines[1].split()[:3] == ["pods", "placed", "40"]


def test_json_output_is_the_same_for_every_number_of_processes(plan: Path, tmp_path: Path) -> None:
    files = [tmp_path / f"{jobs}.json" for jobs in (1, 2)]
    for jobs, file in zip((1, 2), files, strict=True):
        assert invoke(run, plan, "-j", jobs, "--no-times", "--json", file).exit_code == 0
    assert files[0].read_bytes() == files[1].read_bytes()


def test_csv_is_the_only_text_on_standard_output(plan: Path) -> None:
    result = invoke(run, plan, "-j", 1, "--csv", "-")
    assert result.stdout.splitlines()[0].startswith('"trial","variant","seed","error","placed",')
    assert len(result.stdout.splitlines()) == 3


def test_a_report_can_be_generated_from_saved_results(plan: Path, tmp_path: Path) -> None:
    saved, direct, later = tmp_path / "results.json", tmp_path / "direct.html", tmp_path / "later.html"
    assert invoke(run, plan, "-j", 1, "--json", saved, "--report", direct).exit_code == 0
    assert invoke(report, saved, "-o", later).exit_code == 0
    assert later.read_bytes() == direct.read_bytes()
    assert json.loads(saved.read_bytes())["plan"] == PLAN


def test_errors_in_a_plan_have_file_and_line(plan: Path) -> None:
    plan.write_text(PLAN.replace("count: 2", "count: two"))
    with pytest.raises(MultilineError) as caught:
        CliRunner().invoke(check, [str(plan)], standalone_mode=False, catch_exceptions=False)
    assert caught.value.lines[0].startswith(f"{plan}:6: variants[1].nodes.count: expected a whole number")


def test_check_names_variants_and_the_number_of_trials(plan: Path) -> None:
    result = invoke(check, plan)
    assert "six (baseline)" in result.stdout
    assert "2 variants, 2 trials of about" in result.stdout


def test_check_counts_the_candidates_of_a_search(plan: Path) -> None:
    plan.write_text(PLAN + "seeds: 2\ntune: {minimize: nodesUsed, candidates: 7, space: {count: {set: nodes.count, from: 1, to: 9}}}\n")
    assert "tune: at most 7 candidates, 14 trials more: about" in invoke(check, plan).stdout


def test_a_trial_can_be_written_as_a_session_file(plan: Path, tmp_path: Path) -> None:
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


def test_reuse_runs_only_trials_that_the_earlier_run_lacks(plan: Path, tmp_path: Path) -> None:
    earlier, later = tmp_path / "earlier.json", tmp_path / "later.json"
    assert invoke(run, plan, "-j", 1, "--json", earlier).exit_code == 0
    plan.write_text(PLAN + "  - {name: one, nodes: {count: 1}}\n")
    result = invoke(run, plan, "-j", 1, "--reuse", earlier, "--json", later)
    assert result.exit_code == 0, result.output
    assert f"2 of 3 trials are of {earlier}" in result.stderr
    assert [row["variant"] for row in json.loads(later.read_bytes())["trials"]] == ["six", "two", "one"]


def test_reuse_is_refused_if_the_base_changed(plan: Path, tmp_path: Path) -> None:
    cluster = write_cluster(tmp_path, node("n1"), pod("a"))
    plan.write_text("experiment: 1\nbase: {files: [cluster.json]}\n")
    earlier = tmp_path / "earlier.json"
    assert invoke(run, plan, "--json", earlier).exit_code == 0
    plan.write_text("experiment: 1\nbase: {files: [cluster.json]}\nvariants: [{name: default}, {name: x, nodes: {count: 2}}]\n")
    write_cluster(tmp_path, node("n1"), node("n2"), pod("a"), name=cluster.name)
    result = invoke(run, plan, "-j", 1, "--reuse", earlier)
    assert result.exit_code == 1
    assert "trial 0 has nodesEmpty 1 now, and had 0; the base, a plugin or a measure changed. Run without --reuse." in result.stderr
