"""`schedviz explain`, as somebody on call types it."""

from __future__ import annotations

import json
from pathlib import Path

from click.testing import CliRunner

from schedviz.cli.explain import explain


def dump() -> str:
    amounts = {"cpu": "2", "memory": "4Gi", "pods": "110"}
    node = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": "a"},
        "spec": {},
        "status": {"capacity": amounts, "allocatable": amounts},
    }
    containers = [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "3"}}}]
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "large", "namespace": "default"}, "spec": {"containers": containers}}
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": [node, pod]})


def test_a_file_and_standard_input_are_told_alike(tmp_path: Path):
    file = tmp_path / "cluster.json"
    file.write_text(dump())
    of_file = CliRunner().invoke(explain, ["default/large", "--no-change", "-f", str(file)])
    piped = CliRunner().invoke(explain, ["default/large", "--no-change", "-f", "-"], input=dump())
    assert (of_file.exit_code, piped.exit_code) == (0, 0)
    assert piped.output == of_file.output
    assert "0/1 nodes are available: 1 Insufficient cpu." in piped.output


def test_standard_input_that_is_no_dump_is_named():
    result = CliRunner().invoke(explain, ["default/large", "-f", "-"], input="no such thing")
    assert result.exit_code != 0
    assert "standard input" in result.output
