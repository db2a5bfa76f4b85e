"""A plugin that is really installed, as docs/plugins.md says, and plugins that are wrong in every way."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

CONFIG = {
    "profiles": [
        {
            "plugins": {"multiPoint": {"enabled": [{"name": "Colour", "weight": 2}]}},
            "pluginConfig": [{"name": "Colour", "args": {"label": "colour"}}],
        }
    ]
}


def _node(name, **labels):
    return {
        "op": "create",
        "object": {"kind": "Node", "metadata": {"name": name, "labels": labels}, "status": {"allocatable": {"cpu": "4", "pods": "9"}}},
    }


def _pod(name, labels=(), annotations=()):
    metadata = {"name": name, "labels": dict(labels), "annotations": dict(annotations)}
    return {"op": "create", "object": {"kind": "Pod", "metadata": metadata, "spec": {"containers": [{"name": "c"}]}}}


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """The folder into which pip has installed the example of the docs."""
    source, target = tmp_path_factory.mktemp("colour"), tmp_path_factory.mktemp("site")
    blocks = dict(re.findall(r"```(python|toml)\n(.*?)```", (ROOT / "docs/plugins.md").read_text(), re.DOTALL))
    (source / "colour.py").write_text(blocks["python"])
    (source / "pyproject.toml").write_text(blocks["toml"])
    options = ["--quiet", "--no-deps", "--no-build-isolation", "--no-index", "--disable-pip-version-check", "--target", str(target)]
    pip = [sys.executable, "-m", "pip", "install"]
    if subprocess.run([sys.executable, "-m", "pip", "--version"], capture_output=True, check=False).returncode:
        pip = ["pip", "--python", sys.executable, "install"]
    subprocess.run([*pip, *options, str(source)], check=True, timeout=120)
    return target


def _trace(folder: Path, document: dict, *, path: Path | None = None) -> tuple[subprocess.CompletedProcess[str], dict]:
    (folder / "t.json").write_text(json.dumps({"format": "schedviz-trace/1", **document}))
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, [str(path or ""), str(ROOT)]))}
    command = [sys.executable, "-m", "schedviz.cli.main", "trace", str(folder / "t.json"), "-o", str(folder / "out")]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert (folder / "out" / "t.json").exists(), done.stderr
    return done, json.loads((folder / "out" / "t.json").read_text())


def test_the_example_of_the_docs_filters_scores_and_waits(installed, tmp_path):
    steps = [_node("n1", colour="red"), _node("n2", colour="blue"), _pod("b", {"colour": "blue"}), {"op": "cycle"}]
    steps += [_pod("g", {"colour": "green"}), {"op": "cycle"}]

    done, out = _trace(tmp_path, {"config": CONFIG, "steps": steps}, path=installed)

    assert done.returncode == 0, done.stderr
    placed, refused = (out["steps"][index]["observed"]["cycle"] for index in (3, 5))
    assert placed["node"] == "n2"
    assert "2 node(s) had another colour" in json.dumps(refused)


def test_a_plugin_that_is_not_installed_does_not_exist(tmp_path):
    done, out = _trace(tmp_path, {"config": CONFIG, "steps": []})

    assert done.returncode == 2
    assert out["error"] == (
        'initializing profiles: creating profile for scheduler name default-scheduler: PreFilterPlugin "Colour" does not exist'
    )


def test_an_installed_plugin_that_is_not_enabled_is_not_even_imported(installed, tmp_path):
    (tmp_path / "site").mkdir()
    for entry in installed.iterdir():
        if entry.name.endswith(".dist-info"):
            (tmp_path / "site" / entry.name).symlink_to(entry)  # its module is missing

    done, _ = _trace(tmp_path, {"steps": [_node("n"), _pod("p"), {"op": "cycle"}]}, path=tmp_path / "site")
    assert done.returncode == 0, done.stderr

    done, out = _trace(tmp_path, {"config": CONFIG, "steps": []}, path=tmp_path / "site")
    assert done.returncode == 2
    assert "initializing plugin \"Colour\": ModuleNotFoundError: No module named 'colour'" in out["error"]
