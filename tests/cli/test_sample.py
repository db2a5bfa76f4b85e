"""`schedviz sample` lists the samples and prints one that every command accepts."""

from __future__ import annotations

from pathlib import Path

from click.testing import CliRunner

from schedviz.cli.doctor import doctor
from schedviz.cli.explain import explain
from schedviz.cli.sample import sample


def test_a_sample_can_be_printed_and_explained(tmp_path: Path) -> None:
    assert "nominated-for-ever" in CliRunner().invoke(sample, []).output
    case = tmp_path / "case.json"
    case.write_text(CliRunner().invoke(sample, ["nominated-for-ever"]).output)
    result = CliRunner().invoke(explain, ["test-ns/test-pod-hgfmk", "--no-change", "-f", str(case)])
    assert result.exit_code == 0
    assert "stays nominated to 132.10.134.193 forever" in result.output
    assert CliRunner().invoke(doctor, [str(case)]).exit_code == 1
    assert "nominated-for-ever" in CliRunner().invoke(sample, ["nobody"]).output
