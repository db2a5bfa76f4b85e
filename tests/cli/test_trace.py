"""`schedviz trace` writes a file for each input, and reports and skips unusable ones."""

from __future__ import annotations

import json
import lzma
from pathlib import Path

from click.testing import CliRunner

from schedviz.cli.trace import trace

STEPS = [
    {"op": "create", "object": {"kind": "Node", "metadata": {"name": "n"}, "status": {"allocatable": {"cpu": "1", "pods": "9"}}}},
    {"op": "create", "object": {"kind": "Pod", "metadata": {"name": "p"}, "spec": {"containers": []}}},
    {"op": "cycle"},
]


def test_files_keep_their_name_and_extension(tmp_path: Path) -> None:
    plain, packed, out = tmp_path / "a.json", tmp_path / "b.json.xz", tmp_path / "out"
    text = json.dumps({"format": "schedviz-trace/1", "name": "t", "steps": STEPS}).encode()
    plain.write_bytes(text)
    packed.write_bytes(lzma.compress(text))
    result = CliRunner().invoke(trace, [str(plain), str(packed), "-o", str(out)])
    assert result.exit_code == 0, result.output
    first = json.loads((out / "a.json").read_bytes())
    assert first == json.loads(lzma.decompress((out / "b.json.xz").read_bytes()))
    assert first["steps"][2]["observed"]["cycle"]["node"] == "n"
    assert sorted(path.name for path in out.iterdir()) == ["a.json", "b.json.xz"]


def test_observations_in_the_input_are_ignored(tmp_path: Path) -> None:
    steps = [{**step, "observed": {"clockSeconds": 77}} for step in STEPS]
    (tmp_path / "a.json").write_text(json.dumps({"format": "schedviz-trace/1", "steps": steps}))
    assert CliRunner().invoke(trace, [str(tmp_path / "a.json"), "-o", str(tmp_path / "out"), "-j", "1"]).exit_code == 0
    assert json.loads((tmp_path / "out" / "a.json").read_bytes())["steps"][2]["observed"]["clockSeconds"] == 0.003


def test_an_unusable_file_is_named_and_the_others_are_written(tmp_path: Path) -> None:
    (tmp_path / "good.json").write_text(json.dumps({"format": "schedviz-trace/1", "steps": STEPS}))
    (tmp_path / "broken.json").write_text("{")
    (tmp_path / "unknown.json").write_text(json.dumps({"format": "schedviz-trace/1", "steps": [{"op": "dance"}]}))
    (tmp_path / "packed.json.xz").write_bytes(b"no xz")
    names = ["broken.json", "good.json", "unknown.json", "packed.json.xz", "missing.json", "notes.txt"]
    result = CliRunner().invoke(trace, [*(str(tmp_path / name) for name in names), "-o", str(tmp_path / "out")])
    assert result.exit_code == 2
    assert (tmp_path / "out" / "good.json").exists()
    for name in names:
        assert (name in result.output) == (name != "good.json"), result.output
    assert "dance" in result.output


def test_a_refused_configuration_is_recorded_in_the_file(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(json.dumps({"format": "schedviz-trace/1", "config": {"percentageOfNodesToScore": 101}, "steps": []}))
    (tmp_path / "good.json").write_text(json.dumps({"format": "schedviz-trace/1", "steps": STEPS}))
    plugins = {"filter": {"enabled": [{"name": "Nope"}]}}
    config = {"profiles": [{"plugins": plugins}]}
    (tmp_path / "b.json").write_text(json.dumps({"format": "schedviz-trace/1", "config": config, "steps": []}))
    result = CliRunner().invoke(trace, [str(tmp_path), "-o", str(tmp_path / "out")])
    assert result.exit_code == 2
    problem = "percentageOfNodesToScore: Invalid value: 101: not in valid range [0-100]"
    assert f"a.json: config: {problem}" in result.output
    assert json.loads((tmp_path / "out" / "a.json").read_bytes())["error"] == problem
    assert 'FilterPlugin "Nope" does not exist' in result.output
    assert (tmp_path / "out" / "good.json").exists()


def test_an_object_with_an_unknown_kind_or_field_is_refused_with_its_path(tmp_path: Path) -> None:
    pod = {"kind": "Pod", "metadata": {"name": "p"}, "spec": {"containers": []}}
    bad = {
        "field.json": ({**pod, "spec": {"containers": [], "foo": 1}}, "steps[3].object.spec.foo"),
        "kind.json": ({**pod, "kind": "Gizmo"}, "steps[3].object.kind"),
        "type.json": ({**pod, "spec": {"priority": "high"}}, "steps[3].object.spec.priority"),
    }
    for name, (obj, _) in bad.items():
        steps = [*STEPS, {"op": "create", "object": obj}]
        (tmp_path / name).write_text(json.dumps({"format": "schedviz-trace/1", "steps": steps}))
    (tmp_path / "good.json").write_text(json.dumps({"format": "schedviz-trace/1", "steps": STEPS}))
    result = CliRunner().invoke(trace, [str(tmp_path), "-o", str(tmp_path / "out")])
    assert result.exit_code == 2
    for name, (_, path) in bad.items():
        assert f"{name}: {path}" in result.output
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["good.json"]
