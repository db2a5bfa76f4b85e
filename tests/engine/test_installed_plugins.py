"""A plugin that is really installed, following docs/plugins.md, and plugins with every kind of fault."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from schedviz.engine import Simulation, SimulationSettings
from schedviz.trace.commands import convert_command

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]

CONFIG = {
    "profiles": [
        {
            "plugins": {"multiPoint": {"enabled": [{"name": "Color", "weight": 2}]}},
            "pluginConfig": [{"name": "Color", "args": {"label": "color"}}],
        }
    ]
}


def _node(name, **labels):
    return {
        "op": "create",
        "object": {"kind": "Node", "metadata": {"name": name, "labels": labels}, "status": {"allocatable": {"cpu": "4", "pods": "9"}}},
    }


def _pod(name, labels):
    metadata = {"name": name, "labels": labels}
    return {"op": "create", "object": {"kind": "Pod", "metadata": metadata, "spec": {"containers": [{"name": "c"}]}}}


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """The folder into which pip has installed the example of the docs."""
    source, target = tmp_path_factory.mktemp("color"), tmp_path_factory.mktemp("site")
    blocks = dict(re.findall(r"```(python|toml)\n(.*?)```", (ROOT / "docs/plugins.md").read_text(), re.DOTALL))
    (source / "color.py").write_text(blocks["python"])
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
    steps = [
        _node("n1", color="red"),
        _node("n2", color="blue"),
        _node("n3", color="red"),
        _pod("b", {"color": "blue"}),
        {"op": "cycle"},
    ]
    steps += [_pod("g", {"color": "green"}), {"op": "cycle"}]
    steps += [_pod("w", {"color": "red", "wait": ""}), {"op": "cycle"}, {"op": "permit", "pod": "default/w", "action": "allow"}]
    steps += [_pod("l", {"color": "red", "wait": ""}), {"op": "cycle"}, {"op": "advance", "seconds": 11}]

    done, out = _trace(tmp_path, {"config": CONFIG, "steps": steps}, path=installed)

    assert done.returncode == 0, done.stderr
    placed, refused, waits, waits_too = (out["steps"][index]["observed"]["cycle"] for index in (4, 6, 8, 11))
    assert placed["node"] == "n2"
    assert "3 node(s) had another color" in json.dumps(refused)
    assert waits["scores"]["Color"] == {
        "weight": 2,
        "raw": {"n1": 100, "n3": 100},
        "normalized": {"n1": 100, "n3": 100},
        "weighted": {"n1": 200, "n3": 200},
    }
    assert [waits["reserve"][-1]["plugin"], waits["reserve"][-1]["code"]] == ["Color", "Success"]
    assert [waits["permit"][-1]["plugin"], waits["permit"][-1]["code"]] == ["Color", "Wait"]
    assert "default/w" in _assigned(out["steps"][9])
    assert waits_too["permit"][-1]["code"] == "Wait"
    assert "default/l" not in _assigned(out["steps"][12])


def _assigned(step):
    """The bound pods in the cache."""
    return {pod["pod"] for pod in step["observed"]["cache"]["podStates"].values() if not pod["assumed"]}


def test_the_example_of_the_docs_has_thirty_lines():
    (example,) = re.findall(r"```python\n(.*?)```", (ROOT / "docs/plugins.md").read_text(), re.DOTALL)

    assert len(example.splitlines()) == 30


def test_a_plugin_that_is_not_installed_does_not_exist(tmp_path):
    done, out = _trace(tmp_path, {"config": CONFIG, "steps": []})

    assert done.returncode == 2
    assert out["error"] == (
        'initializing profiles: creating profile for scheduler name default-scheduler: PreFilterPlugin "Color" does not exist'
    )


def test_an_installed_plugin_that_is_not_enabled_is_not_imported(installed, tmp_path):
    (tmp_path / "site").mkdir()
    for entry in installed.iterdir():
        if entry.name.endswith(".dist-info"):
            (tmp_path / "site" / entry.name).symlink_to(entry)  # its module is missing

    done, _ = _trace(tmp_path, {"steps": [_node("n"), _pod("p", {}), {"op": "cycle"}]}, path=tmp_path / "site")
    assert done.returncode == 0, done.stderr

    done, out = _trace(tmp_path, {"config": CONFIG, "steps": []}, path=tmp_path / "site")
    assert done.returncode == 2
    assert "initializing plugin \"Color\": ModuleNotFoundError: No module named 'color'" in out["error"]


BAD = """
import numpy as np
from schedviz.engine.framework.cycle_state import StateKey
from schedviz.engine.framework.status import SUCCESS

class Handle:
    def clone(self):
        return self

class Bad:
    def __init__(self, args, handle):
        wrong = (args or {})["wrong"]
        if wrong == "raises":
            self.filter_node = lambda state, pod, info: {}["zone"] if pod.pod.name == "p" else SUCCESS
        elif wrong == "length":
            self.score = lambda state, pod, rows: np.zeros(len(rows) + (pod.pod.name == "p"), np.int64)
        elif wrong == "nonsense":
            self.permit = lambda state, pod, node: "yes" if pod.pod.name == "p" else (SUCCESS, 0)
        else:
            self.reserve = self.write
            self.unreserve = lambda state, pod, node: None

    def write(self, state, pod, node):
        if pod.pod.name == "p":
            state.write(StateKey("bad/handle", Handle), Handle())
        return SUCCESS
"""


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ("raises", "running \"Bad\" filter plugin: KeyError: 'zone'"),
        ("length", 'running Score plugins: plugin "Bad" failed with: expected 2 scores, found 3'),
        ("nonsense", "running Permit plugin \"Bad\": expected a Status and a timeout in nanoseconds, found 'yes'"),
        ("writes", 'running Reserve plugin "Bad": what was written to CycleState as "bad/handle" cannot be stored: '),
    ],
)
def test_a_session_survives_every_error_of_a_plugin(tmp_path, monkeypatch, wrong, message):
    info = tmp_path / "bad-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: bad\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[schedviz.plugins]\nBad = schedviz_bad:Bad\n")
    (tmp_path / "schedviz_bad.py").write_text(BAD)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "schedviz_bad", raising=False)
    plugins = {"multiPoint": {"enabled": [{"name": "Bad"}]}}
    config = {"profiles": [{"plugins": plugins, "pluginConfig": [{"name": "Bad", "args": {"wrong": wrong}}]}]}
    simulation = Simulation(SimulationSettings(config=config))

    for step in (_node("n1"), _node("n2"), _pod("p", {}), {"op": "cycle"}):
        simulation.start(convert_command(step))
        simulation.work()
    simulation = Simulation.restore(simulation.checkpoint())
    for step in (_pod("q", {}), {"op": "cycle"}):
        simulation.start(convert_command(step))
        simulation.work()

    failed, placed = simulation.cluster.find("Pod", "default/p"), simulation.cluster.find("Pod", "default/q")
    assert (failed.status.conditions[0].reason, placed.spec.node_name) == ("SchedulerError", "n1")
    assert failed.status.conditions[0].message.startswith(message)
