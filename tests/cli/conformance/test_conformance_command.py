"""`schedviz conformance` counts matching traces, shows differences, names unusable files, and exits with 0, 1 or 2."""

from __future__ import annotations

import json
import lzma
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from schedviz.cli.conformance.command import conformance

TRACES = Path(__file__).parents[2] / "conformance" / "traces"
NAMES = ["03-assume-bind-confirm", "24-no-nodes"]


@pytest.fixture
def recordings(tmp_path: Path) -> Path:
    folder = tmp_path / "recordings"
    folder.mkdir()
    for name in NAMES:
        (folder / f"{name}.json.xz").write_bytes((TRACES / f"{name}.json.xz").read_bytes())
    return folder


def document(name: str) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(lzma.decompress((TRACES / f"{name}.json.xz").read_bytes()))
    return document


def run(*arguments: Path | str) -> Result:
    return CliRunner().invoke(conformance, [str(argument) for argument in arguments])


def test_matching_recordings_are_counted(recordings: Path) -> None:
    result = run(recordings)
    assert result.exit_code == 0, result.output
    assert result.output.startswith("agreed 2/2, ")
    assert result.output.endswith(" s\n")


def test_a_run_is_compared_with_one_restored_from_checkpoints(recordings: Path) -> None:
    unrecorded = document(NAMES[0])
    for step in unrecorded["steps"]:
        del step["observed"]
    (recordings / "input.json").write_text(json.dumps(unrecorded))
    (recordings / "refused.json").write_text(json.dumps({**unrecorded, "config": {"profiles": [{"plugins": {"bind": 1}}]}}))
    result = run("--restore", "7", recordings)
    assert result.exit_code == 2, result.output
    assert "refused.json: config" in result.output
    assert "agreed 3/4, 1 cannot be used, " in result.output


def test_a_release_other_than_the_recorded_one_shows_what_an_upgrade_changes(recordings: Path) -> None:
    assert run("--release", "v1.27.1", recordings).exit_code == 0

    result = run("--release", "v1.36", recordings)
    assert result.exit_code == 1
    assert "24-no-nodes.json.xz: " in result.output
    assert "agreed 0/2, 2 differ, " in result.output


def test_show_limits_the_printed_differences(recordings: Path) -> None:
    wrong = document(NAMES[0])
    wrong["steps"][0]["observed"]["clockSeconds"] = 77.0
    wrong["steps"][1]["observed"]["clockSeconds"] = 78.0
    (recordings / "wrong.json").write_text(json.dumps(wrong))
    result = run(recordings, "--show", "1")
    assert result.exit_code == 1
    assert "wrong.json: 2 differences\n    step 0 (create): clockSeconds: 77.0 expected, 0.001 found\n" in result.output
    assert "78.0" not in result.output
    assert "agreed 2/3, 1 differ, " in result.output


def test_unusable_files_are_named_and_the_others_are_compared(recordings: Path) -> None:
    unrecorded, odd = document(NAMES[0]), document(NAMES[0])
    for step in unrecorded["steps"]:
        del step["observed"]
    odd["steps"][1]["observed"] = "nothing"
    kind, field, plugin = document(NAMES[0]), document(NAMES[0]), document(NAMES[0])
    kind["steps"][0]["object"]["kind"] = "Nod"
    field["steps"][0]["object"]["spec"] = {"colour": "red"}
    plugin["config"] = {"profiles": [{"plugins": {"filter": {"enabled": [{"name": "Nope"}]}}}]}
    bad = {
        "kind.json": json.dumps(kind),
        "field.json": json.dumps(field),
        "plugin.json": json.dumps(plugin),
        "broken.json": "{",
        "unknown.json": json.dumps({"format": "schedviz-trace/1", "steps": [{"op": "dance"}]}),
        "unrecorded.json": json.dumps(unrecorded),
        "odd.json": json.dumps(odd),
        "state.json": json.dumps({**unrecorded, "steps": [{**unrecorded["steps"][0], "observed": {"cache": {"list": 3}}}]}),
        "packed.json.xz": "no xz",
    }
    for name, text in bad.items():
        (recordings / name).write_text(text)
    result = run(recordings, recordings / "missing", "-j", "1")
    assert result.exit_code == 2
    for name in [*bad, "missing"]:
        assert name in result.output
    assert "dance" in result.output
    assert "steps[1].observed" in result.output
    assert "kind.json: steps[0].object.kind: " in result.output
    assert "field.json: steps[0].object.spec.colour: " in result.output
    assert "plugin.json: config: " in result.output
    assert 'FilterPlugin "Nope" does not exist' in result.output
    assert "bug" not in result.output
    assert "agreed 2/12, 10 cannot be used, " in result.output


def test_a_recording_with_an_invalid_configuration_cannot_be_used(recordings: Path) -> None:
    config = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration", "percentageOfNodesToScore": 300}
    (recordings / "bad.json").write_text(json.dumps({**document(NAMES[0]), "config": config}))
    result = run(recordings)
    assert result.exit_code == 2
    assert "bad.json: config: percentageOfNodesToScore: Invalid value: 300: not in valid range [0-100]\n" in result.output
    assert "agreed 2/3, 1 cannot be used, " in result.output


def test_a_refused_configuration_matches_if_the_real_scheduler_refused_it_too(tmp_path: Path) -> None:
    config = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration", "percentageOfNodesToScore": 300}
    refused = {"format": "schedviz-trace/1", "config": config, "error": "percentageOfNodesToScore: Invalid value", "steps": []}
    (tmp_path / "refused.json").write_text(json.dumps(refused))
    result = run(tmp_path)
    assert result.exit_code == 0, result.output
    assert "agreed 1/1, " in result.output


def test_an_empty_folder_cannot_be_used(tmp_path: Path) -> None:
    result = run(tmp_path)
    assert result.exit_code == 2
    assert "there is no .json or .json.xz file" in result.output
