"""`schedviz dump` prints a scheduler's dump, and says how a log of the real scheduler differs from the API's objects."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from schedviz.cli.dump import dump

SAMPLES = Path(__file__).parents[1] / "samples" / "sigusr2"

#: Case -> what its differences begin with; none: nothing is wrong.
EXPECTED = {
    "01-plain": [],
    "02-assumed": [],
    "03-nominated": [],
    "04-ghost-node": ["redundant node worker-2: the API does not have it; it is gone"],
    "05-stale-watch": [
        "missed node worker-4",
        "redundant pod default/web-1: the API does not have it; the scheduler counts it on worker-2",
        "missed pod default/lost-add-1: the API has it on worker-1",
        "missed pod default/lost-pending-1: it is pending",
    ],
    "06-amounts": [
        "node worker-1: allocatable memory is 16642998272 in the cache, 8053063680 at the API",
        "node worker-1: allocatable milliCPU is 3920 in the cache, 1920 at the API",
        "node worker-3: requested memory is",
        "node worker-3: requested milliCPU is 2000 in the cache, 3500 by the pods at the API",
    ],
    "07-stale-handlers": [
        "missed node worker-4",
        "redundant node worker-2: the API does not have it; the scheduler takes it for alive",
        "redundant pod default/web-1",
        "missed pod default/lost-add-1",
    ],
    "08-other-scheduler": [],
}


@pytest.mark.parametrize("log", ["scheduler.log", "scheduler.json.log"])
@pytest.mark.parametrize("case", EXPECTED)
def test_a_log_is_compared_with_the_objects(case: str, log: str) -> None:
    result = CliRunner().invoke(dump, ["--compare", str(SAMPLES / case / log), str(SAMPLES / case / "objects.json")])
    lines = [line for line in result.output.splitlines() if not line.startswith("note: ")]
    assert result.exit_code == (1 if EXPECTED[case] else 0), result.output
    assert len(lines) == len(EXPECTED[case]) + 1, result.output
    for line, start in zip(lines, EXPECTED[case], strict=False):
        assert line.startswith(start), result.output


def test_what_is_dumped_agrees_with_its_objects(tmp_path: Path) -> None:
    objects = str(SAMPLES / "01-plain" / "objects.json")
    for form in ("text", "json"):
        result = CliRunner().invoke(dump, ["--format", form, objects])
        assert result.exit_code == 0, result.output
        (tmp_path / "log").write_text(result.output)
        assert CliRunner().invoke(dump, ["--compare", str(tmp_path / "log"), objects]).exit_code == 0


def test_the_state_after_a_trace_is_dumped(tmp_path: Path) -> None:
    steps = [
        {"op": "create", "object": {"kind": "Node", "metadata": {"name": "n"}, "status": {"allocatable": {"cpu": "1", "pods": "9"}}}},
        {"op": "create", "object": {"kind": "Pod", "metadata": {"name": "p"}, "spec": {"containers": []}}},
        {"op": "cycle"},
    ]
    (tmp_path / "t.json").write_text(json.dumps({"format": "schedviz-trace/1", "steps": steps}))
    result = CliRunner().invoke(dump, [str(tmp_path / "t.json")])
    assert result.exit_code == 0, result.output
    assert result.output.startswith('I0101 00:00:00.003000       1 dumper.go:52] "Dump of cached NodeInfo" nodes=<\n\tNode name: n\n')
    assert "\tname: p, namespace: default, uid: default/p, phase: Pending, nominated node: \n >\n" in result.output
    assert result.output.endswith('"Dump of scheduling queue" summary="activeQ:0; backoffQ:0; unschedulablePods:0" pods=""\n')


def test_files_that_cannot_be_used_are_named(tmp_path: Path) -> None:
    objects = str(SAMPLES / "01-plain" / "objects.json")
    missing, empty = tmp_path / "missing.log", tmp_path / "empty.log"
    empty.write_text("")
    for arguments, named in (
        (["--compare", str(missing), objects], missing),
        (["--compare", str(empty), objects], empty),
        ([str(missing)], missing),
    ):
        result = CliRunner().invoke(dump, arguments)
        assert result.exit_code != 0
        assert named.name in result.output
