"""What runs all tests tries a few failures once more, and says which passed then."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.run_all import PYTEST, Step, run

FAILS_ONCE = """
from pathlib import Path

def test_that_races():
    seen = Path(__file__).with_suffix(".seen")
    was_seen = seen.exists()
    seen.touch()
    assert was_seen

def test_that_holds():
    pass
"""
FAILS = """
import pytest

@pytest.mark.parametrize("number", range({times}))
def test_that_fails(number):
    with open("runs", "a") as runs:
        runs.write("one")
    assert False
"""


def step(folder: Path, tests: str) -> Step:
    (folder / "test_toy.py").write_text(tests)
    return Step("toy", [sys.executable, *PYTEST], folder, ("test_toy.py",))


def test_a_test_that_passes_when_tried_once_more_is_named(tmp_path: Path):
    outcome = run(step(tmp_path, FAILS_ONCE))

    assert outcome.passed
    assert outcome.unsteady == ("test_toy.py::test_that_races",)


def test_a_test_that_fails_twice_has_failed(tmp_path: Path):
    outcome = run(step(tmp_path, FAILS.format(times=1)))

    assert not outcome.passed
    assert outcome.unsteady == ()
    assert (tmp_path / "runs").read_text() == "one" * 2


def test_many_failures_are_not_tried_again(tmp_path: Path):
    assert not run(step(tmp_path, FAILS.format(times=4))).passed
    assert (tmp_path / "runs").read_text() == "one" * 4
