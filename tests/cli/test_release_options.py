"""`--release` and `--feature-gates` choose the simulated kube-scheduler."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner

from schedviz.cli.bench import bench
from schedviz.cli.bench.measure import Row
from schedviz.cli.config import config
from schedviz.cli.conformance.command import conformance
from schedviz.cli.doctor import doctor
from schedviz.cli.dump import dump
from schedviz.cli.explain import explain
from schedviz.cli.trace import trace

#: A plugin that v1.36 does not have.
EBS = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles: [{plugins: {filter: {enabled: [{name: EBSLimits}], disabled: [{name: "*"}]}}}]
"""
POD = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {"containers": [{"name": "c"}]}}
STEPS = [{"op": "create", "object": POD}, {"op": "cycle"}]


def written(folder: Path, **header: Any) -> str:
    path = folder / "t.json"
    path.write_text(json.dumps({"format": "schedviz-trace/1", **header, "steps": STEPS}))
    return str(path)


def ran(folder: Path, *options: str, **header: Any) -> tuple[int, dict[str, Any], str]:
    result = CliRunner().invoke(trace, [written(folder, **header), "-o", str(folder / "out"), *options])
    path = folder / "out" / "t.json"
    return result.exit_code, json.loads(path.read_bytes()) if path.exists() else {}, result.output


def test_trace_options_override_the_header_and_are_written_to_the_output(tmp_path: Path) -> None:
    gates = "SchedulerAsyncPreemption=false, OpportunisticBatching=TRUE"
    code, document, _ = ran(tmp_path, "--release", "v1.36", "--feature-gates", gates)
    assert code == 0
    assert document["release"] == "v1.36"
    assert document["featureGates"] == {"SchedulerAsyncPreemption": False, "OpportunisticBatching": True}
    assert CliRunner().invoke(conformance, [str(tmp_path / "out")]).exit_code == 0

    _, older, _ = ran(tmp_path, "--release", "v1.27.1", release="v1.36")
    assert older["release"] == "v1.27.1"
    assert older["steps"][1]["observed"] != document["steps"][1]["observed"]


def test_conformance_uses_the_release_in_the_header(tmp_path: Path) -> None:
    _, document, _ = ran(tmp_path, "--release", "v1.36")
    (tmp_path / "other.json").write_text(json.dumps(document | {"release": "v1.27.1"}))
    assert CliRunner().invoke(conformance, [str(tmp_path / "out" / "t.json")]).exit_code == 0
    assert CliRunner().invoke(conformance, [str(tmp_path / "other.json")]).exit_code == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--release", "v1.33"], "'v1.33' is not one of 'v1.27.1', 'v1.36'"),
        (["--feature-gates", "A"], "'A' is not a gate with its value, such as SchedulerAsyncPreemption=false."),
        (["--feature-gates", "A=maybe"], "'A=maybe' is not a gate with its value"),
        (["--release", "v1.36", "--feature-gates", "Nope=true"], "unrecognized feature gate: Nope"),
        (
            ["--release", "v1.36", "--feature-gates", "SchedulerQueueingHints=false"],
            "cannot set feature gate SchedulerQueueingHints to false, feature is locked to true",
        ),
    ],
)
def test_an_unknown_release_or_feature_gate_is_refused(tmp_path: Path, options: list[str], message: str) -> None:
    code, _, output = ran(tmp_path, *options)
    assert code == 2
    assert message in output


@pytest.mark.parametrize("command", [dump, doctor])
def test_traces_run_with_the_chosen_release(tmp_path: Path, command: Any) -> None:
    gates = ["--feature-gates", "SchedulerAsyncPreemption=false"]
    runs = [CliRunner().invoke(command, [written(tmp_path), *gates, *release]) for release in (["--release", "v1.36"], [])]
    assert runs[0].exit_code == 0
    assert "unrecognized feature gate: SchedulerAsyncPreemption" in runs[1].output


def test_explain_uses_the_chosen_release(tmp_path: Path) -> None:
    places = [
        CliRunner().invoke(explain, ["-f", written(tmp_path), "default/p", *release]).output for release in (["--release", "v1.36"], [])
    ]
    assert "the pod is in backoffQ" in places[0]
    assert "the pod is in backoffQ" not in places[1]


def test_a_session_of_a_server_keeps_its_release() -> None:
    result = CliRunner().invoke(explain, ["--session", "@newest", "--release", "v1.36", "default/p"])
    assert result.exit_code == 2
    assert "a session of a server has its own release" in result.output


def test_a_configuration_is_validated_for_the_chosen_release(tmp_path: Path) -> None:
    (tmp_path / "c.yaml").write_text(EBS)
    v1_27, v1_36 = (CliRunner().invoke(config, [str(tmp_path / "c.yaml"), *release]) for release in ([], ["--release", "v1.36"]))
    assert v1_27.exit_code == 0, v1_27.output
    assert v1_36.exit_code == 2
    assert '"EBSLimits"' in v1_36.output


def test_bench_measures_the_chosen_release() -> None:
    options = ["--workload", "basic", "--nodes", "20", "--pods", "20", "--json", "--release", "v1.36"]
    result = CliRunner().invoke(bench, options)
    (row,) = msgspec.json.decode(result.stdout, type=list[Row])
    assert row.release == "v1.36"
    assert {"Filter", "Score", "Bind"} <= row.stages.keys()
    assert "NodeDeclaredFeatures" in row.plugins or "NodeResourcesFit" in row.plugins


def test_a_feature_gate_whose_feature_is_not_simulated_is_refused(tmp_path: Path) -> None:
    code, _, output = ran(tmp_path, "--release", "v1.36", "--feature-gates", "DRANodeAllocatableResources=true")
    assert code == 2
    assert "cannot set feature gate DRANodeAllocatableResources to true" in output
    assert ran(tmp_path, "--release", "v1.36", "--feature-gates", "DRANodeAllocatableResources=false")[0] == 0
