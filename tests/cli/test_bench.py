"""`schedviz bench` measures the workloads it names, and reports different placements."""

from pathlib import Path
from xml.etree import ElementTree as ET

import msgspec
import pytest
from click.testing import CliRunner

from schedviz.cli.bench import bench, measure
from schedviz.cli.bench.calibration import calibration
from schedviz.cli.bench.check import differences
from schedviz.cli.bench.importing import ImportRow
from schedviz.cli.bench.measure import Row
from schedviz.cli.bench.workloads import WORKLOADS
from schedviz.engine.framework.plugins.noderesources.fit import Fit

SMALL = ("--nodes", "20", "--pods", "20", "--json")


@pytest.mark.parametrize("name", sorted(WORKLOADS))
def test_every_workload_places_pods_as_per_node_plugin_calls_do(name: str) -> None:
    assert differences(WORKLOADS[name], nodes=30, every_node=True) == []


def test_a_differing_placement_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    right = Fit.score

    def wrong(self, state, pod, rows):  # type: ignore[no-untyped-def]
        scores = right(self, state, pod, rows)
        return scores if len(rows) == 1 else scores[::-1] // 2

    monkeypatch.setattr(Fit, "score", wrong)

    assert differences(WORKLOADS["gpu"], nodes=30, every_node=True)


def test_rows_have_the_workload_its_options_and_stage_timings() -> None:
    result = CliRunner().invoke(bench, ["--workload", "preferred", "--every-node", *SMALL])

    rows = msgspec.json.decode(result.stdout, type=list[Row])
    assert result.exit_code == 0
    assert [(row.workload, row.nodes, row.every_node, row.recording, row.cycles) for row in rows] == [
        ("preferred", 20, True, "summary", 20)
    ]
    assert {"Filter", "Score", "UpdateSnapshot", "Bind", "record", "encode"} <= rows[0].stages.keys()
    assert {"NodeResourcesFit", "InterPodAffinity"} <= rows[0].plugins.keys()
    assert rows[0].p50_ms > 0 < rows[0].calibration_ms


@pytest.mark.parametrize("ticks", [True, False])
def test_one_node_is_measured_also_by_a_clock_that_stands_still(monkeypatch: pytest.MonkeyPatch, *, ticks: bool) -> None:
    if not ticks:
        monkeypatch.setattr(measure, "clock", lambda: 1.0)

    result = CliRunner().invoke(bench, ["--workload", "basic", "--no-check", "--nodes", "1", "--pods", "10", "--json"])

    assert result.exit_code == 0, result.exception
    (row,) = msgspec.json.decode(result.stdout, type=list[Row])
    assert (row.nodes, row.cycles) == (1, 10)
    assert (row.p50_ms > 0) == ticks


def test_a_run_is_compared_with_an_earlier_one_and_plotted(tmp_path: Path) -> None:
    before, plot = tmp_path / "before.json", tmp_path / "plot.svg"
    arguments = ["--workload", "churn", "--no-check", *SMALL]
    before.write_text(CliRunner().invoke(bench, arguments).stdout)

    result = CliRunner().invoke(bench, [*arguments, "--against", str(before), "--plot", str(plot)])

    assert result.exit_code == 0
    assert "now / before" in result.stderr
    assert {row.running for row in msgspec.json.decode(result.stdout, type=list[Row])} == {None, 1, 10, 30, 100}
    assert ET.parse(plot).getroot().tag.endswith("svg")


def test_rows_from_another_program_are_refused(tmp_path: Path) -> None:
    other = tmp_path / "other.json"
    other.write_text("{}")

    result = CliRunner().invoke(bench, ["--workload", "basic", *SMALL, "--against", str(other)])

    assert result.exit_code == 1
    assert "this is not the output of `schedviz bench --json`" in result.stderr


@pytest.mark.parametrize("form", ["json", "yaml"])
def test_an_import_is_measured_from_the_dump_to_the_checkpoint(form: str) -> None:
    result = CliRunner().invoke(bench, ["import", "--nodes", "5", "--pods", "60", "--format", form, "--json"])

    (row,) = msgspec.json.decode(result.stdout, type=list[ImportRow])
    assert (row.form, row.nodes, row.pods) == (form, 5, 60)
    assert min(row.read_seconds, row.read_peak_mb, row.checkpoint_write_ms, row.checkpoint_read_ms, row.checkpoint_mb) > 0


def test_the_calibration_is_in_seconds_per_pod() -> None:
    assert 0 < calibration(10, 5) < 1


def test_the_table_names_each_workload_and_shows_the_growth_with_devices() -> None:
    chosen = ("--workload", "devices-2", "--workload", "devices-8", "--nodes", "5", "--pods", "10", "--release", "v1.36", "--no-check")
    result = CliRunner().invoke(bench, chosen, env={"COLUMNS": "80"})

    assert result.exit_code == 0
    table = [line for line in result.stdout.splitlines() if line.lstrip().startswith("devices-")]
    assert any(line.split()[0].startswith("devices-2") for line in table)
    (growth,) = [line for line in result.stdout.splitlines() if line.startswith("5 nodes: p50 ")]
    assert growth.endswith(" a node")
    assert " ms with 2 devices, " in growth
    assert " ms with 8 devices" in growth
