"""`schedviz capacity`: its output and exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from schedviz.cli.capacity import capacity
from tests.experiments.small_plans import node, pod, write_cluster


@pytest.fixture
def cluster(tmp_path: Path) -> Path:
    return write_cluster(tmp_path, node("n1"), node("n2"), node("n3"), pod("a", cpu="3", on="n1"), pod("b", cpu="1", on="n2"))


def run(*arguments: object) -> Result:
    return CliRunner().invoke(capacity, list(map(str, arguments)))


def test_fit_prints_the_count_and_why_the_next_pod_does_not_fit(cluster: Path, tmp_path: Path) -> None:
    (tmp_path / "pod.json").write_text(json.dumps(pod("new", cpu="2")))
    result = run("fit", cluster, "--pod", tmp_path / "pod.json")
    assert result.exit_code == 0, result.output
    first, second = result.stdout.splitlines()[:2]
    assert first == "3 more pods fit, on 2 nodes"
    assert second.startswith("The next one does not: 0/3 nodes are available: 3 Insufficient cpu.")


def test_nodes_prints_the_removable_nodes(cluster: Path) -> None:
    result = run("nodes", cluster)
    assert result.stdout.splitlines() == [
        "1 of 3 nodes hold the pods: 2 can go",
        "More cannot go: 2 pods would have no node (2 × there are no nodes).",
        "  n3",
        "  n2",
    ]


def test_loss_exits_with_1_if_pods_would_have_no_node(cluster: Path, tmp_path: Path) -> None:
    assert "Any one of the 3 nodes can be lost" in run("loss", cluster).stdout
    full = write_cluster(tmp_path, node("n1"), pod("a", on="n1"), node("n2", cpu="1"), pod("b", on="n2"), name="full.json")
    result = run("loss", full)
    assert result.exit_code == 1
    assert "1 of 2 nodes cannot be lost" in result.stdout
    assert [each["name"] for each in json.loads(run("loss", full, "--json").stdout)] == ["n1", "n2"]


def test_loss_by_zone_needs_zone_labels(tmp_path: Path) -> None:
    bare = node("n1")
    bare["metadata"]["labels"] = {}
    assert "there are no zones in the files" in run("loss", write_cluster(tmp_path, bare, pod("a", on="n1")), "--zones").output
